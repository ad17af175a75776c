"""Which platforms a running bot serves."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager, suppress
from typing import Protocol, Self

from bots.garbage import settle
from config.settings import Settings
from core.adapter import Adapter
from core.engine import Engine
from core.errors import ConfigError, KeepmindError

logger = logging.getLogger("keepmind")

TOKENS = {"telegram": "TELEGRAM_BOT_TOKEN", "discord": "DISCORD_BOT_TOKEN"}
CLOSING_SECONDS = 5
"""How long all may take to be closed, beside the time for what is in progress."""


class Platform(Adapter, Protocol):
    """An adapter that listens: it can send from when it is entered until it is left, beyond the end of `run`.

    `posted` says whether what is said is posted to it: then any number of processes may listen at a time.
    """

    @property
    def posted(self) -> bool:
        """Say whether it is posted to."""
        ...

    async def run(self, engine: Engine) -> None:
        """Take what is said until cancelled. Raises ConfigError when the operator has to do something."""
        ...

    async def __aenter__(self) -> Self:
        """Make ready to send."""
        ...

    async def __aexit__(self, *_: object) -> None:
        """Let go of the network."""
        ...


def chosen(settings: Settings, wanted: Sequence[str]) -> Sequence[str]:
    """Name the platforms to serve: those wanted, else all with a token. Raises ConfigError naming what is missing."""
    ready = [name for name in TOKENS if getattr(settings, name).token]
    missing = [TOKENS[name] for name in wanted if name not in ready]
    if missing:
        raise ConfigError(f"{' and '.join(missing)} must be set to the token of the bot")
    if not ready:
        raise ConfigError(f"no bot is configured; set {' or '.join(TOKENS.values())} to the token of the bot")
    return wanted or ready


async def serve(names: Sequence[str], settings: Settings) -> None:
    """Serve platforms until the process is told to stop; one that fails leaves the others running.

    Raises the error of one that failed when all have ended.
    """
    with _told_to_stop(settings.engine.stop_seconds + CLOSING_SECONDS):
        while await _shift(names, settings):
            logger.warning("another process serves the bot now; this one begins anew, to stand by")


async def _shift(names: Sequence[str], settings: Settings) -> bool:
    """Serve platforms until all have ended or another process has one; say whether it is to be done again."""
    from bots.app import open_app
    from bots.metrics import open_meter, watch
    from bots.serving import served

    async with AsyncExitStack() as stack:
        platforms = [await stack.enter_async_context(_platform(name, settings)) for name in names]
        meter = await stack.enter_async_context(open_meter(settings))
        app = await stack.enter_async_context(open_app(settings, adapters=platforms, meter=meter, standby=True))
        watch(meter, app)
        settle()
        return await served(app, platforms, settings)


def _platform(name: str, settings: Settings) -> AbstractAsyncContextManager[Platform]:
    if name == "discord":
        from bots.discord import open_discord

        return open_discord(settings)
    from bots.telegram import open_telegram

    return open_telegram(settings)


async def all_run(runs: Sequence[Coroutine[None, None, None]]) -> None:
    """Let all run to their ends; raise the error of one that failed."""
    ends = await asyncio.gather(*(_told(run, alone=len(runs) == 1) for run in runs), return_exceptions=True)
    for error in ends:
        if error is not None:
            raise error


async def _told(run: Coroutine[None, None, None], *, alone: bool) -> None:
    try:
        await run
    except KeepmindError as error:
        if not alone:
            logger.error("%s; the rest goes on", error)
        raise


@contextmanager
def _told_to_stop(seconds: float) -> Iterator[None]:
    """Let the signal that asks a process to end cancel what runs, so that all is closed in order.

    What is not closed in so many seconds, such as a database that does not answer, is left, as by a kill.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def stop() -> None:
        last = threading.Timer(seconds, _leave)
        last.daemon = True
        last.start()
        task.cancel()

    with suppress(NotImplementedError):
        loop.add_signal_handler(signal.SIGTERM, stop)
    try:
        with suppress(asyncio.CancelledError):
            yield
    finally:
        with suppress(NotImplementedError):
            loop.remove_signal_handler(signal.SIGTERM)


def _leave() -> None:
    """End the process though threads still wait: nothing is lost, since it may be killed at any moment."""
    logger.error("not all could be closed in time (does the database answer?); what is open goes on at the next start")
    os._exit(1)
