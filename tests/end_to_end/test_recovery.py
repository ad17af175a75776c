"""What was left open at a death, taken up by the next process: gone on with, or closed with one sentence."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine, update

from adapters.sql import SqlStore
from adapters.sql.rows import to_micros
from adapters.sql.tables import TURN
from core.conversation import State
from tests.end_to_end.crashing import HELLO, STORY, TALE, Place, Talk
from tests.end_to_end.talking import talking

TOO_OLD = "I was away when you wrote this; please ask again if it still matters."


@pytest.fixture
async def talk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Talk]:
    platform, database = request.param
    url = request.getfixturevalue("postgresql").cleared() if database == "postgresql" else ""
    async with talking(platform, tmp_path, url) as talk:
        await talk.begun()
        yield talk


EITHER = [("telegram", "postgresql"), ("discord", "sqlite")]
OTHER = [("telegram", "sqlite"), ("discord", "postgresql")]
SLOW = {"match": rf"({TALE} number \d+)$", "reply": r"Here is \1 " + "and so on " * 20 + "to its end.", "pace": 0.2}


def in_private(talk: Talk) -> int:
    """Count what is shown in the private chats."""
    return len(talk.shown(talk.places[0]) + talk.shown(talk.places[1]))


@pytest.mark.parametrize("talk", EITHER, indirect=True, ids=" ".join)
async def test_a_standby_goes_on_with_the_next_part_and_edits_the_preview(talk: Talk) -> None:
    """A story is half delivered and a tale half told when who serves dies."""
    talk.bot.server.rules.insert(0, {**SLOW, "times": 1})
    serving = await talk.forks.start("after send")
    await serving.serves()
    standby = await talk.forks.start()
    edits, begun = talk.edited, in_private(talk)
    talk.say(TALE)
    await talk.watch(lambda: talk.edited > edits)  # so its id is noted
    talk.say(STORY)
    assert await serving.ended == -9
    assert begun < in_private(talk) <= begun + 2
    await standby.serves()
    async with talk.opened() as store:
        await talk.settled(store)
    await standby.killed()
    figures = await talk.ended()
    assert (figures.ambiguous, figures.left_over) == (0, 0)


@pytest.mark.parametrize("talk", OTHER, indirect=True, ids=" ".join)
async def test_what_is_too_old_is_closed_with_one_sentence_and_what_is_younger_is_answered(talk: Talk) -> None:
    talk.bot.server.rules.insert(0, {**SLOW, "times": 1})
    fork = await talk.forks.start("after open", 2)
    talk.say(TALE)
    talk.say(HELLO)
    assert await fork.ended == -9
    places = [place for _, place in talk.said[-2:]]
    async with talk.opened() as store:
        assert [turn.state for turn in await store.open_turns()] == [State.RECEIVED] * 2
        await age(talk, store, places[1], timedelta(hours=7))
        async with talk.bot.served(talk.platform):
            await talk.settled(store)
        young, old = [(await talk.line(store, place))[-1] for place in places]
        assert (old.state, old.failure, old.answer) == (State.FAILED, "too old", None)
        assert young.state is State.DELIVERED
        assert await store.verify() == []
    assert talk.shown(places[1]).count(TOO_OLD) == 1
    assert talk.shown(places[1])[-1] == TOO_OLD
    assert talk.shown(places[0])[-1].endswith("to its end.")


async def age(talk: Talk, store: SqlStore, place: Place, by: timedelta) -> None:
    """Let what is open in a place be older."""
    (turn,) = [turn for turn in await store.open_turns() if turn.chat == place.chat]
    await store.reword(place.chat, turn.id, [replace(m, sent_at=m.sent_at - by) for m in turn.messages])
    engine = create_engine(talk.database.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(update(TURN).where(TURN.c.id == turn.id).values(at=to_micros(turn.at - by)))
    engine.dispose()
