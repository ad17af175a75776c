"""Asking Telegram for updates, and acknowledging each only once it is stored.

Telegram acknowledges by number: asking from one on forgets all before it. While an update is still being taken, the
question starts at it, so that Telegram keeps it and what comes after is given all the same; what was given before is
passed over by its number.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress

from telegram import Bot
from telegram.error import Conflict, InvalidToken, RetryAfter, TelegramError

from adapters.telegram.intake import Intake
from adapters.telegram.rivalry import CONFLICT, Rivalry
from adapters.telegram.trouble import retry_seconds
from core.errors import ConfigError

logger = logging.getLogger("keepmind.telegram")
REVOKED = "Telegram no longer knows the token in TELEGRAM_BOT_TOKEN; @BotFather gives the present one"
_LONGEST_PAUSE = 30.0
_LOOK_SECONDS = 0.25


class Polling:
    """Long polling. `timeout` is how long one question waits at Telegram, `pause` the first wait after a failure.

    When another process asks as well, one of them gives way: who has just begun after `rivalry` seconds.
    """

    def __init__(
        self, bot: Bot, intake: Intake, kinds: Sequence[str], timeout: int = 30, pause: float = 1.0, rivalry: float = 10
    ) -> None:
        self._bot, self._intake, self._kinds = bot, intake, kinds
        self._timeout, self._first_pause = timeout, pause
        self._rivalry = Rivalry(rivalry)
        self._offset = self._asked = 0
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._pause = pause
        self._down = False

    async def run(self) -> None:
        """Take updates until cancelled. Raises ConfigError when the token is of no use here."""
        try:
            while True:
                await self._round()
        finally:
            await self._end()

    async def _round(self) -> None:
        self._asked = self._offset
        try:
            updates = await self._bot.get_updates(
                self._offset, timeout=0 if self._tasks else self._timeout, allowed_updates=self._kinds
            )
        except InvalidToken:
            raise ConfigError(REVOKED) from None
        except TelegramError as error:
            await self._failed(error)
            return
        self._well()
        for update in updates:
            if update.update_id not in self._tasks:
                self._tasks[update.update_id] = self._intake.put(update)
        await self._settle()

    async def _settle(self) -> None:
        """Wait a moment for what is being taken, and acknowledge what is."""
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=_LOOK_SECONDS)
        failed = self._acknowledge()
        if failed:
            logger.error("%s updates could not be stored and are asked for again", len(failed))
            await self._wait()

    def _acknowledge(self) -> list[int]:
        """Move on to the first update that is not taken; give those that failed, which are asked for again."""
        waiting = [number for number, task in self._tasks.items() if not _is_taken(task)]
        self._offset = max(self._offset, min(waiting) if waiting else max(self._tasks, default=-1) + 1)
        failed = [number for number in waiting if self._tasks[number].done()]
        self._tasks = {n: task for n, task in self._tasks.items() if n >= self._offset and n not in failed}
        return failed

    @property
    def _unacknowledged(self) -> bool:
        """Whether something was taken, or is being taken, of which Telegram was not told yet by asking for more."""
        return bool(self._tasks) or self._offset != self._asked

    def _well(self) -> None:
        self._rivalry.rests()
        if self._down:
            logger.info("Telegram can be reached again")
        self._down, self._pause = False, self._first_pause

    async def _failed(self, error: TelegramError) -> None:
        if isinstance(error, Conflict):
            await self._settle()
            if self._rivalry.is_lost() and not self._unacknowledged:
                raise ConfigError(f"{CONFLICT}; this one gives way")
        elif isinstance(error, RetryAfter):
            await asyncio.sleep(retry_seconds(error))
            return
        elif not self._down:
            logger.warning("Telegram can't be reached, it is tried again: %s", type(error).__name__)
            self._down = True
        await self._wait()

    async def _wait(self) -> None:
        await asyncio.sleep(self._pause)
        self._pause = min(self._pause * 1.5, _LONGEST_PAUSE)

    async def _end(self) -> None:
        """Acknowledge what has been taken, so that it does not come again; what is, is not asked for anew."""
        await self._intake.aclose()
        self._acknowledge()
        if self._offset == self._asked:
            return
        with suppress(TelegramError):
            await self._bot.get_updates(self._offset, limit=1, timeout=0, read_timeout=2, connect_timeout=2)


def _is_taken(task: asyncio.Task[None]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None
