"""A large tree of topics: nothing of it hangs on how deep or how wide it is."""

from __future__ import annotations

from dataclasses import replace

from adapters.inmemory import InMemoryStore
from core.messages import Person
from core.topics import Topics
from tests.driving import ANNA
from tests.fakes import FakeClock, WordCounter


async def test_ten_thousand_levels_and_twice_as_many_nodes_are_no_trouble() -> None:
    store = InMemoryStore()
    topics = Topics(store, ANNA, Person("test", "anna"), FakeClock(), WordCounter())
    top = await topics.add_after(None, "top")
    (turn,) = await store.line(ANNA, top)
    deep = [replace(turn, id=n, parent=n - 1 or None, inside=True) for n in range(1, 10_001)]
    wide = [replace(turn, id=n, parent=n % 9_999 + 2, inside=n % 3 == 0) for n in range(10_001, 20_000)]
    nodes = [added.id for added in await store.add_turns(ANNA, [*deep, *wide], under=top)]
    assert await topics.level(nodes[9_999]) == 10_000
    assert [t.id for t in await topics.related(nodes[9_999])] == [top, *nodes[:9_999]]
    assert len([place async for place in topics.walk()]) == 20_000
    new = await topics.add_inside(nodes[9_999], "one more")
    assert new in await topics.children(nodes[9_999])
    assert await topics.update(new, "in other words")
    assert await topics.delete(nodes[0]) == 20_000
    assert [place.node async for place in topics.walk()] == [top]
