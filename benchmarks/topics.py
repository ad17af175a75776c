"""A tree of 100,000 topics, 10,000 levels deep, in SQLite: how long each thing takes.

Run it as `python -m benchmarks.topics`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from adapters.sql import open_store
from adapters.tiktoken import TiktokenCounter
from core.clock import SystemClock
from core.conversation import Turn
from core.messages import ChatKey, Person
from core.topics import Topics

T = TypeVar("T")
NODES, DEPTH = 100_000, 10_000


async def timed(what: str, work: Awaitable[T]) -> T:
    started = time.perf_counter()
    result = await work
    print(f"{what:<45}{(time.perf_counter() - started) * 1000:>10.1f} ms")
    return result


async def main() -> None:
    with TemporaryDirectory() as folder:
        store = await open_store(str(Path(folder) / "keepmind.db"))
        chat = ChatKey("console", "bench")
        topics = Topics(store, chat, Person("console", "ann"), SystemClock(), TiktokenCounter("gpt-4o-mini"))
        top = await topics.add_after(None, "a topic of a few words")
        (turn,) = await store.line(chat, top)
        deep = [node(turn, n, n - 1 or None, inside=True) for n in range(1, DEPTH + 1)]
        wide = [node(turn, n, n % DEPTH or 1, inside=n % 3 == 0) for n in range(DEPTH + 1, NODES)]
        added = await timed(f"add {NODES:,} nodes at once", store.add_turns(chat, [*deep, *wide], under=top))
        deepest = added[DEPTH - 1].id
        new = await timed("add one inside the deepest", topics.add_inside(deepest, "one more"))
        await timed("add one after it", topics.add_after(new, "and one after it"))
        await timed(f"what is related to it, {DEPTH:,} nodes", topics.related(new))
        await timed("its level", topics.level(new))
        await timed("children of the deepest", topics.children(deepest))
        await timed("walk over all", _walked(topics))
        await timed("update one", topics.update(new, "in other words"))
        await timed("delete one", topics.delete(new))
        await timed("delete half of the depth", topics.delete(added[DEPTH // 2].id))
        assert await store.verify() == []
        await store.aclose()


def node(like: Turn, number: int, parent: int | None, *, inside: bool) -> Turn:
    """Make a node that says what another does."""
    message = replace(like.message, id=f"topic:{number}")
    return replace(like, id=number, parent=parent, inside=inside, messages=(message,))


async def _walked(topics: Topics) -> int:
    return len([place async for place in topics.walk()])


if __name__ == "__main__":
    asyncio.run(main())
