"""What the archive keeps of a turn is gone from both databases, and from the file, when the turn is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from adapters.snowball import stem
from adapters.sql import SqlStore, open_store
from adapters.sql.database import Transaction
from adapters.sql.statement import Statement, insert
from adapters.sql.tables import ARCHIVE, POSTINGS, VECTOR
from core.conversation import State
from core.search.query import Query
from tests.contract.talk import PRIVATE_CHAT, Talk
from tests.postgresql import Server

KEPT = Statement(select(POSTINGS.c.chat, POSTINGS.c.places, POSTINGS.c.terms, POSTINGS.c.says))
VECTOR_BYTES = bytes(range(1, 128)) * 3


@pytest.fixture(params=["sqlite", "postgresql"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SqlStore]:
    if request.param == "sqlite":
        url = str(tmp_path / "keepmind.db")
    else:
        server: Server = request.getfixturevalue("postgresql")
        url = server.cleared()
    opened = await open_store(url, stem=stem)
    yield opened
    await opened.aclose()


async def put(store: SqlStore, statement: Statement, **values: object) -> None:
    def work(tx: Transaction) -> None:
        tx.many(statement, [values])

    await store._database.write(work)


@pytest.mark.parametrize("indexed", [False, True])
async def test_stems_are_found_only_where_they_should_not_be(store: SqlStore, indexed: bool) -> None:
    talk = Talk(store)
    await talk.says("the zeppelins are flying")
    other = await talk.says("a tiger")
    if indexed:
        await store.index(PRIVATE_CHAT)
    assert await store.holds("the zeppelin flies") == []
    stray = {"chat": str(PRIVATE_CHAT), "turn": other.id, "parent": None, "at": 0, "said": "zeppelin fli tiger "}
    await store.erase_turn(PRIVATE_CHAT, other.id)
    assert await store.holds("tigers") == []
    await put(store, Statement(insert(ARCHIVE).values(**stray, replied="")))
    assert await store.holds("tigers") == ["archive"]
    assert f"The archive of {PRIVATE_CHAT} still knows turn {other.id}, which does not exist there." in (
        await store.verify()
    )


async def test_postings_of_what_is_no_longer_said_are_found(store: SqlStore) -> None:
    turn = await Talk(store).opens("the zeppelins are flying")
    await store.save(replace(turn, state=State.FAILED))
    await store.index(PRIVATE_CHAT)
    [(chat, *body)] = await store._database.read(lambda tx: tx.rows(KEPT))
    await store.edit(PRIVATE_CHAT, turn.message.id, "a tiger")
    assert await store.holds("a zeppelin") == []
    places, terms, says = body
    await put(store, Statement(insert(POSTINGS).values(chat=chat, places=places, terms=terms, says=says)))
    assert await store.holds("a zeppelin") == ["postings"]
    assert f"The archive of {PRIVATE_CHAT} knows turn {turn.id} 2 times." in await store.verify()


async def test_a_vector_of_a_turn_that_does_not_exist_is_a_fault(store: SqlStore) -> None:
    stray = {"chat": str(PRIVATE_CHAT), "turn": 7, "model": "m", "body": b"\1\2"}
    await put(store, Statement(insert(VECTOR).values(**stray)))
    assert await store.verify() == [f"There is a vector of turn 7 of {PRIVATE_CHAT}, which does not exist there."]


async def test_no_file_holds_the_stems_or_the_vector_of_what_is_erased(tmp_path: Path) -> None:
    store = await open_store(str(tmp_path / "keepmind.db"), stem=stem)
    talk = Talk(store)
    turn = await talk.says("zeppelins 妈妈生日")
    for number in range(30):
        await talk.says(f"number {number}")
    await store.embed(PRIVATE_CHAT, "m", [(turn, VECTOR_BYTES)])
    await store.index(PRIVATE_CHAT)
    assert await store.search(PRIVATE_CHAT, Query("zeppelin"))
    await store.erase_turn(PRIVATE_CHAT, turn.id)
    content = await asyncio.to_thread(lambda: b"".join(file.read_bytes() for file in tmp_path.iterdir()))
    for trace in (b"zeppelin", "妈生".encode(), VECTOR_BYTES):
        assert trace not in content
    await store.aclose()
