"""What this machine gives: the files of settings, ports to listen on, time zones."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import stat
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

from bots.doctor.finding import Check, Finding, broken, fine, warning
from bots.doctor.running import is_running
from bots.personas import roles
from config.section import pairs
from config.settings import Settings

ROOM, SETTINGS = "machine", "settings"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def settings_checks(settings: Settings) -> Sequence[Check]:
    """Name what of the settings is to be looked at beyond their form."""
    return [
        Check(SETTINGS, "files", _files),
        Check(SETTINGS, "platforms", lambda: _platforms(settings)),
        Check(SETTINGS, "persona", lambda: _persona(settings)),
        Check(SETTINGS, "memory", lambda: _memory(settings)),
    ]


def checks(settings: Settings, now: Callable[[], float]) -> Sequence[Check]:
    """Name what of the machine is to be looked at."""
    return [
        Check(ROOM, "clock", lambda: _clock(settings)),
        Check(ROOM, "time zone", lambda: _zone(settings, now)),
        Check(ROOM, "metrics", lambda: _metrics(settings)),
        Check(ROOM, "webhook port", lambda: _webhook_port(settings)),
    ]


async def _files() -> AsyncGenerator[Finding, None]:
    for finding in await asyncio.to_thread(_read_files, Path.cwd()):
        yield finding


def _read_files(folder: Path) -> Iterator[Finding]:
    toml = os.environ.get("KEEPMIND_CONFIG", "keepmind.toml")
    found = [name for name in (".env", toml) if (folder / Path(name).expanduser()).is_file()]
    read = " and ".join([", ".join(["The environment", *found[:-1]]), *found[-1:]])
    yield fine(SETTINGS, "files", f"{read} are read in {folder}." if found else f"{read} alone is read in {folder}.")
    secret = folder / ".env"
    if os.name == "posix" and secret.is_file() and secret.stat().st_mode & _OTHERS:
        yield warning(SETTINGS, "files", "Others on this machine can read .env, where tokens are.", "chmod 600 .env")


async def _platforms(settings: Settings) -> AsyncGenerator[Finding, None]:
    served = [name for name in ("telegram", "discord") if getattr(settings, name).token]
    if served:
        yield fine(SETTINGS, "platforms", f"`keepmind run` serves {' and '.join(served)}.")
    else:
        says = "No platform is set; `keepmind chat` talks in the terminal."
        yield warning(
            SETTINGS, "platforms", says, "`keepmind init` asks for tokens; see docs/telegram.md, docs/discord.md."
        )


async def _persona(settings: Settings) -> AsyncGenerator[Finding, None]:
    cast = roles(settings)
    name, called = settings.engine.persona, cast.usual.settings.engine.name
    yield fine(SETTINGS, "persona", f"The bot is called {called}, and its persona is {name}.")
    for place, name in pairs(settings.engine.personas).items():
        called = cast.others[place].settings.engine.name
        yield fine(SETTINGS, "persona", f"In {place} it is called {called}, and its persona is {name}.")


async def _memory(settings: Settings) -> AsyncGenerator[Finding, None]:
    from bots.models import open_model
    from bots.personas import open_bot, roles

    cast = roles(settings)
    memory = cast.usual.settings.memory
    async with open_model(cast.usual.settings) as (llm, counter), open_bot(cast, llm, counter):
        kinds = ", ".join((memory.history, *memory.beside))
        yield fine(SETTINGS, "memory", f"It remembers by {kinds}.")


async def _clock(settings: Settings) -> AsyncGenerator[Finding, None]:
    if settings.telegram.token is None and settings.discord.token is None:
        yield fine(ROOM, "clock", f"It is {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, with no platform to compare with.")


async def _zone(settings: Settings, now: Callable[[], float]) -> AsyncGenerator[Finding, None]:
    name = settings.engine.time_zone
    if not await asyncio.to_thread(available_timezones):
        yield warning(ROOM, "time zone", "This machine has no data on time zones.", "pip install tzdata")
        return
    local = datetime.fromtimestamp(now(), ZoneInfo(name))
    yield fine(
        ROOM, "time zone", f"People whose zone is not known are taken to be in {name}, where it is {local:%H:%M}."
    )


async def _metrics(settings: Settings) -> AsyncGenerator[Finding, None]:
    chosen = settings.metrics
    if chosen.port is None:
        yield fine(ROOM, "metrics", "Measures are not served; KEEPMIND_METRICS__PORT=9464 does.")
    elif await is_running(settings):
        yield fine(ROOM, "metrics", f"The bot runs, and serves them on port {chosen.port}.")
    else:
        yield _port("metrics", chosen.host, chosen.port, "KEEPMIND_METRICS__PORT", "KEEPMIND_METRICS__HOST")


async def _webhook_port(settings: Settings) -> AsyncGenerator[Finding, None]:
    chosen = settings.telegram
    if chosen.token is None or chosen.webhook_url is None or await is_running(settings):
        return
    found = _port("webhook port", "0.0.0.0", chosen.webhook_port, "TELEGRAM_WEBHOOK_PORT", "TELEGRAM_WEBHOOK_PORT")
    if found.level == "broken" and not settings.metrics.port:
        fix = "If that is this bot, which runs, all is well (KEEPMIND_METRICS__PORT lets the doctor see it)"
        found = replace(found, level="warning", fix=f"{fix}; else: {found.fix}")
    yield found


def _port(about: str, host: str, port: int, number: str, address: str) -> Finding:
    """See whether a port can be listened on."""
    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
            return fine(ROOM, about, f"Port {port} on {host} is free.")
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return broken(
                ROOM, about, f"Port {port} is taken by another program.", f"Stop it, or set {number} to another."
            )
        says = f"Port {port} on {host} can't be listened on: {error.strerror or type(error).__name__}."
        return broken(ROOM, about, says, f"Set {number} or {address} to what this machine has.")
