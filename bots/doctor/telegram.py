"""What Telegram says of the bot: its token, what it hears in groups, where its updates go, who else asks for them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bots.doctor.clocks import compared
from bots.doctor.finding import Check, Finding, broken, fine, warning
from bots.doctor.running import is_running
from config.settings import Settings

if TYPE_CHECKING:
    from adapters.telegram.health import Health, Identity, Posting

ROOM = "telegram"
HEARS_ALL = {"listen", "open"}
MANY = 100
RECENT = 3600.0
_MODES = "In BotFather: /setprivacy, Disable; then remove the bot from the group and add it again."


def checks(settings: Settings, now: Callable[[], float], listening: int) -> Sequence[Check]:
    """Name what is to be looked at, nothing without a token."""
    if settings.telegram.token is None:
        return []
    return [Check(ROOM, "token", lambda: _look(settings, now, listening), seconds=40)]


async def _look(settings: Settings, now: Callable[[], float], listening: int) -> AsyncGenerator[Finding, None]:
    from adapters.telegram.adapter import API_URL
    from adapters.telegram.health import Health

    chosen = settings.telegram
    assert chosen.token is not None
    async with Health(chosen.token.get_secret_value(), chosen.api_url or API_URL, now) as health:
        me = await health.identity()
        yield fine(ROOM, "token", f"It is that of @{me.username} ({me.id}).")
        yield compared("Telegram", health.skew)
        yield _groups(settings, me)
        posting = await health.posting()
        yield _posting(settings, posting)
        if not posting.url and chosen.webhook_url is None:
            yield await _rival(settings, health, listening)


def _groups(settings: Settings, me: Identity) -> Finding:
    wanted = {settings.telegram.group_mode, *(entry.partition("=")[2] for entry in settings.telegram.group_modes)}
    if wanted & HEARS_ALL and not me.hears_groups:
        says = "Privacy mode is on: in groups it hears only what is addressed to it, and a mode is set that hears all."
        return warning(ROOM, "groups", says, _MODES)
    if wanted != {"off"} and not me.joins_groups:
        says = "It can't be added to groups."
        return warning(ROOM, "groups", says, "In BotFather: /setjoingroups, Enable; or leave it so, for private chats.")
    heard = "it hears all that is said" if me.hears_groups else "privacy mode is on, as the chosen mode needs no more"
    return fine(ROOM, "groups", f"The mode is {settings.telegram.group_mode}; {heard}.")


def _posting(settings: Settings, posting: Posting) -> Finding:
    wanted = settings.telegram.webhook_url
    if wanted is None:
        return _not_posted(posting)
    if posting.url != wanted:
        says = f"Telegram does not post to {_host(wanted)} yet."
        return warning(ROOM, "webhook", says, "`keepmind run` sets it; no other program may use this bot.")
    if posting.error and posting.seconds_ago < RECENT:
        says = f"Telegram could not post to {_host(wanted)}: {posting.error}."
        return broken(
            ROOM, "webhook", says, f"See that the proxy there leads to port {settings.telegram.webhook_port}."
        )
    return fine(ROOM, "webhook", f"Telegram posts to {_host(wanted)}; {_waiting(posting)}.")


def _not_posted(posting: Posting) -> Finding:
    if posting.url:
        says = f"Telegram posts to a webhook on {_host(posting.url)}, and this bot asks for its messages instead."
        fix = "`keepmind run` takes the webhook away; if another program uses this bot, give each its own."
        return warning(ROOM, "webhook", says, fix)
    if posting.waiting > MANY:
        says = f"None is set, so messages are asked for; {_waiting(posting)}."
        return warning(ROOM, "webhook", says, "Start the bot: Telegram keeps messages for 24 hours.")
    return fine(ROOM, "webhook", f"None is set, so messages are asked for; {_waiting(posting)}.")


async def _rival(settings: Settings, health: Health, listening: int) -> Finding:
    if await is_running(settings):
        return fine(ROOM, "poller", "The bot that runs here asks for messages, and was not disturbed.")
    if await health.rival(listening):
        fix = "If that is your bot, all is well; else stop the other one, or give each its own token."
        return warning(ROOM, "poller", "Another process asks Telegram for this bot's messages (409 Conflict).", fix)
    return fine(ROOM, "poller", "Nobody else asks for its messages.")


def _waiting(posting: Posting) -> str:
    return f"{posting.waiting} update{'' if posting.waiting == 1 else 's'} wait{'s' if posting.waiting == 1 else ''}"


def _host(url: str) -> str:
    return urlsplit(url).hostname or "an address"
