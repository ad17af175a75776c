"""What every ConversationStore holds to about what a person brings along from elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.conversation import Answer, PersonSettings, Segment, State, ToolResult, ToolRound, Turn
from core.errors import StaleBase
from core.llm import ToolCall
from core.messages import PRIVATE
from core.records import Brought
from core.store import ConversationStore
from tests.contract.talk import ANN, GROUP, PRIVATE_CHAT, START, Talk, change, fact, message


def line(count: int) -> list[Turn]:
    """Make turns as a file numbers them."""
    return [
        Turn(
            100 + number,
            99 + number if number else None,
            PRIVATE_CHAT,
            State.DELIVERED,
            (message(f"line {number}", f"old#{number}"),),
            answer=Answer(f"answer {number}"),
            tokens=7,
            at=START,
        )
        for number in range(count)
    ]


async def test_all_of_it_is_stored(store: ConversationStore) -> None:
    round_ = ToolRound((ToolCall("c", "look", "{}"),), (ToolResult("c", "found"),))
    turns = [*line(5), replace(line(6)[5], rounds=(round_,)), replace(line(7)[6], state=State.HEARD, answer=None)]
    gist = Segment(9, 101, 103, "gist", 3, 2)
    brought = Brought(
        PRIVATE_CHAT,
        past={PRIVATE: [change("p1", None, fact("pets", "dog")), change("p2", fact("city", "Rome"))]},
        changes={PRIVATE: [change("c1", fact("name", "Ann"))], GROUP.scope: [change("c1", fact("name", "Annie"))]},
        settings=PersonSettings(memory="ask"),
        turns=turns,
        segments=[gist],
        head=106,
    )
    await store.bring_in(ANN, brought)
    talk = await store.load(PRIVATE_CHAT, ANN)
    assert [step.text if isinstance(step, Segment) else step.message.text for step in talk.path] == [
        "line 0", "line 1", "gist", "line 4", "line 5", "line 6",
    ]  # fmt: skip
    assert talk.turns[3].rounds == (round_,)
    assert talk.head == talk.turns[-1].id
    assert [t.message.text for t in await store.covered(talk.segments[0])] == ["line 2", "line 3"]
    assert dict(talk.facts) == {"name": "Ann"}
    assert dict(await store.known(ANN, GROUP.scope)) == {"name": "Annie"}
    assert [c.call for c in await store.changes(ANN, PRIVATE)] == ["c1", "p2", "p1"]
    assert talk.settings == PersonSettings(memory="ask")
    assert await store.open_turns() == []


async def test_the_talk_goes_on_after_it(store: ConversationStore) -> None:
    await store.bring_in(ANN, Brought(PRIVATE_CHAT, turns=line(3), head=102))
    await Talk(store).says("and on")
    assert [t.message.text for t in (await store.load(PRIVATE_CHAT, ANN)).turns][-2:] == ["line 2", "and on"]


async def test_where_there_are_turns_nothing_is_stored(store: ConversationStore) -> None:
    await Talk(store).says("hello")
    changes = {PRIVATE: [change("c1", fact("name", "Ann"))]}
    with pytest.raises(StaleBase):
        await store.bring_in(ANN, Brought(PRIVATE_CHAT, changes=changes, past=changes, turns=line(2)))
    talk = await store.load(PRIVATE_CHAT, ANN)
    assert len(talk.turns) == 1
    assert not talk.facts
    assert await store.changes(ANN, PRIVATE) == []


async def test_what_was_brought_before_is_passed_over(store: ConversationStore) -> None:
    brought = Brought(
        PRIVATE_CHAT,
        past={PRIVATE: [change("p1", fact("city", "Rome"))]},
        changes={PRIVATE: [change("c1", fact("name", "Ann"))]},
    )
    for _ in range(2):
        await store.bring_in(ANN, brought)
    assert [c.call for c in await store.changes(ANN, PRIVATE)] == ["c1", "p1"]
    assert await store.settings(ANN) == PersonSettings()


async def test_what_was_brought_is_erased_with_its_chat(store: ConversationStore) -> None:
    named = fact("name", "Zanzibar", turn=replace(line(1)[0], id=0))
    past, changes = {PRIVATE: [change("p1", None, named)]}, {PRIVATE: [change("c1", named)]}
    await store.bring_in(ANN, Brought(PRIVATE_CHAT, past, changes, turns=line(2), head=101))
    receipt = await store.erase_chat(PRIVATE_CHAT)
    assert receipt.counts["turns"] == 2
    for text in ("Zanzibar", "line 1"):
        assert await store.holds(text) == []


async def test_branches_and_open_asides_come_along(store: ConversationStore) -> None:
    one, two, three = line(3)
    anew = replace(two, id=103, parent=100, retry_of=101, answer=Answer("another answer"))
    within = replace(line(4)[3], id=104, parent=103, inside=True)
    turns, gist = [one, two, three, anew, within], Segment(9, 100, 102, "gist", 3, 2)
    await store.bring_in(ANN, Brought(PRIVATE_CHAT, turns=turns, segments=[gist], head=104, asides=[None, 103]))
    talk = await store.load(PRIVATE_CHAT, ANN)
    ids = [branch.turn for branch in await store.branches(PRIVATE_CHAT)]
    assert [b.parent for b in await store.branches(PRIVATE_CHAT)] == [None, ids[0], ids[1], ids[0], ids[3]]
    assert [turn.id for turn in talk.turns] == [ids[0], ids[3], ids[4]]
    assert (talk.head, talk.asides) == (ids[4], (None, ids[3]))
    assert (talk.turns[1].retry_of, talk.turns[2].inside) == (ids[1], True)
    await store.move_head(talk, ids[2], asides=[])
    assert [s.text for s in (await store.load(PRIVATE_CHAT, ANN)).segments] == ["gist"]
    assert (await store.erase_turn(PRIVATE_CHAT, ids[3])).counts["turns"] == 2, "and what it answered anew"


async def test_a_talk_may_have_come_to_before_its_first_turn(store: ConversationStore) -> None:
    await store.bring_in(ANN, Brought(PRIVATE_CHAT, turns=line(2)))
    talk = await store.load(PRIVATE_CHAT, ANN)
    assert (talk.head, talk.path) == (None, ())
    assert len(await store.branches(PRIVATE_CHAT)) == 2
