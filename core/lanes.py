"""One lane a chat: what is said there is done one at a time and in order, while other chats go on."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from core.clock import came_within
from core.commands.command import Command
from core.conversation import Turn
from core.exchange import Exchange
from core.kept import moved
from core.messages import ChatKey, Message, Person, Reply

logger = logging.getLogger("keepmind.engine")


@dataclass(eq=False)
class Entry:
    """Something to do in a chat: answer a message, run a command, or take up an open turn."""

    message: Message
    command: Command | None = None
    arguments: str = ""
    turn: Turn | None = None
    came: float = field(default_factory=time.perf_counter)
    done: asyncio.Future[Reply | None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def subject(self) -> int | str:
        """What it is about: the id of the open turn, or of the message."""
        return self.message.id if self.turn is None else self.turn.id

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
    """The queue of one chat. `exchange` is the turn in progress; `lock` is held from its burst to its delivery.

    `doing` is what was taken from the queue and is not done. `coming` is who has said something that is still
    being read.
    """

    chat: ChatKey
    queue: deque[Entry] = field(default_factory=deque)
    doing: list[Entry] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    worker: asyncio.Task[None] | None = None
    exchange: Exchange | None = None
    holds: int = 0
    coming: list[Person] = field(default_factory=list)

    @property
    def subjects(self) -> set[int | str]:
        """What is queued or being done."""
        answered = self.exchange.turn if self.exchange is not None else None
        return {entry.subject for entry in (*self.queue, *self.doing)} | ({answered.id} if answered else set())

    def put(self, entry: Entry, *, first: bool = False) -> None:
        """Queue something at the end, or before all that waits."""
        if first:
            self.queue.appendleft(entry)
        else:
            self.queue.append(entry)
        self.news.set()

    def drop(self) -> None:
        """Forget what waits."""
        while self.queue:
            self.queue.popleft().end(None)

    def drop_talk(self) -> None:
        """Forget what waits to be answered, which the store has as well; commands stay."""
        for entry in [entry for entry in self.queue if entry.command is None]:
            self.queue.remove(entry)
            entry.end(None)

    def put_back(self, entries: Sequence[Entry]) -> None:
        """Let entries that were taken wait again, before all others."""
        self.queue.extendleft(reversed(entries))

    def stop(self) -> bool:
        """Tell the turn in progress to end; say whether there was one."""
        if self.exchange is None:
            return False
        self.exchange.stop()
        self.news.set()
        return True

    async def burst(self, entries: list[Entry], quiet: float, longest: float) -> None:
        """Add what the same sender says until `quiet` seconds of silence, for at most `longest` seconds.

        With `quiet` zero nothing is added. Anything else that is queued ends the burst, and so does a stop. What is
        still being read of theirs is waited for, `longest` seconds each time: the parts of an album come one by one.
        A turn that waited for the model is joined by all that they have said since.
        """
        if (turn := entries[0].turn) is not None and turn.waits:
            self._take_joining(entries)
        time = asyncio.get_running_loop().time
        ends = time() + longest
        while quiet > 0 and entries[0].joins:
            self._take_joining(entries)
            coming = entries[0].message.sender in self.coming
            ends = time() + longest if coming else ends
            left = min(longest if coming else quiet, ends - time())
            if self.queue or self._stopping or left <= 0 or not await came_within(self.news, left):
                break

    def _take_joining(self, entries: list[Entry]) -> None:
        sender = entries[0].message.sender
        while self.queue and self.queue[0].joins and self.queue[0].message.sender == sender:
            entries.append(self.queue.popleft())
        self.news.clear()

    @property
    def _stopping(self) -> bool:
        return self.exchange is not None and self.exchange.stopping


class Lanes:
    """All lanes with something to do. `work` does one batch of entries."""

    def __init__(self, work: Callable[[Lane], Awaitable[None]]) -> None:
        self._lanes: dict[ChatKey, Lane] = {}
        self._work = work
        self._drained = False

    def put(self, chat: ChatKey, entry: Entry, *, first: bool = False) -> None:
        """Queue something in a chat, at the end or first; once drained, nothing begins any more."""
        if self._drained:
            entry.end(None)
            return
        lane = self._lane(chat)
        lane.put(entry, first=first)
        if lane.worker is None:
            lane.worker = asyncio.create_task(self._run(lane))

    def in_progress(self, chat: ChatKey) -> Exchange | None:
        """Give the turn in progress in a chat, None when there is none."""
        lane = self._lanes.get(chat)
        return lane.exchange if lane is not None else None

    def put_new(self, chat: ChatKey, entries: Sequence[Entry]) -> None:
        """Queue what is not queued or being done yet; what is, ends here."""
        known = self._lane(chat).subjects
        for entry in entries:
            if entry.subject in known:
                entry.end(None)
            else:
                self.put(chat, entry)
        self._close(self._lane(chat))

    def _lane(self, chat: ChatKey) -> Lane:
        lane = self._lanes.get(chat)
        if lane is None:
            lane = self._lanes[chat] = Lane(chat)
        return lane

    @asynccontextmanager
    async def hold(self, chat: ChatKey, *, drop: bool = False) -> AsyncIterator[bool]:
        """End the turn in progress in a chat, and let no other begin until the block is left.

        With `drop` what waits there is forgotten first. Gives whether a turn was in progress.
        """
        lane = self._lane(chat)
        if drop:
            lane.drop()
        stopped = lane.stop()
        async with self.still(chat):
            yield stopped

    @asynccontextmanager
    async def still(self, chat: ChatKey) -> AsyncIterator[None]:
        """Wait for the turn in progress in a chat to end, and let no other begin until the block is left."""
        lane = self._lane(chat)
        lane.holds += 1
        try:
            async with lane.lock:
                yield
        finally:
            lane.holds -= 1
            self._close(lane)

    def move(self, old: ChatKey, new: ChatKey) -> None:
        """Let what waits in a chat that is held wait in what it has become."""
        waiting = self._lane(old).queue
        while waiting:
            entry = waiting.popleft()
            entry.message = moved(entry.message, new)
            self.put(new, entry)

    @contextmanager
    def coming(self, chat: ChatKey, sender: Person) -> Iterator[None]:
        """Let a burst of a sender's in a chat wait for what is being read until the block is left."""
        lane = self._lane(chat)
        lane.coming.append(sender)
        lane.news.set()
        try:
            yield
        finally:
            lane.coming.remove(sender)
            lane.news.set()
            self._close(lane)

    def _close(self, lane: Lane) -> None:
        if lane.worker is None and not lane.holds and not lane.coming:
            del self._lanes[lane.chat]

    def __len__(self) -> int:
        return len(self._lanes)

    @property
    def waiting(self) -> int:
        """How many entries wait in all chats."""
        return sum(len(lane.queue) for lane in self._lanes.values())

    def __iter__(self) -> Iterator[ChatKey]:
        return iter(list(self._lanes))

    async def _run(self, lane: Lane) -> None:
        try:
            while lane.queue:
                await self._work_on(lane)
        finally:
            lane.worker = None
            lane.drop()
            self._close(lane)

    async def _work_on(self, lane: Lane) -> None:
        try:
            await self._work(lane)
        except Exception as error:  # a bug with one message must not hold up the next
            logger.error("a message in %s met a bug: %s", lane.chat, type(error).__name__)
            logger.debug("its traceback", exc_info=error)

    async def idle(self) -> None:
        """Wait until nothing is in progress."""
        while workers := [lane.worker for lane in self._lanes.values() if lane.worker]:
            await asyncio.wait(workers)

    async def drain(self, seconds: float) -> None:
        """Wait until all is done, at most `seconds`; what is not is cancelled and can be taken up at the next start."""
        self._drained = True
        workers = {lane.worker: lane for lane in self._lanes.values() if lane.worker}
        if workers:
            _, late = await asyncio.wait(workers, timeout=seconds)
            for worker in late:
                workers[worker].drop()
                worker.cancel()
            await asyncio.gather(*late, return_exceptions=True)
