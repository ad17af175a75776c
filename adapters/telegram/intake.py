"""One line a chat: updates are taken in the order of their chat, and no chat waits for another.

An update may take long, since what a message brings along is fetched and read before the message is stored: the
engine then has all of it, and there is nothing to fetch after a restart. Until it is stored it stays with Telegram,
which gives it again. So neither a slow file nor a dead process loses a message, and other chats go on meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from telegram import Update

from core.errors import StoreError

logger = logging.getLogger("keepmind.telegram")


class Intake:
    """Runs `take` for every update, one at a time in each chat."""

    def __init__(self, take: Callable[[Update], Awaitable[None]]) -> None:
        self._take = take
        self._last: dict[object, asyncio.Task[None]] = {}

    def put(self, update: Update) -> asyncio.Task[None]:
        """Take an update when those before it in its chat are taken.

        The task raises StoreError when it could not be stored, or one before it: then it must come again, in order.
        """
        lane = _lane(update)
        task = asyncio.create_task(self._run(self._last.get(lane), update))
        self._last[lane] = task
        task.add_done_callback(lambda done: self._forget(lane, done))
        return task

    def _forget(self, lane: object, done: asyncio.Task[None]) -> None:
        if self._last.get(lane) is done:
            del self._last[lane]
        if not done.cancelled():
            done.exception()

    async def _run(self, before: asyncio.Task[None] | None, update: Update) -> None:
        if before is not None:
            await asyncio.wait([before])
            before.result()
        try:
            await self._take(update)
        except StoreError:
            raise
        except Exception as error:  # a bug with one update must not stop the rest
            logger.error("update %s met a bug: %s", update.update_id, type(error).__name__)
            logger.debug("its traceback", exc_info=error)

    async def aclose(self, seconds: float = 5) -> None:
        """Let what is being taken end; what does not in time is given up, and comes again at the next start."""
        tasks = list(self._last.values())
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=seconds)
            for task in late:
                task.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(*late, return_exceptions=True)


def _lane(update: Update) -> object:
    chat = update.effective_chat
    return chat.id if chat else update.update_id
