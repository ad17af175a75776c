"""What waits until the model, or the database, is back: which chats, and when each is tried again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from itertools import islice

from core.clock import Clock
from core.llm import LLM
from core.messages import ChatKey
from core.personas import Places

logger = logging.getLogger("keepmind.engine")
FIRST_WAIT, LONGEST_WAIT = 5.0, 60.0
"""After how many seconds what waits is tried again: at first, and at most, twice as long each time."""


class Outage:
    """The chats that wait, in the order in which they began to. What was said there lies in the store alone.

    A chat waits when its model could not be reached for it. When that is so of two chats, and none was answered in
    between, the model is down: then it is asked for one chat after the other, ever more rarely, until it answers;
    nobody else waits for it in vain. `resume` takes up what waits in a chat, at most `parallel` chats at a time.
    """

    def __init__(self, clock: Clock, parallel: int, models: Places[LLM]) -> None:
        self.resume: Callable[[ChatKey], Awaitable[None]] = _nothing
        self._clock = clock
        self._parallel = parallel
        self._models = models
        self._held: dict[ChatKey, None] = {}
        self._tried: set[ChatKey] = set()
        self._failed: dict[int, set[ChatKey]] = {id(model): set() for model in (models.usual, *models.others.values())}
        self._trying: asyncio.Task[None] | None = None
        self._resuming: set[asyncio.Task[None]] = set()
        self._sending: dict[ChatKey, asyncio.Event] = {}
        self._closed = False

    def is_everywhere(self) -> bool:
        """Say whether every model is down, as far as is known."""
        return all(len(failed) > 1 for failed in self._failed.values())

    def is_at(self, chat: ChatKey) -> bool:
        """Say whether the model of a chat is down, as far as is known."""
        return len(self._failed_with(chat)) > 1

    def _failed_with(self, chat: ChatKey) -> set[ChatKey]:
        return self._failed[id(self._models.of(chat))]

    def may_ask(self, chat: ChatKey) -> bool:
        """Say whether the model may be asked for a chat."""
        return not self.is_at(chat) or chat in self._tried

    def failed(self, chat: ChatKey) -> None:
        """Note that the model could not be reached for a chat."""
        if not self.is_at(chat):
            self._failed_with(chat).add(chat)

    def answered(self, chat: ChatKey) -> None:
        """Note that the model has answered in a chat."""
        self._failed_with(chat).clear()

    def sending(self, chat: ChatKey) -> None:
        """Note that all that is left to do for a turn is to send something, however long its platform is away."""
        if chat in self._sending:
            self._sending[chat].set()

    def __iter__(self) -> Iterator[ChatKey]:
        return iter(list(self._held))

    def holds(self, chat: ChatKey) -> bool:
        """Say whether what is said in a chat is to stay in the inbox for now."""
        return chat in self._held

    def knows(self, chat: ChatKey) -> bool:
        """Say whether a chat waits, or is just being tried again."""
        return chat in self._held or chat in self._tried

    def hold(self, chat: ChatKey, why: str) -> None:
        """Let a chat wait."""
        if not self._held and not self._tried:
            logger.error("what is said now waits to be answered: %s", why)
        self._held[chat] = None
        if not self._closed and (self._trying is None or self._trying.done()):
            self._trying = asyncio.create_task(self._try_again())

    def release(self, chat: ChatKey) -> None:
        """Let a chat wait no longer."""
        self._held.pop(chat, None)

    def move(self, old: ChatKey, new: ChatKey) -> None:
        """Let what a chat has become wait in its place."""
        if old in self._held:
            self.release(old)
            self._held[new] = None

    async def _try_again(self) -> None:
        wait = FIRST_WAIT
        while self._held:
            await self._clock.sleep(wait)
            chats = list(islice(self._next(), self._parallel))
            await asyncio.gather(*map(self._try, chats))
            in_vain = any(self.is_at(chat) or self.holds(chat) for chat in chats)
            wait = min(max(2 * wait, FIRST_WAIT), LONGEST_WAIT) if in_vain else 0
        logger.warning("nothing waits any more")

    def _next(self) -> Iterator[ChatKey]:
        """Give the chats to be tried next: of those whose model is down one for each model."""
        asked: set[int] = set()
        for chat in self._held:
            model = id(self._models.of(chat))
            if not (self.is_at(chat) and model in asked):
                asked.add(model)
                yield chat

    async def _try(self, chat: ChatKey) -> None:
        """Take up a chat, and wait until that ends, or until there is something to send: others don't wait for that."""
        self._tried.add(chat)
        self._sending[chat] = sending = asyncio.Event()
        resuming = asyncio.create_task(self._resume(chat))
        self._resuming.add(resuming)
        resuming.add_done_callback(self._resuming.discard)
        resuming.add_done_callback(lambda _: sending.set())
        await sending.wait()

    async def _resume(self, chat: ChatKey) -> None:
        try:
            await self.resume(chat)
        except Exception as error:  # whatever one chat meets, the others are tried
            logger.warning("what waits in %s can't be taken up: %s", chat, type(error).__name__)
        finally:
            self._tried.discard(chat)
            self._sending.pop(chat, None)

    async def aclose(self) -> None:
        """Try no more; what waits is taken up at the next start."""
        self._closed = True
        for task in (self._trying, *self._resuming):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])


async def _nothing(chat: ChatKey) -> None:
    """Take up nothing."""
