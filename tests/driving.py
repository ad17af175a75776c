"""What tests share that drive a World: waiting for what comes, holding a platform up, killing a process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Literal, cast

from core.adapter import Outgoing
from core.conversation import Turn
from core.messages import ChatKey
from core.store import ConversationStore
from tests.fakes import FakeAdapter, HeldClock, World

ANNA = ChatKey("test", "anna")
BOB = ChatKey("test", "bob")


async def until(condition: Callable[[], object]) -> None:
    """Let others run until a condition holds."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 -- what tests wait for rings no bell
            await asyncio.sleep(0)


async def waits(world: World, seconds: float) -> None:
    """Let time pass in a world with a held clock, where what has to wait for it waits."""
    clock = world.clock
    assert isinstance(clock, HeldClock)
    ends = clock.now() + timedelta(seconds=seconds)
    await _rests(world, clock)
    while clock.wake_first(ends):
        await _rests(world, clock)


async def _rests(world: World, clock: HeldClock) -> None:
    """Wait until all that is left to do waits for time to pass."""
    outage = world.engine.shared.outage
    async with asyncio.timeout(20):  # a real database may take its time
        while not clock.sleepers and (list(outage) or world.engine.busy):  # noqa: ASYNC110 -- nothing rings a bell
            await asyncio.sleep(0)


async def turns(world: World, chat: ChatKey = ANNA) -> Sequence[Turn]:
    """Give the raw turns of a chat."""
    return (await world.store.load(chat)).turns


class Gate(asyncio.Event):
    """An event that knows how many came to wait for it; `held` says that somebody did."""

    def __init__(self) -> None:
        super().__init__()
        self.held = asyncio.Event()
        self.waiting = 0

    async def wait(self) -> Literal[True]:
        self.waiting += 1
        self.held.set()
        return await super().wait()


def hold(world: World) -> Gate:
    """Let the model hang, once asked, until the gate is set."""
    world.llm.gate = gate = Gate()
    return gate


class HeldAdapter(FakeAdapter):
    """A platform whose call with a given number (from zero) hangs until `free` is set; `held` says that it does."""

    def __init__(self, at: int, *, limit: int = 4000) -> None:
        super().__init__(limit=limit)
        self.at = at
        self.held = asyncio.Event()
        self.free = asyncio.Event()

    async def _maybe_fail(self, kind: str, out: Outgoing) -> None:
        number = len(self.calls)
        await super()._maybe_fail(kind, out)
        if number == self.at:
            self.held.set()
            await self.free.wait()


class Life:
    """A process that can be killed: from its `last` call of a port on, nothing it does reaches the outside."""

    def __init__(self, last: int | None = None) -> None:
        self.last = last
        self.calls = 0
        self.dead = asyncio.Event()

    async def call(self, method: Callable[..., Any], *args: Any, **more: Any) -> Any:
        """Do one call of a port, unless dead; the last one is done and never comes back."""
        if self.dead.is_set():
            await asyncio.Event().wait()
        self.calls += 1
        if self.last is None or self.calls < self.last:
            return await method(*args, **more)
        self.dead.set()
        await method(*args, **more)
        return await asyncio.Event().wait()

    def within(self, port: Any, *plain: str) -> Any:
        """Give a port as it is within this life; methods named `plain` are no calls to the outside."""
        return _Within(self, port, plain)


class _Within:
    def __init__(self, life: Life, port: Any, plain: Sequence[str]) -> None:
        self._life, self._port, self._plain = life, port, plain

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        if name in self._plain or not callable(found):
            return found

        async def call(*args: Any, **more: Any) -> Any:
            return await self._life.call(found, *args, **more)

        return call


def alive(store: ConversationStore, life: Life) -> ConversationStore:
    """Give a store as it is within a life."""
    return cast(ConversationStore, life.within(store))


async def kill() -> None:
    """End every task but this one, as the death of the process would; nothing they still do counts."""
    tasks = [t for t in asyncio.all_tasks() if t is not asyncio.current_task()]
    while tasks:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=0)
        tasks = [t for t in tasks if not t.done()]
