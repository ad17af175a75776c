"""One lane a chat: what is said there is done one at a time and in order, while other chats go on."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from core.commands import Command
from core.conversation import Turn
from core.exchange import Exchange
from core.messages import ChatKey, Message, Reply

logger = logging.getLogger("keepmind.engine")


@dataclass(eq=False)
class Entry:
    """Something to do in a chat: answer a message, run a command, or take up an open turn."""

    message: Message
    command: Command | None = None
    arguments: str = ""
    turn: Turn | None = None
    done: asyncio.Future[Reply | None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def joins(self) -> bool:
        """Whether it may be part of a burst."""
        return self.command is None and self.turn is None

    def end(self, reply: Reply | None) -> None:
        """Tell whoever waits that it is done."""
        if not self.done.done():
            self.done.set_result(reply)


@dataclass(eq=False)
class Lane:
    """The queue of one chat. `exchange` is the turn in progress, `answer` the task that runs it."""

    chat: ChatKey
    queue: deque[Entry] = field(default_factory=deque)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    worker: asyncio.Task[None] | None = None
    exchange: Exchange | None = None
    answer: asyncio.Task[Reply | None] | None = None

    def put(self, entry: Entry) -> None:
        """Queue something at the end."""
        self.queue.append(entry)
        self.news.set()

    def drop(self) -> None:
        """Forget what waits."""
        while self.queue:
            self.queue.popleft().end(None)

    async def burst(self, first: Entry, quiet: float, longest: float) -> list[Entry]:
        """Collect what the same sender says until `quiet` seconds of silence, for at most `longest` seconds.

        With `quiet` zero nothing is collected.
        """
        entries = [first]
        ends = asyncio.get_running_loop().time() + longest
        while quiet > 0 and first.joins:
            self._take_joining(entries)
            left = min(quiet, ends - asyncio.get_running_loop().time())
            if self.queue or left <= 0 or not await self._news_within(left):
                break
        return entries

    def _take_joining(self, entries: list[Entry]) -> None:
        sender = entries[0].message.sender
        while self.queue and self.queue[0].joins and self.queue[0].message.sender == sender:
            entries.append(self.queue.popleft())
        self.news.clear()

    async def _news_within(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self.news.wait(), seconds)
        except TimeoutError:
            return False
        return True


class Lanes:
    """All lanes with something to do. `work` does one batch of entries."""

    def __init__(self, work: Callable[[Lane], Awaitable[None]]) -> None:
        self._lanes: dict[ChatKey, Lane] = {}
        self._work = work

    def put(self, chat: ChatKey, entry: Entry) -> None:
        """Queue something in a chat."""
        lane = self._lanes.setdefault(chat, Lane(chat))
        lane.put(entry)
        if lane.worker is None:
            lane.worker = asyncio.create_task(self._run(lane))

    def get(self, chat: ChatKey) -> Lane | None:
        """Give the lane of a chat, None when nothing goes on there."""
        return self._lanes.get(chat)

    def __len__(self) -> int:
        return len(self._lanes)

    async def _run(self, lane: Lane) -> None:
        try:
            while lane.queue:
                await self._work_on(lane)
        finally:
            del self._lanes[lane.chat]
            lane.drop()

    async def _work_on(self, lane: Lane) -> None:
        try:
            await self._work(lane)
        except Exception as error:  # a bug with one message must not hold up the next
            logger.error("a message in %s met a bug: %s", lane.chat, type(error).__name__)
            logger.debug("its traceback", exc_info=error)

    async def drain(self, seconds: float) -> None:
        """Wait until all is done, at most `seconds`; what is not is cancelled and can be taken up at the next start."""
        workers = [lane.worker for lane in self._lanes.values() if lane.worker]
        if workers:
            _, late = await asyncio.wait(workers, timeout=seconds)
            for worker in late:
                worker.cancel()
            await asyncio.gather(*late, return_exceptions=True)
