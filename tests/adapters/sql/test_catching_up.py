"""The archive of a chat that was talked in while nothing was indexed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.sql import SqlStore, open_store
from core.conversation import Answer, State
from core.messages import ChatKey, Message, Person
from core.search.query import Query
from tests.fakes import START

CHAT, ANNA = ChatKey("test", "anna"), Person("test", "anna")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    opened = await open_store(str(tmp_path / "keepmind.db"), indexing=False)
    yield opened
    await opened.aclose()


async def say(store: SqlStore, number: int, text: str) -> int:
    message = Message(str(number), CHAT, ANNA, text, START)
    await store.receive(message)
    _, turn = await store.open([message], tokens=1, at=START)
    await store.save(replace(turn, state=State.ANSWERED, answer=Answer("I see.")))
    return turn.id


async def found(store: SqlStore, text: str) -> list[str]:
    return [turn.message.text for turn in await store.search(CHAT, Query(text))]


async def test_what_was_said_before_is_found_and_so_is_what_is_said_after_a_search(store: SqlStore) -> None:
    await say(store, 1, "The parrot is called Coco")
    assert await found(store, "parrot") == ["The parrot is called Coco"]
    await say(store, 2, "Another parrot is green")
    assert set(await found(store, "parrot")) == {"The parrot is called Coco", "Another parrot is green"}
    assert await store.verify() == []


async def test_it_is_found_by_the_words_it_was_edited_to(store: SqlStore) -> None:
    await say(store, 1, "The parrot is called Coco")
    await found(store, "parrot")
    await store.edit(CHAT, "1", "The ferret is called Coco")
    assert await found(store, "parrot") == []
    assert await found(store, "ferret") == ["The ferret is called Coco"]
    assert await store.verify() == []


async def test_what_is_erased_is_nowhere(store: SqlStore) -> None:
    turn = await say(store, 1, "The parrot is called Coco")
    await found(store, "parrot")
    await store.erase_turn(CHAT, turn)
    assert await found(store, "parrot") == []
    assert await store.holds("parrot") == []


async def test_turning_it_on_later_finds_what_was_said_before(store: SqlStore, tmp_path: Path) -> None:
    await say(store, 1, "The parrot is called Coco")
    indexing = await open_store(str(tmp_path / "keepmind.db"))
    try:
        assert [turn.message.text for turn in await indexing.unnamed(CHAT, limit=9)] == ["The parrot is called Coco"]
        await say(indexing, 2, "Another parrot is green")
        assert len(await found(indexing, "parrot")) == 2
    finally:
        await indexing.aclose()
