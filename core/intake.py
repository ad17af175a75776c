"""One line a chat: what comes from a platform is taken in the order of its chat, and no chat waits for another.

Taking may take long, since what a message brings along is fetched and read before the message is stored: the engine
then has all of it, and there is nothing to fetch after a restart.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from core.errors import StoreError

logger = logging.getLogger("keepmind.intake")
Work = Callable[[], Awaitable[None]]


class Intake:
    """Does work, one at a time in each lane."""

    def __init__(self) -> None:
        self._last: dict[object, asyncio.Task[None]] = {}

    def line_up(self, lane: object, work: Work) -> asyncio.Task[None]:
        """Do work when what came before it in its lane is done.

        The task raises StoreError when something could not be stored, or did before it: then it must come again, in
        order.
        """
        task = asyncio.create_task(self._run(self._last.get(lane), work))
        self._last[lane] = task
        task.add_done_callback(lambda done: self._forget(lane, done))
        return task

    def _forget(self, lane: object, done: asyncio.Task[None]) -> None:
        if self._last.get(lane) is done:
            del self._last[lane]
        if not done.cancelled():
            done.exception()

    async def _run(self, before: asyncio.Task[None] | None, work: Work) -> None:
        if before is not None:
            await asyncio.wait([before])
            before.result()
        try:
            await work()
        except StoreError:
            raise
        except Exception as error:  # a bug with one message must not stop the rest
            logger.error("something that came in met a bug: %s", type(error).__name__)
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
