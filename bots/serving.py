"""Serving bots of which other processes may serve some: standing by, taking over, giving way."""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any

from bots.app import App, ticking
from bots.platforms import TOKENS, Platform, all_run
from config.settings import Settings
from core.errors import ConfigError, StoreError

logger = logging.getLogger("keepmind")
AT_ONCE = 0.5
"""How many seconds the duty may take before this process is said to stand by."""


def bot_of(platform: str, settings: Settings) -> str:
    """Name the bot whose token is set: its platform and its id there, which is in the token."""
    token = getattr(settings, platform).token.get_secret_value()
    id_, _, _ = token.partition(":" if platform == "telegram" else ".")
    if platform == "discord":
        with suppress(binascii.Error, ValueError):
            id_ = base64.b64decode(id_ + "=" * (-len(id_) % 4)).decode()
    return f"{platform}:{id_}"


async def served(app: App, platforms: Sequence[Platform], settings: Settings) -> bool:
    """Serve platforms until all have ended, or another process has one of them; say whether that is so.

    Raises the error of one that failed when all have ended.
    """
    async with AsyncExitStack() as clock:
        shift = Shift(app, settings, clock)
        return await shift.until_lost([shift.serve(platform) for platform in platforms])


class Shift:
    """The time from standing by to being relieved. The clock runs from when the first bot is served."""

    def __init__(self, app: App, settings: Settings, clock: AsyncExitStack) -> None:
        self._engine, self._store, self._duty = app.engine, app.store, app.store.duty()
        self._settings, self._clock = settings, clock
        self._starting = asyncio.Lock()
        self._ticks = False

    async def until_lost(self, runs: Sequence[Coroutine[Any, Any, None]]) -> bool:
        """Do what is to be done meanwhile; say whether the duty was lost before it ended."""
        running = asyncio.create_task(all_run(runs))
        lost, called = asyncio.create_task(self._duty.lost()), asyncio.create_task(self._answer_calls())
        try:
            await asyncio.wait({running, lost}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                running.result()
                return False
        finally:
            await _cancelled(running, lost, called)
        await self._engine.aclose(0)
        return True

    async def serve(self, platform: Platform) -> None:
        """Take a bot and listen; one that is posted to listens before, and what it hears waits in the inbox.

        Raises ConfigError when what is kept is another bot's, or the operator has to do something.
        """
        await self._introduce(platform.platform)
        try:
            await self._listen(platform)
        except ConfigError:
            await self._withdraw(platform.platform)
            raise

    async def _listen(self, platform: Platform) -> None:
        if not platform.posted:
            await self._take(platform)
            await platform.run(self._engine)
            return
        both = [asyncio.create_task(work) for work in (platform.run(self._engine), self._take(platform))]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_EXCEPTION)
            for ended in both:
                ended.result()
        finally:
            await _cancelled(*both)

    async def _introduce(self, platform: str) -> None:
        bot = bot_of(platform, self._settings)
        noted = await self._store.introduce(bot)
        if noted != bot:
            raise ConfigError(
                f"the database is that of the bot {noted}, and {TOKENS[platform]} is the token of {bot}: give each bot "
                "of a platform a database of its own by KEEPMIND_DATABASE_URL; or, if the new one is to go on in its "
                f"place, run keepmind db dismiss {platform}"
            )

    async def _withdraw(self, platform: str) -> None:
        """Let go of a bot that nobody has spoken to: its token may be a mistake, and the right one another bot's."""
        with suppress(StoreError):
            if not (await self._store.stats()).chats:
                await self._store.dismiss(platform)

    async def _take(self, platform: Platform) -> None:
        bot = bot_of(platform.platform, self._settings)
        taking = asyncio.ensure_future(self._duty.take(bot))
        if not (await asyncio.wait({taking}, timeout=AT_ONCE))[0]:
            logger.info("standing by: another process serves %s", bot)
        await taking
        logger.info("this process serves %s", bot)
        self._engine.standby.discard(platform.platform)
        self._engine.shared.meter.takeover(platform.platform)
        await self._engine.recover(platform.platform)
        await self._tick()

    async def _tick(self) -> None:
        async with self._starting:
            if not self._ticks:
                await self._clock.enter_async_context(ticking(self._engine, self._settings, at_once=True))
                self._ticks = True

    async def _answer_calls(self) -> None:
        """Take what other processes have received."""
        while True:
            await self._duty.called()
            try:
                await self._engine.take_up()
            except StoreError as error:
                logger.warning("the inbox can't be read: %s", error)


async def _cancelled(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
