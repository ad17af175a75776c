"""Who may talk to the bot, and who is its admin: nobody at all, or everyone?"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Sequence

from bots.doctor.finding import Check, Finding, fine, warning
from config.settings import Settings
from core.errors import StoreError

ROOM = "access"
NAMES = {"telegram": "Telegram", "discord": "Discord"}


def checks(settings: Settings) -> Sequence[Check]:
    """Name what is to be looked at."""
    return [Check(ROOM, "allowed", lambda: _look(settings))]


async def _look(settings: Settings) -> AsyncGenerator[Finding, None]:
    served = [name for name in NAMES if getattr(settings, name).token]
    if not served:
        yield fine(ROOM, "allowed", "No platform is set; whoever has this machine's terminal may talk.")
        return
    yield _admins(settings, served)
    stored = await _stored(settings)
    for platform in served:
        yield _allowed(settings, platform, stored)


async def _stored(settings: Settings) -> Collection[str]:
    """Read whom an admin has let in; what is wrong with the database is found elsewhere."""
    from adapters.sql.health import allowed

    try:
        return await allowed(settings.storage.url)
    except StoreError:
        return ()


def _admins(settings: Settings, served: Sequence[str]) -> Finding:
    without = [name for name in served if not _count(settings.access.admins, name)]
    if without:
        where = " and ".join(NAMES[name] for name in without)
        fix = (
            f"Set KEEPMIND_ADMINS={','.join(f'{name}:YOUR_ID' for name in without)}; the bot tells a stranger their id."
        )
        return warning(ROOM, "admins", f"There is no admin on {where}: nobody can let people in or look after it.", fix)
    return fine(ROOM, "admins", f"There {_are(len(settings.access.admins), 'admin')}.")


def _allowed(settings: Settings, platform: str, stored: Collection[str]) -> Finding:
    entries = {*settings.access.allowed, *stored}
    name = NAMES[platform]
    if entries & {"*", f"{platform}:*"}:
        fix = f"If that is not meant, take {platform}:* out of KEEPMIND_ALLOWED (or /admin block those you don't want)."
        return warning(ROOM, "allowed", f"On {name} everyone may talk to it, at your cost.", fix)
    count = _count(entries, platform)
    if not count and not _count(settings.access.admins, platform):
        fix = f"Set KEEPMIND_ADMINS or KEEPMIND_ALLOWED, such as {platform}:42; {platform}:* is everyone."
        return warning(ROOM, "allowed", f"On {name} it is closed to all.", fix)
    if not count:
        return fine(ROOM, "allowed", f"On {name} only admins may talk to it; /admin allow lets others in.")
    return fine(
        ROOM, "allowed", f"On {name} admins and {count} more {'entry' if count == 1 else 'entries'} may talk to it."
    )


def _count(entries: Collection[str], platform: str) -> int:
    return sum(entry.startswith(f"{platform}:") for entry in entries)


def _are(count: int, what: str) -> str:
    return f"is 1 {what}" if count == 1 else f"are {count} {what}s"
