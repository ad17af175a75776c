"""What every ConversationStore holds to when a chat becomes another, as a Telegram group does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.conversation import Answer, Segment, State
from core.errors import StaleBase, StaleEpoch
from core.facts import Fact
from core.messages import PRIVATE, ChatKey
from core.records import Job
from core.store import ConversationStore
from tests.contract.talk import ANN, BOB, PRIVATE_CHAT, START, Talk, change, fact, segment

OLD, NEW = ChatKey("telegram", "-685960703"), ChatKey("telegram", "-1001502049385")
TOPIC, NEW_TOPIC = replace(OLD, topic="17"), replace(NEW, topic="17")


async def told(store: ConversationStore, chat: ChatKey) -> list[str]:
    """Give what the turns of a chat say, in their order; a summary stands in brackets."""
    path = (await store.load(chat)).path
    return [f"[{step.text}]" if isinstance(step, Segment) else step.message.text for step in path]


async def test_turns_and_summaries_move(store: ConversationStore) -> None:
    talk, private = Talk(store, OLD), Talk(store)
    await private.says("mine")
    for text in ("one", "two", "three"):
        await talk.says(text)
    await talk.folds(0, 1)
    before = await store.load(OLD)
    await store.move_chat(OLD, NEW)
    assert await told(store, NEW) == ["[gist]", "three"]
    assert await told(store, OLD) == []
    assert [info.chat for info in await store.chats()] == [NEW, PRIVATE_CHAT]
    after = await store.load(NEW)
    assert (after.private, after.epoch, after.edition) == (before.private, before.epoch + 1, before.edition + 1)
    assert {t.chat for t in after.turns} == {t.message.chat for t in after.turns} == {NEW}
    assert await told(store, PRIVATE_CHAT) == ["mine"]


async def test_moving_again_is_harmless(store: ConversationStore) -> None:
    await Talk(store, OLD).says("one")
    await store.move_chat(OLD, NEW)
    once = await store.load(NEW)
    await store.move_chat(OLD, NEW)
    await store.move_chat(PRIVATE_CHAT, NEW)
    assert await store.load(NEW) == once
    await store.move_chat(ChatKey("telegram", "1"), ChatKey("telegram", "2"))
    assert [info.chat for info in await store.chats()] == [NEW]


async def test_it_is_known_what_a_chat_has_become(store: ConversationStore) -> None:
    assert await store.moves() == {}
    await store.move_chat(OLD, NEW)
    await store.move_chat(OLD, NEW)
    assert await store.moves() == {OLD: NEW}


async def test_what_the_new_chat_has_said_already_follows_the_old(store: ConversationStore) -> None:
    old, new = Talk(store, OLD), Talk(store, NEW)
    await old.says("one")
    await old.says("two")
    await old.folds(0, 1, "old gist")
    await new.says("three")
    await new.says("four")
    await new.folds(0, 1, "new gist")
    await store.move_chat(OLD, NEW)
    assert await told(store, NEW) == ["[old gist]", "[new gist]"]
    first, second = (await store.load(NEW)).segments
    assert second.before == first.last
    covered = [turn.message.text for s in (first, second) for turn in await store.covered(s)]
    assert covered == ["one", "two", "three", "four"]


async def test_what_was_said_late_in_the_old_chat_takes_its_place_in_time(store: ConversationStore) -> None:
    old, new = Talk(store, OLD), Talk(store, NEW)
    await old.says("one")
    await new.says("two")
    await old.says("three")
    await new.says("four")
    await new.folds(0, 1)
    await store.move_chat(OLD, NEW)
    assert await told(store, NEW) == ["one", "two", "three", "four"]
    await old.says("late")
    await store.move_chat(OLD, NEW)
    assert await told(store, NEW) == ["one", "two", "three", "four", "late"]
    assert (await new.says("five")).parent == (await store.load(NEW)).turns[-2].id


async def test_topics_move_with_their_group(store: ConversationStore) -> None:
    other = ChatKey("telegram", "-6859607030", "17")
    await Talk(store, TOPIC).says("in the topic")
    await Talk(store, other).says("elsewhere")
    await store.move_chat(OLD, NEW)
    assert await told(store, NEW_TOPIC) == ["in the topic"]
    assert {info.chat for info in await store.chats()} == {NEW_TOPIC, other}


async def test_what_waits_is_answered_in_the_new_chat_and_repeats_are_known(store: ConversationStore) -> None:
    talk = Talk(store, OLD)
    taken = (await talk.says("one")).message
    waits = await talk.arrives("two")
    await store.move_chat(OLD, NEW)
    (moved,) = await store.waiting()
    assert (moved.chat, moved.text) == (NEW, "two")
    assert not await store.receive(taken)
    assert not await store.receive(waits)
    assert await store.receive(replace(taken, chat=NEW, text="the new chat counts from the start"))
    turn = await store.begin([moved], state=State.RECEIVED, tokens=1, at=START)
    assert turn.parent is not None
    assert await store.edit(NEW, taken.id, "another")
    assert (await told(store, NEW))[0] == "one"


async def test_what_still_runs_in_the_old_chat_is_discarded(store: ConversationStore) -> None:
    talk = Talk(store, OLD)
    await talk.says("one")
    running, seen = await talk.opens("two"), await talk.loaded()
    await store.move_chat(OLD, NEW)
    with pytest.raises(StaleEpoch):
        await store.save(replace(running, state=State.ANSWERED, answer=Answer("late")))
    with pytest.raises(StaleEpoch):
        await store.apply(ANN, OLD.scope, [change("1", fact("city", "Oslo"), turn=running)], turn=running)
    with pytest.raises(StaleBase):
        await store.add_segment(OLD, segment(seen.path[:1]), covers=seen.path[:1], edition=seen.edition)
    assert [t.chat for t in await store.open_turns()] == [NEW]


async def test_facts_learned_in_the_group_move_with_their_sources(store: ConversationStore) -> None:
    talk = Talk(store, OLD)
    turn = await talk.says("I am Ann")
    topic = await Talk(store, TOPIC).says("from Oslo")
    await store.apply(ANN, OLD.scope, [change("1", fact("name", "Ann", turn=turn), turn=turn)])
    await store.apply(ANN, OLD.scope, [change("2", fact("city", "Oslo", turn=topic), turn=topic)])
    await store.apply(ANN, PRIVATE, [change("3", fact("name", "Anna"))])
    await store.move_chat(OLD, NEW)
    assert await store.scopes(ANN) == sorted([PRIVATE, NEW.scope])
    facts = (await store.load(NEW, ANN)).facts
    assert dict(facts) == {"name": "Ann", "city": "Oslo"}
    sources = [facts.by_key[key].items[0].source for key in ("name", "city")]
    assert [(s.chat, s.turn) for s in sources] == [(str(NEW), turn.id), (str(NEW_TOPIC), topic.id)]
    assert [c.key for c in await store.changes(ANN, NEW.scope)] == ["city", "name"]
    receipt = await store.erase_turn(NEW, turn.id)
    assert receipt.counts == {"turns": 1, "facts": 1, "changes": 1}


async def test_facts_of_both_are_joined(store: ConversationStore) -> None:
    pinned = replace(fact("hobbies", "chess", "Go"), pinned=True)
    await store.apply(ANN, OLD.scope, [change("1", pinned), change("2", fact("city", "Oslo"))])
    await store.apply(ANN, NEW.scope, [change("3", fact("hobbies", "go")), change("4", fact("city", "Rome"))])
    await store.apply(BOB, NEW.scope, [change("5", fact("name", "Bob"))])
    await store.move_chat(OLD, NEW)
    facts = (await store.load(NEW, ANN, private=False)).facts
    assert dict(facts) == {"hobbies": ["chess", "Go"], "city": "Rome"}
    assert facts.by_key["hobbies"].pinned
    assert {c.call for c in await store.changes(ANN, NEW.scope)} == {"1", "2", "3", "4"}
    assert dict((await store.load(NEW, BOB, private=False)).facts) == {"name": "Bob"}


async def test_jobs_and_allowances_move(store: ConversationStore) -> None:
    for chat in (OLD, PRIVATE_CHAT):
        await Talk(store, chat).says("one")
    for key in (str(OLD), f"{OLD}#again", str(NEW), str(PRIVATE_CHAT)):
        await store.enqueue(Job("compact", key, START))
    await store.claim("somebody", START, lease=60, limit=9)
    await store.allow(str(OLD), "root", START)
    await store.move_chat(OLD, NEW)
    jobs = await store.claim("me", START, lease=60, limit=9)
    assert [job.key for job in jobs] == [f"{NEW}#again"]
    await store.finish(jobs[0], "me")
    assert (await store.stats()).jobs == 2
    assert str(NEW) in await store.allowed()


def test_a_list_takes_what_is_new_and_a_value_the_newer() -> None:
    from core.kept import merged

    def known(*values: str) -> Fact:
        return fact("key", *values)

    assert merged(known("a"), None).value == "a"
    assert merged(known("a"), known("b")).value == "b"
    assert merged(known("a", "b"), known("B")).value == ["a", "b"]
    assert merged(known("a"), known("b", "c")).value == ["a", "b", "c"]
