"""What the verifier of a database tells: each thing that no longer holds is damaged here by hand, and named."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from adapters.sql import SqlStore, open_store
from core.conversation import PersonSettings
from core.messages import PRIVATE
from core.notes import Note
from core.records import Job
from tests.contract.talk import ANN, PRIVATE_CHAT, START, Talk, change, fact
from tests.postgresql import Server

CHAT = "telegram:5000000000"
ROUND = '[{"calls":%s,"results":%s,"text":""}]'
CALL, RESULT = '[{"id":"a","name":"n","arguments":""}]', '[{"call_id":"a","content":""}]'
TREE = [
    ("UPDATE turn SET parent = 99 WHERE id = 2", f"Turn 2 of {CHAT} has a parent"),
    ("UPDATE turn SET parent = 3 WHERE id = 2", f"Turn 2 of {CHAT} has a parent"),
    ("UPDATE chat SET head = 99", f"The head 99 of {CHAT} does not exist"),
    ("UPDATE chat SET asides = '[7]'", f"An open aside of {CHAT} was not begun on the way"),
    ("UPDATE turn SET retry_of = 99 WHERE id = 2", f"Turn 2 of {CHAT} answers anew what turn 99 said"),
    ("UPDATE turn SET messages = '[]' WHERE id = 1", f"Turn 1 of {CHAT} can't be read"),
    ("UPDATE turn SET state = 'lost' WHERE id = 1", f"Turn 1 of {CHAT} can't be read"),
    ("UPDATE turn SET messages = (SELECT messages FROM turn WHERE id = 2)", f"Message 2 of {CHAT} is in the turns 1"),
    ("UPDATE turn SET messages = REPLACE(messages, '5000000000', '6000000000')", f"What was said in turn 1 of {CHAT}"),
    ("UPDATE turn SET sender = 'telegram:6000000000'", f"What was said in turn 1 of {CHAT} was said by another"),
    ("UPDATE turn SET epoch = 9 WHERE id = 1", f"The epoch of turn 1 of {CHAT} has not come"),
    ("UPDATE turn SET answer = NULL, state = 'answered' WHERE id = 1", f"There is no answer in turn 1 of {CHAT}"),
    ("UPDATE turn SET answer = NULL, chunk = 2 WHERE id = 1", f"There is no answer in turn 1 of {CHAT}"),
    (f"UPDATE turn SET rounds = '{ROUND % (CALL, '[]')}'", f"A tool round of turn 1 of {CHAT}"),
    (f"UPDATE turn SET rounds = '{ROUND % ('[]', RESULT)}'", f"A tool round of turn 1 of {CHAT}"),
]
SEGMENTS = [
    ("UPDATE turn SET checkpoint = NULL", "The checkpoint of turn 2"),
    ("UPDATE turn SET checkpoint = 1", "The checkpoint of turn 1"),
    ("UPDATE segment SET before = 1", f"Segment 1 of {CHAT} does not cover"),
    ("UPDATE segment SET before = 3", f"Segment 1 of {CHAT} does not cover"),
    ("UPDATE segment SET turns = 1", f"Segment 1 of {CHAT} does not cover"),
    ("UPDATE segment SET text = ' '", f"Segment 1 of {CHAT} says nothing"),
    (
        "INSERT INTO segment (chat, before, last, text, tokens, turns, made_by) "
        f"VALUES ('{CHAT}', 1, 3, 'x', 1, 3, 'model')",
        f"Segment 2 of {CHAT} does not cover",
    ),
]
INBOX = [
    ("UPDATE inbox SET turn = 99 WHERE message = '1'", "The turn 99 that took message 1"),
    ("UPDATE inbox SET body = '[]' WHERE message = '1'", f"Message 1 of {CHAT} waits, though the turn 1 has taken it"),
    ("UPDATE inbox SET body = '[]' WHERE message = '4'", f"The waiting message 4 of {CHAT} can't be read"),
    ("UPDATE inbox SET message = '9' WHERE message = '4'", f"The waiting message 9 of {CHAT} can't be read"),
]
FACTS = [
    ("UPDATE fact SET body = 'x'", f"The fact name of {ANN} in private can't be read"),
    ("""UPDATE fact SET body = '{"key":"name","items":[]}'""", f"The fact name of {ANN}"),
    ("UPDATE fact SET key = 'age'", f"The fact age of {ANN} in private can't be read"),
    (
        """UPDATE fact SET body = REPLACE(body, '"turn":1', '"turn":99')""",
        f"The fact name of {ANN} in private comes from",
    ),
    ("DELETE FROM source", f"The fact name of {ANN} in private would outlive what it comes from"),
    ("UPDATE source SET turn = 99 WHERE turn = 1", f"What is known of {ANN} in private is said to come from turn 99"),
    ("UPDATE change SET body = 'x'", f"A change of the fact name of {ANN} in private can't be read"),
    ("UPDATE change SET turn = 99", f"A change of the fact name of {ANN} in private was made in turn 99"),
    (
        """UPDATE change SET body = REPLACE(body, '"turn":1,"quote"', '"turn":99,"quote"')""",
        f"A change of the fact name of {ANN} in private comes from turn 99",
    ),
    ("UPDATE person SET settings = 'x'", f"What {ANN} chose can't be read"),
]
REST = [
    ("UPDATE job SET key = '99' WHERE kind = 'extract'", "The job extract is about 99, which does not exist"),
    ("UPDATE job SET key = 'telegram:9#again' WHERE kind = 'compact'", "The job compact is about telegram:9,"),
    ("UPDATE archive SET turn = 99 WHERE turn = 1", f"The archive of {CHAT} still knows turn 99"),
    ("UPDATE archive SET chat = 'telegram:9' WHERE turn = 1", "The archive of telegram:9 still knows turn 1"),
    ("UPDATE archive SET parent = NULL WHERE turn = 2", f"The archive of {CHAT} does not know the place of turn 2"),
    ("UPDATE entity SET turn = 99 WHERE name = 'Rome'", f"The names of {CHAT} still lead to turn 99"),
    ("UPDATE note SET turn = 99", f"The note todo of {ANN} is of a turn 99"),
    (f"INSERT INTO link VALUES ('{ANN}', 'alone')", "The view alone links an account with no other"),
]
Damage = Callable[[str], None]


@pytest.fixture(params=["sqlite", "postgresql"])
async def kept(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[SqlStore, Damage]]:
    """A store that holds something of every kind, and what damages it by hand."""
    path = tmp_path / "keepmind.db"
    if request.param == "sqlite":
        store, damage = await open_store(str(path)), _damaging_file(path)
    else:
        server: Server = request.getfixturevalue("postgresql")
        url = server.cleared()
        store, damage = await open_store(url), lambda statement: (server.run(statement, url=url), None)[1]
    async with aclosing(store):
        await _fill(store)
        yield store, damage


def _damaging_file(path: Path) -> Damage:
    def damage(statement: str) -> None:
        connection = sqlite3.connect(path)
        connection.execute(statement)
        connection.commit()
        connection.close()

    return damage


async def _fill(store: SqlStore) -> None:
    talk = Talk(store)
    turns = [await talk.says(f"turn {n}, in Rome") for n in range(3)]
    await talk.folds(0, 1)
    await talk.arrives("and this waits")
    name = fact("name", "Ann", turn=turns[0])
    await store.apply(ANN, PRIVATE, [change("1", name, turn=turns[0])], turn=turns[0])
    await store.choose(ANN, lambda _: PersonSettings(memory="ask"))
    await store.name(PRIVATE_CHAT, {turns[0].id: ["Rome"]})
    await store.note(ANN, PRIVATE, Note("todo:Todo", "todo", "buy milk", str(PRIVATE_CHAT), turns[0].id))
    for kind, key in (("extract", str(turns[0].id)), ("compact", f"{PRIVATE_CHAT}#again")):
        await store.enqueue(Job(kind, key, START))


@pytest.mark.parametrize(("damage", "sentence"), [*TREE, *SEGMENTS, *INBOX, *FACTS, *REST])
async def test_the_verifier_names_each_fault(kept: tuple[SqlStore, Damage], damage: str, sentence: str) -> None:
    store, by_hand = kept
    assert await store.verify() == []
    by_hand(damage)
    faults = await store.verify()
    assert any(fault.startswith(sentence) for fault in faults), faults
    assert all("\n" not in fault and "in Rome" not in fault for fault in faults)
    if (damage, sentence) in TREE + SEGMENTS and "can't be read" not in sentence:
        await asyncio.wait_for(store.load(PRIVATE_CHAT, ANN), 5)  # and a walk comes to an end
