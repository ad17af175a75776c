"""What every ConversationStore holds to: going back, answering anew, asides; nothing left is lost or shown."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from core.conversation import Answer, Conversation, Segment, State, Turn
from core.errors import StaleBase, StaleEpoch
from core.messages import ChatKey
from core.store import ConversationStore
from tests.contract.talk import ANN, BOB, GROUP, PRIVATE_CHAT, Talk, change, fact, segment


async def a_talk(store: ConversationStore, turns: int) -> tuple[Talk, list[Turn]]:
    talk = Talk(store)
    return talk, [await talk.says(f"turn {n}") for n in range(turns)]


async def shown(talk: Talk) -> list[str]:
    """The path: what was said in raw turns, and the texts of segments."""
    path = (await talk.loaded()).path
    return [step.text if isinstance(step, Segment) else step.message.text for step in path]


async def goes_back(talk: Talk, to: Turn | None, *asides: int | None) -> Conversation:
    await talk.store.move_head(await talk.loaded(), to.id if to else None, asides=asides)
    return await talk.loaded()


async def answered_anew(talk: Talk, turn: Turn, answer: str) -> Turn:
    anew = await talk.store.retry(await talk.loaded(), turn, tokens=7, at=turn.at + timedelta(seconds=1))
    done = replace(anew, state=State.DELIVERED, answer=Answer(answer), tokens=20)
    await talk.store.save(done)
    return done


async def test_a_chat_goes_on_after_the_turn_its_head_was_moved_to(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 4)
    assert (await goes_back(talk, turns[1])).head == turns[1].id
    assert await shown(talk) == ["turn 0", "turn 1"]
    assert (await talk.says("turn 2, otherwise")).parent == turns[1].id
    assert await shown(talk) == ["turn 0", "turn 1", "turn 2, otherwise"]
    assert await store.turn(turns[3].id) == turns[3]


async def test_a_chat_can_go_back_to_before_its_first_turn(store: ConversationStore) -> None:
    talk, _ = await a_talk(store, 2)
    assert (await goes_back(talk, None)).path == ()
    assert (await talk.says("anew")).parent is None


async def test_a_branch_that_was_left_can_be_taken_up_again(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 3)
    await goes_back(talk, turns[0])
    await talk.says("elsewhere")
    await goes_back(talk, turns[2])
    assert await shown(talk) == ["turn 0", "turn 1", "turn 2"]


@pytest.mark.parametrize("to", [0, 1, 2, 3, 4])
async def test_past_a_segment_the_older_one_serves_or_the_turns_are_raw(store: ConversationStore, to: int) -> None:
    talk, turns = await a_talk(store, 5)
    await talk.folds(0, 1, "older")
    await talk.folds(0, 2, "newer")
    await goes_back(talk, turns[to])
    assert (
        await shown(talk)
        == [
            ["turn 0"],
            ["older"],
            ["older", "turn 2"],
            ["newer"],
            ["newer", "turn 4"],
        ][to]
    )


async def test_a_head_that_moved_meanwhile_is_not_moved_again(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 3)
    seen = await talk.loaded()
    moves = (store.move_head(seen, turns[0].id, asides=()) for _ in range(4))
    outcomes = await asyncio.gather(*moves, return_exceptions=True)
    assert [isinstance(outcome, StaleBase) for outcome in outcomes].count(True) == 3
    with pytest.raises(StaleBase):
        await store.retry(seen, turns[2], tokens=7, at=turns[2].at)
    assert await shown(talk) == ["turn 0"]


async def test_a_head_is_not_moved_once_the_epoch_has_risen_or_the_turn_is_gone(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 3)
    elsewhere = await Talk(store, GROUP).says("hello")
    seen = await talk.loaded()
    for missing in (elsewhere.id, 10**6, 2**70, -1):
        with pytest.raises(StaleBase):
            await store.move_head(seen, missing, asides=())
    await store.raise_epoch(PRIVATE_CHAT)
    with pytest.raises(StaleBase):
        await store.move_head(seen, turns[0].id, asides=())
    assert (await talk.loaded()).head == turns[2].id


async def test_a_turn_answered_anew_stands_beside_the_first(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 3)
    anew = await answered_anew(talk, turns[2], "better")
    assert (anew.parent, anew.retry_of, anew.messages) == (turns[1].id, turns[2].id, turns[2].messages)
    (*_, last) = (await talk.loaded()).turns
    assert last == anew
    assert last.answer == Answer("better")
    third = await answered_anew(talk, anew, "best")
    assert third.retry_of == turns[2].id
    assert await shown(talk) == ["turn 0", "turn 1", "turn 2"]


async def test_a_turn_begun_anew_is_open_until_it_is_answered(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 2)
    anew = await store.retry(await talk.loaded(), turns[1], tokens=7, at=turns[1].at)
    assert await store.open_turns() == [anew]
    await store.raise_epoch(PRIVATE_CHAT)
    with pytest.raises(StaleEpoch):
        await store.save(replace(anew, state=State.ANSWERED, answer=Answer("late")))


async def test_erasing_a_turn_takes_every_other_answer_to_it_along(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 3)
    anew = await answered_anew(talk, turns[1], "better")
    following = await talk.says("goes on")
    receipt = await store.erase_turn(PRIVATE_CHAT, anew.id)
    assert receipt.counts["turns"] == 2
    assert await shown(talk) == ["turn 0", "goes on"]
    assert await store.holds("turn 1") == []
    assert (await store.turn(following.id)) == replace(following, parent=turns[0].id)
    assert (await store.turn(turns[2].id)) == replace(turns[2], parent=turns[0].id)


async def test_erasing_or_editing_a_message_reaches_every_answer_to_it(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 2)
    await answered_anew(talk, turns[1], "better")
    assert await store.edit(PRIVATE_CHAT, turns[1].message.id, "reworded")
    assert await store.holds('"text":"turn 1"') == await store.holds("turn 1\\") == []
    for id_ in (turns[1].id, (await talk.loaded()).head):
        turn = await store.turn(id_ or 0)
        assert turn is not None
        assert turn.message.text == "reworded"
    assert (await store.erase_message(PRIVATE_CHAT, turns[1].message.id)).counts["turns"] == 2
    assert await store.holds("reworded") == []


async def test_forgetting_reaches_what_was_left(store: ConversationStore) -> None:
    for number in range(2):
        talk = Talk(store, said=100 * number)
        first = await talk.says("kept for now")
        left = await talk.says("left behind")
        await store.apply(ANN, "private", [change("a", fact("secret", "hidden", turn=left), turn=left)], turn=left)
        await goes_back(talk, first, first.id)
        await talk.says("aside")
        await (store.erase_person(ANN) if number else store.erase_chat(PRIVATE_CHAT))
        for text in ("kept for now", "left behind", "aside", "hidden"):
            assert await store.holds(text) == []
        assert (await talk.loaded()).asides == ()


async def test_the_first_turn_of_an_aside_lies_inside_the_turn_it_was_begun_at(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 2)
    assert (await goes_back(talk, turns[1], turns[1].id)).asides == (turns[1].id,)
    first, second = await talk.says("aside"), await talk.says("still aside")
    assert (first.parent, second.parent) == (turns[1].id, first.id)
    assert [t.inside for t in (await talk.loaded()).turns] == [False, False, True, False]
    stored = [await store.turn(t.id) for t in (first, second)]
    assert [t.inside for t in stored if t] == [True, False]
    assert (await goes_back(talk, turns[1])).asides == ()
    after = await talk.says("back again")
    assert (after.parent, after.inside) == (turns[1].id, False)
    assert await shown(talk) == ["turn 0", "turn 1", "back again"]


async def test_an_aside_may_be_begun_before_anything_was_said(store: ConversationStore) -> None:
    talk = Talk(store)
    await goes_back(talk, None, None)
    assert (await talk.says("aside")).inside
    assert (await talk.loaded()).asides == (None,)


async def test_what_is_answered_anew_stays_where_it_was_in_an_aside(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 1)
    await goes_back(talk, turns[0], turns[0].id)
    anew = await answered_anew(talk, await talk.says("aside"), "better")
    assert anew.inside
    assert (await talk.loaded()).asides == (turns[0].id,)


async def test_open_asides_outlast_the_turn_they_were_begun_at(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 3)
    await goes_back(talk, turns[1], turns[1].id)
    first = await talk.says("aside")
    await store.erase_turn(PRIVATE_CHAT, turns[1].id)
    conversation = await talk.loaded()
    assert conversation.asides == (turns[0].id,)
    assert [t.inside for t in conversation.turns] == [False, True]
    await store.erase_turn(PRIVATE_CHAT, first.id)
    assert (await talk.loaded()).head == turns[0].id
    assert (await talk.says("another aside")).inside


async def test_what_follows_an_erased_beginning_of_an_aside_begins_it(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 1)
    await goes_back(talk, turns[0], turns[0].id)
    first, _ = await talk.says("aside"), await talk.says("still aside")
    await store.erase_turn(PRIVATE_CHAT, first.id)
    assert [t.inside for t in (await talk.loaded()).turns] == [False, True]


async def test_branches_and_open_asides_move_with_their_chat(store: ConversationStore) -> None:
    old, new = ChatKey("telegram", "-77"), ChatKey("telegram", "-10077")
    talk = Talk(store, old)
    turns = [await talk.says(f"turn {n}", BOB) for n in range(2)]
    anew = await answered_anew(talk, turns[1], "better")
    await goes_back(talk, anew, turns[0].id, anew.id)
    await talk.says("aside", BOB)
    await store.move_chat(old, new)
    moved = Talk(store, new, said=50)
    assert await shown(moved) == ["turn 0", "turn 1", "aside"]
    assert (await moved.loaded()).asides == (turns[0].id, anew.id)
    assert (await talk.loaded()).asides == ()
    assert (await store.erase_turn(new, anew.id)).counts["turns"] == 2


async def test_the_export_holds_every_branch_and_where_the_chat_is(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 2)
    anew = await answered_anew(talk, turns[1], "better")
    await goes_back(talk, turns[0], turns[0].id)
    (chat,) = (await store.export(ANN))["chats"]
    assert [(t["id"], t["parent"], t["retry_of"]) for t in chat["turns"]] == [
        (turns[0].id, None, None),
        (turns[1].id, turns[0].id, None),
        (anew.id, turns[0].id, turns[1].id),
    ]
    assert (chat["head"], chat["asides"]) == (turns[0].id, [turns[0].id])


async def test_a_misplaced_aside_is_noticed(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 3)
    await store.move_head(await talk.loaded(), turns[1].id, asides=[turns[2].id])
    (fault,) = await store.verify()
    assert "aside" in fault
    await store.move_head(await talk.loaded(), turns[1].id, asides=[])


class Wanderer:
    """Random talk with branches, against a model: what was said on the way to the head, and in which asides."""

    def __init__(self, store: ConversationStore, seed: int) -> None:
        self.store, self.random = store, Random(seed)
        self.talk = Talk(store)
        self.line: list[Turn] = []
        self.asides: list[int] = []

    async def step(self) -> None:
        acts = [self.say, self.say, self.say, self.undo, self.retry, self.aside, self.back, self.fold, self.erase]
        await self.random.choice(acts)()
        conversation = await self.talk.loaded()
        covered: list[int] = []
        for step in conversation.path:
            covered += [t.id for t in await self.store.covered(step)] if isinstance(step, Segment) else [step.id]
        assert covered == [t.id for t in self.line]
        assert [0 if a is None else a for a in conversation.asides] == self.asides

    def head(self) -> int:
        return self.line[-1].id if self.line else 0

    async def move(self, to: int) -> None:
        asides = [aside or None for aside in self.asides]
        await self.store.move_head(await self.talk.loaded(), to or None, asides=asides)
        self.line = [t for t in self.line if t.id <= to]

    async def say(self) -> None:
        self.line.append(await self.talk.says(f"said {self.talk.said}"))

    async def undo(self) -> None:
        if self.line and self.head() not in self.asides:
            await self.move(self.line[-1].parent or 0)

    async def retry(self) -> None:
        if self.line and self.head() not in self.asides:
            self.line[-1] = await answered_anew(self.talk, self.line[-1], "anew")

    async def aside(self) -> None:
        self.asides.append(self.head())
        await self.move(self.head())

    async def back(self) -> None:
        if self.asides:
            await self.move(self.asides.pop())

    async def fold(self) -> None:
        conversation = await self.talk.loaded()
        path = conversation.path
        first = self.random.randrange(len(path) + 1)
        covers = path[first : first + self.random.randint(1, 5)]
        if covers:
            await self.store.add_segment(PRIVATE_CHAT, segment(covers), covers=covers, edition=conversation.edition)

    async def erase(self) -> None:
        if not self.line or self.random.random() < 0.5:
            return
        turn = self.random.choice(self.line)
        await self.store.erase_turn(PRIVATE_CHAT, turn.id)
        before = [0, *(t.id for t in self.line)]
        older = before[before.index(turn.id) - 1]
        self.line.remove(turn)
        self.line = [t for t in [await self.store.turn(t.id) for t in self.line] if t]
        self.asides = [older if aside == turn.id else aside for aside in self.asides] if self.line else []


@pytest.mark.parametrize("seed", range(3))
async def test_every_turn_on_the_way_to_the_head_is_shown_or_folded_exactly_once(
    store: ConversationStore, seed: int
) -> None:
    wanderer = Wanderer(store, seed)
    for number in range(250):
        await wanderer.step()
        assert number % 25 or await store.verify() == []
