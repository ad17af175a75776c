"""What every ConversationStore holds to: segments, and that every turn is shown or folded exactly once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from core.conversation import Conversation, Segment, Turn
from core.errors import StaleBase
from core.messages import PRIVATE
from core.store import ConversationStore
from tests.contract.talk import ANN, GROUP, PRIVATE_CHAT, Talk, change, fact, segment


async def a_talk(store: ConversationStore, turns: int) -> tuple[Talk, list[Turn]]:
    talk = Talk(store)
    return talk, [await talk.says(f"turn {n}") for n in range(turns)]


async def shape(talk: Talk) -> list[str]:
    """The path, a letter a step: `t` for a turn, `s` and how many turns for a segment."""
    path = (await talk.loaded()).path
    return [f"s{step.turns}" if isinstance(step, Segment) else "t" for step in path]


async def test_a_segment_stands_for_its_range_on_the_path(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 4)
    stored = await talk.folds(0, 1, "they met")
    conversation = await talk.loaded()
    assert conversation.path == (stored, *turns[2:])
    assert (stored.text, stored.turns, stored.before, stored.last) == ("they met", 2, None, turns[1].id)
    assert conversation.edition == 0


async def test_the_raw_turns_beneath_a_segment_can_be_read(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 5)
    lower = await talk.folds(1, 2)
    merged = await talk.folds(0, 2)
    assert await store.covered(lower) == turns[1:3]
    assert await store.covered(merged) == turns[:4]
    assert await store.covered(replace(merged, id=999)) == []


async def test_segments_are_merged_and_redone_by_covering_them(store: ConversationStore) -> None:
    talk, _ = await a_talk(store, 6)
    await talk.folds(0, 1)
    await talk.folds(1, 2)
    assert await shape(talk) == ["s2", "s2", "t", "t"]
    await talk.folds(0, 1, "both")
    assert await shape(talk) == ["s4", "t", "t"]
    redone = await talk.folds(0, 0, "both, better")
    assert (await talk.loaded()).segments == [redone]


async def test_turns_said_meanwhile_stay_raw(store: ConversationStore) -> None:
    talk, _ = await a_talk(store, 3)
    seen = await talk.loaded()
    await talk.says("while the model thought")
    covers = seen.path[:2]
    await store.add_segment(PRIVATE_CHAT, segment(covers), covers=covers, edition=seen.edition)
    assert await shape(talk) == ["s2", "t", "t"]


async def test_two_folds_of_the_same_turns_at_once_leave_one(store: ConversationStore) -> None:
    talk, _ = await a_talk(store, 4)
    seen = await talk.loaded()
    covers = seen.path[:3]
    adding = (store.add_segment(PRIVATE_CHAT, segment(covers), covers=covers, edition=seen.edition) for _ in range(5))
    outcomes = await asyncio.gather(*adding, return_exceptions=True)
    assert sum(isinstance(outcome, Segment) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, StaleBase) for outcome in outcomes) == 4
    assert await shape(talk) == ["s3", "t"]


async def refuse(
    store: ConversationStore, seen: Conversation, made: Segment, covers: tuple[Segment | Turn, ...]
) -> None:
    before = await store.load(seen.chat)
    with pytest.raises(StaleBase):
        await store.add_segment(seen.chat, made, covers=covers, edition=seen.edition)
    assert await store.load(seen.chat) == before


async def test_a_segment_of_an_older_edition_is_refused(store: ConversationStore) -> None:
    talk, _ = await a_talk(store, 3)
    seen = await talk.loaded()
    await store.edit(PRIVATE_CHAT, "3", "turn 2, corrected")
    await refuse(store, seen, segment(seen.path[:2]), seen.path[:2])


async def test_a_segment_that_does_not_cover_exactly_its_range_is_refused(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 5)
    seen = await talk.loaded()
    right = segment(seen.path[1:3])
    await refuse(store, seen, right, seen.path[1:2])
    await refuse(store, seen, right, seen.path[0:3])
    await refuse(store, seen, right, seen.path[2:4])
    await refuse(store, seen, right, ())
    await refuse(store, seen, replace(right, before=None), seen.path[1:3])
    await refuse(store, seen, replace(right, before=turns[3].id), seen.path[1:3])
    await refuse(store, seen, replace(right, before=right.last), ())
    await refuse(store, seen, replace(right, last=999), seen.path[1:3])


async def test_a_segment_over_what_was_folded_meanwhile_is_refused(store: ConversationStore) -> None:
    talk, _ = await a_talk(store, 5)
    seen = await talk.loaded()
    await talk.folds(1, 2)
    await refuse(store, seen, segment(seen.path[0:3]), seen.path[0:3])
    await refuse(store, seen, segment(seen.path[2:4]), seen.path[2:4])


async def test_a_segment_of_another_chat_is_refused(store: ConversationStore) -> None:
    _, turns = await a_talk(store, 2)
    await Talk(store, GROUP).says("hello")
    elsewhere = await store.load(GROUP)
    await refuse(store, elsewhere, segment((turns[0],)), (turns[0],))


async def test_an_erased_turn_frees_the_others_of_its_segments(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 6)
    await talk.folds(0, 1)
    await talk.folds(0, 2)
    assert await shape(talk) == ["s4", "t", "t"]
    receipt = await store.erase_turn(PRIVATE_CHAT, turns[3].id)
    assert receipt.counts == {"turns": 1, "segments": 1}
    assert await shape(talk) == ["s2", "t", "t", "t"]


async def test_an_older_segment_serves_again_when_the_newer_one_goes(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 4)
    lower = await talk.folds(1, 2)
    await talk.folds(0, 1)
    assert await shape(talk) == ["s3", "t"]
    await store.erase_turn(PRIVATE_CHAT, turns[0].id)
    conversation = await talk.loaded()
    assert conversation.path == (replace(lower, before=None), replace(turns[3]))


async def test_an_edit_makes_the_turns_of_its_segments_raw(store: ConversationStore) -> None:
    talk, _ = await a_talk(store, 5)
    await talk.folds(0, 1)
    await talk.folds(1, 2)
    await store.edit(PRIVATE_CHAT, "3", "corrected")
    assert await shape(talk) == ["s2", "t", "t", "t"]


async def test_erasing_what_a_segment_begins_after_moves_its_beginning(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 4)
    await talk.folds(2, 3)
    await store.erase_turn(PRIVATE_CHAT, turns[1].id)
    (kept,) = (await talk.loaded()).segments
    assert (kept.before, kept.last) == (turns[0].id, turns[3].id)
    await store.erase_turn(PRIVATE_CHAT, turns[0].id)
    assert [s.before for s in (await talk.loaded()).segments] == [None]
    assert await shape(talk) == ["s2"]


async def test_erasing_gives_the_children_the_parent_and_moves_the_head(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 4)
    await store.erase_turn(PRIVATE_CHAT, turns[1].id)
    await store.erase_turn(PRIVATE_CHAT, turns[3].id)
    conversation = await talk.loaded()
    assert [t.id for t in conversation.turns] == [turns[0].id, turns[2].id]
    assert conversation.turns[1].parent == turns[0].id
    assert conversation.head == turns[2].id
    assert (await talk.says("goes on")).parent == turns[2].id


async def test_a_chat_gone_quiet_rests_once_until_it_is_spoken_in_again(store: ConversationStore) -> None:
    talk, turns = await a_talk(store, 2)
    later = turns[-1].at + timedelta(minutes=30)
    assert await store.quiet(turns[-1].at, limit=9) == []
    assert await store.quiet(later, limit=9) == [PRIVATE_CHAT]
    await store.rest(PRIVATE_CHAT, turns[0].at)
    assert await store.quiet(later, limit=9) == [PRIVATE_CHAT]
    await store.rest(PRIVATE_CHAT, turns[-1].at)
    assert await store.quiet(later, limit=9) == []
    await talk.says("again")
    assert await store.quiet(later, limit=9) == [PRIVATE_CHAT]


async def test_the_longest_quiet_chat_comes_first(store: ConversationStore) -> None:
    group, private = Talk(store, GROUP), Talk(store)
    await private.says("early")
    await group.says("first")
    await group.says("last")
    private.said = 5
    await private.says("later")
    later = (await private.loaded()).turns[-1].at + timedelta(minutes=1)
    assert await store.quiet(later, limit=9) == [GROUP, PRIVATE_CHAT]
    assert await store.quiet(later, limit=1) == [GROUP]


async def test_an_erased_chat_is_never_quiet(store: ConversationStore) -> None:
    _, turns = await a_talk(store, 1)
    await store.erase_chat(PRIVATE_CHAT)
    assert await store.quiet(turns[0].at + timedelta(days=1), limit=9) == []


async def test_facts_are_loaded_for_the_person_in_the_scope_of_the_chat(store: ConversationStore) -> None:
    private, group = Talk(store), Talk(store, GROUP)
    await private.says("hello")
    await group.says("hello")
    await store.apply(ANN, PRIVATE, [change("a", fact("name", "Ann"))])
    await store.apply(ANN, GROUP.scope, [change("b", fact("nick", "annie"))])
    assert dict((await private.loaded()).facts) == {"name": "Ann"}
    assert dict((await group.loaded()).facts) == {"nick": "annie"}
    assert dict((await group.loaded(None)).facts) == {}
