"""What is particular to the store in SQLite: the file, other programs that use it, and what is left on the disk."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.sql import SqlStore, buttons, open_store, usage
from adapters.sql.inbox import EXPIRE, RECEIVE, WAITING, WAITING_KEYS
from adapters.sql.jobs import QUIET
from adapters.sql.turns import OPEN, OPEN_CHATS
from core.conversation import Answer, PersonSettings, State
from core.errors import StaleEpoch
from core.messages import PRIVATE, ChatKey, Person
from core.records import Job
from tests.contract.talk import ANN, BOB, GROUP, PRIVATE_CHAT, START, Talk, change, fact

MARKER = "zanzibar"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keepmind.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqlStore]:
    opened = await open_store(f"sqlite:///{path}")
    yield opened
    await opened.aclose()


@pytest.fixture
async def other(path: Path, store: SqlStore) -> AsyncIterator[SqlStore]:
    """A second program on the same file."""
    opened = await open_store(str(path))
    yield opened
    await opened.aclose()


def bytes_on_disk(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob(path.name + "*")))


def by_hand(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


async def test_what_was_stored_is_there_after_opening_again(path: Path) -> None:
    store = await open_store(str(path))
    await Talk(store).says("hello")
    before = await store.load(PRIVATE_CHAT)
    await store.aclose()
    await store.aclose()
    again = await open_store(str(path))
    assert await again.load(PRIVATE_CHAT) == before
    await again.aclose()


async def test_closing_leaves_one_file_that_holds_everything(path: Path) -> None:
    store = await open_store(str(path))
    await Talk(store).says(MARKER)
    await store.apply(ANN, PRIVATE, [change("1", fact("name", "Ann"))])
    await store.aclose()
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert MARKER.encode() in bytes_on_disk(path)


async def test_nothing_erased_is_left_in_the_file_or_its_log(path: Path, store: SqlStore) -> None:
    talk, group = Talk(store), Talk(store, GROUP)
    for n in range(40):
        await talk.says(f"{MARKER} {n} " + MARKER * 300)
        await group.says(f"{MARKER} {n}", ANN if n % 2 else BOB)
    await talk.folds(0, 20, MARKER)
    await talk.arrives(MARKER)
    await store.apply(ANN, PRIVATE, [change(str(n), fact(f"k{n}", MARKER)) for n in range(30)])
    await store.choose(ANN, lambda _: PersonSettings(language=MARKER))
    assert MARKER.encode() in bytes_on_disk(path)
    await store.erase_person(ANN)
    await store.erase_chat(GROUP)
    assert await store.holds(MARKER) == []
    assert MARKER.encode() not in bytes_on_disk(path)


async def test_an_erased_turn_and_fact_leave_the_disk_as_well(path: Path, store: SqlStore) -> None:
    turn = await Talk(store).says(MARKER)
    await store.erase_turn(PRIVATE_CHAT, turn.id)
    await store.apply(ANN, PRIVATE, [change("1", fact("city", MARKER))])
    await store.erase_fact(ANN, PRIVATE, "city")
    assert MARKER.encode() not in bytes_on_disk(path)


async def test_what_another_program_writes_is_seen_at_once(store: SqlStore, other: SqlStore) -> None:
    ours, theirs = Talk(store), Talk(other, said=100)
    for n in range(5):
        await ours.says(f"ours {n}")
        answered = await theirs.says(f"theirs {n}")
        await other.progress(answered.id, chunk=3, preview="9", state=State.DELIVERED)
        await other.apply(ANN, PRIVATE, [change(f"call {n}", fact(f"key_{n}", "x"))])
        chosen = PersonSettings(language=f"l{n}")
        await other.choose(ANN, lambda _, chosen=chosen: chosen)  # type: ignore[misc]
        assert await store.load(PRIVATE_CHAT, ANN) == await other.load(PRIVATE_CHAT, ANN)
    await theirs.folds(0, 3)
    await other.edit(PRIVATE_CHAT, "5", "edited")
    conversation = await store.load(PRIVATE_CHAT, ANN)
    assert conversation == await other.load(PRIVATE_CHAT, ANN)
    assert (len(conversation.path), len(conversation.facts), conversation.settings.language) == (7, 5, "l4")


async def test_a_turn_is_begun_by_one_of_two_programs(store: SqlStore, other: SqlStore) -> None:
    arrived = await Talk(store).arrives("hello")
    begun = [s.open([arrived], tokens=1, at=START) for s in (store, other, store, other)]
    outcomes = await asyncio.gather(*begun, return_exceptions=True)
    assert sum(isinstance(outcome, StaleEpoch) for outcome in outcomes) == 3
    assert (await store.stats()).turns == 1


async def test_fifty_writers_in_two_programs_see_no_error_and_lose_nothing(store: SqlStore, other: SqlStore) -> None:
    async def live(n: int) -> None:
        talk = Talk(other if n % 2 else store, ChatKey("telegram", str(n)))
        for text in ("one", "two"):
            await talk.says(text, Person("telegram", str(n)))

    await asyncio.gather(*(live(n) for n in range(50)))
    assert (await store.stats()).turns == 100
    assert await other.verify() == []


async def test_a_job_is_claimed_by_one_of_two_programs(store: SqlStore, other: SqlStore) -> None:
    for n in range(20):
        await store.enqueue(Job("fold", str(n), START))
    claims = await asyncio.gather(*(s.claim(f"{n}", START, lease=9, limit=5) for n, s in enumerate([store, other] * 4)))
    assert sorted(int(job.key) for claim in claims for job in claim) == list(range(20))


async def test_a_cache_smaller_than_the_chats_is_still_right(path: Path) -> None:
    store = await open_store(str(path), steps=5)
    talks = [Talk(store, ChatKey("telegram", str(n))) for n in range(5)]
    for _ in range(3):
        for talk in talks:
            await talk.says("hello")
    assert [len((await talk.loaded()).path) for talk in talks] == [3] * 5
    await store.aclose()


async def test_the_cached_path_is_what_the_database_holds(path: Path, store: SqlStore) -> None:
    talk = Talk(store)
    for n in range(12):
        await talk.says(f"turn {n}")
    await talk.folds(0, 3)
    await talk.folds(1, 2)
    await talk.folds(0, 1)
    turn = await talk.opens("last")
    await store.save(replace(turn, state=State.ANSWERED, answer=Answer("yes\0")))
    await store.progress(turn.id, chunk=1, preview="p", state=State.DELIVERED)
    fresh = await open_store(str(path))
    assert await store.load(PRIVATE_CHAT, ANN) == await fresh.load(PRIVATE_CHAT, ANN)
    await fresh.aclose()


async def test_with_full_synchronisation_everything_works_the_same(path: Path) -> None:
    store = await open_store(str(path), synchronous="FULL")
    await Talk(store).says("hello")
    assert (await store.stats()).turns == 1
    await store.aclose()


async def test_a_cancelled_caller_leaves_the_store_working(store: SqlStore) -> None:
    tasks = [asyncio.create_task(store.verify()) for _ in range(3)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert await store.verify() == []


def plan(path: Path, sql: str) -> str:
    connection = sqlite3.connect(path)
    rows = connection.execute(f"EXPLAIN QUERY PLAN {sql}", [1] * sql.count("?")).fetchall()
    connection.close()
    return " ".join(row[3] for row in rows)


async def test_quiet_chats_open_turns_what_waits_and_what_is_over_are_found_by_an_index(
    path: Path, store: SqlStore
) -> None:
    assert "inbox_waiting" in plan(path, WAITING.text)
    assert "inbox_waiting" in plan(path, RECEIVE.text)
    assert "USING INDEX ix_chat_awake_at" in plan(path, QUIET.text)
    assert "turn_open" in plan(path, OPEN.text)
    assert "turn_open" in plan(path, OPEN_CHATS.text)
    assert "inbox_waiting" in plan(path, WAITING_KEYS.text)
    assert "inbox_bare" in plan(path, EXPIRE.text)
    assert "ix_usage_day" in plan(path, usage.EXPIRE.text)
    assert "ix_button_at" in plan(path, buttons.EXPIRE.text)


async def test_a_text_that_is_in_no_table_but_still_in_a_file_is_told(path: Path) -> None:
    store = await open_store(str(path))
    await Talk(store).says(MARKER)
    await store.erase_chat(PRIVATE_CHAT)
    assert [*await store.holds(MARKER), *await store.remains(MARKER)] == []
    left = path.with_name(path.name + "-journal")
    left.write_bytes(b"old " + MARKER.encode())
    assert await store.remains(MARKER) == [f"the file {left}"]
    await store.aclose()


async def test_an_edited_text_stays_in_no_file(path: Path) -> None:
    store = await open_store(str(path))
    turn = await Talk(store).opens(MARKER)
    assert await store.remains(MARKER) != []
    await store.edit(PRIVATE_CHAT, turn.message.id, "another")
    assert await store.remains(MARKER) == []
    await store.aclose()
