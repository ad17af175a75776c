"""What waits in the store, and how it is queued: once, in order within its chat, and so many chats at a time."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Protocol
from weakref import WeakValueDictionary

from core.errors import StoreError
from core.lanes import Entry, Lanes
from core.messages import ChatKey, Message
from core.outage import Outage
from core.records import Unfinished
from core.store import ConversationStore

logger = logging.getLogger("keepmind.engine")
Take = Callable[[bool], Awaitable[bool]]
"""Takes a message in, with its words or only its key; says whether it is still to be answered."""
Put = Callable[[ChatKey, Entry], None]
"""Queues something in a chat."""
Serves = Callable[[ChatKey], bool]
MOST_KNOWN = 10_000
"""How many messages are known to have been taken in, so that none is taken from the inbox as another's."""


class Accept(Protocol):
    """Does with a message that waits as with one that arrives; one that was `judged` is not counted again."""

    async def __call__(self, message: Message, take: Take, *, judged: bool, put: Put | None) -> object:
        """Take it, and queue it by `put`."""


class Backlog:
    """The chats in which a stopped process left something, until each is queued; at most `parallel` of a platform are.

    The door of a chat is held while something said there is stored and queued.
    """

    def __init__(
        self, store: ConversationStore, outage: Outage, lanes: Lanes, accept: Accept, *, parallel: int
    ) -> None:
        self._store, self._outage, self._lanes, self._accept = store, outage, lanes, accept
        self._parallel = parallel
        self._doors: WeakValueDictionary[ChatKey, asyncio.Lock] = WeakValueDictionary()
        self._looking = asyncio.Lock()
        self._left: dict[ChatKey, Unfinished] = {}
        self._next: defaultdict[str, deque[ChatKey]] = defaultdict(deque)
        self._working: set[asyncio.Task[None]] = set()
        self._known: dict[tuple[ChatKey, str], None] = {}

    def door(self, chat: ChatKey) -> asyncio.Lock:
        """Give what is held while something is stored and queued in a chat: what came first is queued first."""
        return self._doors.setdefault(chat, asyncio.Lock())

    def know(self, message: Message) -> None:
        """Note that a message has been taken in."""
        self._known[message.chat, message.id] = None
        if len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]

    def unknow(self, message: Message) -> None:
        """Take that back."""
        self._known.pop((message.chat, message.id), None)

    def __iter__(self) -> Iterator[ChatKey]:
        return iter(list(self._left))

    @property
    def waiting(self) -> int:
        """How many turns and messages are not queued yet."""
        return sum(left.total for left in self._left.values())

    async def before(self, chat: ChatKey) -> None:
        """Queue what was left in a chat, before something new that is said there; its door is held."""
        async with self._looking:
            pass  # what was left where is being found out
        if chat in self._left:
            await self.queue(chat)

    async def take_over(self, serves: Serves) -> int:
        """Take up what a stopped process left in the chats that are served; how many turns and messages.

        When this returns the first chats are queued; each of the others is when one of those before it is done.
        """
        async with self._looking:
            found = {chat: left for chat, left in (await self._store.unfinished()).items() if serves(chat)}
            self._left |= found
        for platform in {chat.platform: None for chat in found}:
            await self._begin(platform, [chat for chat in found if chat.platform == platform])
        return sum(left.total for left in found.values())

    async def _begin(self, platform: str, chats: Sequence[ChatKey]) -> None:
        """Queue the first chats of a platform, and see to it that the others follow: no platform waits for another."""
        self._next[platform].extend(chats)
        first = [await self._queued(chat) for chat in chats[: self._parallel]]
        working = asyncio.create_task(self._go_on(platform, first))
        self._working.add(working)
        working.add_done_callback(self._working.discard)

    async def _go_on(self, platform: str, first: Sequence[Sequence[Entry]]) -> None:
        await asyncio.gather(*(self._follow(platform, entries) for entries in first))

    async def _follow(self, platform: str, entries: Sequence[Entry]) -> None:
        """Take up one chat after the other, each when the one before is done."""
        await _ended(entries)
        while self._next[platform]:
            chat = self._next[platform].popleft()
            if chat in self._left:
                await self._try(chat)

    async def _try(self, chat: ChatKey) -> None:
        try:
            await self.resume(chat)
        except StoreError as error:
            self._outage.hold(chat, str(error))
        except Exception as error:  # whatever one chat meets, the others are taken up
            logger.error("what was left in %s can't be taken up: %s", chat, type(error).__name__)
            logger.debug("its traceback", exc_info=error)

    async def resume(self, chat: ChatKey) -> None:
        """Take up what waits in a chat, and wait until it is answered or waits again."""
        await _ended(await self._queued(chat))

    async def _queued(self, chat: ChatKey) -> Sequence[Entry]:
        async with self.door(chat):  # what comes meanwhile is queued after it
            return await self.queue(chat)

    async def queue(self, chat: ChatKey) -> Sequence[Entry]:
        """Queue all that is open in a chat, at once, so that what is one turn is seen to be; its door is held."""
        if self._left.get(chat, Unfinished()).turns:
            await self._store.raise_epoch(chat)  # or what may still be running elsewhere could save as well
        entries = [Entry(turn.message, turn=turn) for turn in await self._store.open_turns(chat)]
        try:
            for message in await self._store.waiting(chat):
                await self._take_up(message, lambda _, entry: entries.append(entry))
            self._left.pop(chat, None)
            self._outage.release(chat)
        finally:  # a command among them waits in the store no more
            self._lanes.put_new(chat, entries)
        return entries

    async def take_in(self, serves: Serves) -> int:
        """Take what another process has put into the inbox of chats that are served; how many messages."""
        count = 0
        for chat, left in (await self._store.unfinished()).items():
            if serves(chat) and any(self._is_new(chat, id) for id in left.waiting):
                count += await self._take_in(chat)
        return count

    async def _take_in(self, chat: ChatKey) -> int:
        async with self.door(chat):
            found = [message for message in await self._store.waiting(chat) if self._is_new(chat, message.id)]
            for message in found:
                await self._take_up(message)
            return len(found)

    def _is_new(self, chat: ChatKey, message_id: str) -> bool:
        return (chat, message_id) not in self._known and chat not in self._left and not self._outage.holds(chat)

    async def _take_up(self, message: Message, put: Put | None = None) -> None:
        """Do with a message that waits as with one that arrives; without `put` it has not been judged yet."""
        stays = False

        async def take(keep: bool) -> bool:
            nonlocal stays
            stays = keep
            return keep or await self._store.leave(message)

        await self._accept(message, take, judged=put is not None, put=put)
        if not stays:
            await self._store.leave(message)

    def move(self, old: ChatKey, new: ChatKey) -> None:
        """Let what was left in a chat wait in what it has become."""
        if left := self._left.pop(old, None):
            there = self._left.get(new, Unfinished())
            self._left[new] = Unfinished(there.turns + left.turns, [*there.waiting, *left.waiting])
            self._next[new.platform].append(new)

    async def idle(self) -> None:
        """Wait until all that was left has been taken up."""
        while self._working:
            await asyncio.wait(self._working)

    async def aclose(self) -> None:
        """Queue no more; what is left is taken up at the next start."""
        for working in self._working:
            working.cancel()
        await self.idle()


async def _ended(entries: Sequence[Entry]) -> None:
    await asyncio.gather(*(entry.done for entry in entries))
