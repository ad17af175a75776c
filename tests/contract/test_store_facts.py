"""What every ConversationStore holds to: facts, their history, what a person chose, jobs, and who may do what."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from core.conversation import PersonSettings, State
from core.errors import StaleEpoch
from core.facts import Fact
from core.messages import PRIVATE, Person
from core.records import AuditEntry, Day, Job, Stats
from core.store import ConversationStore
from tests.contract.talk import ANN, BOB, GROUP, PRIVATE_CHAT, START, Talk, change, fact


async def known(store: ConversationStore, person: Person = ANN) -> dict[str, str | list[str]]:
    return dict((await store.load(PRIVATE_CHAT, person)).facts)


async def test_changes_are_applied_in_order_with_their_history(store: ConversationStore) -> None:
    tea, both = fact("drinks", "tea"), fact("drinks", "tea", "coffee")
    made = [change("1", tea), change("2", both, tea), change("3", None, both), change("4", tea)]
    await store.apply(ANN, PRIVATE, made[:2])
    await store.apply(ANN, PRIVATE, made[2:])
    assert await known(store) == {"drinks": "tea"}
    history = await store.changes(ANN, PRIVATE)
    assert [replace(c, id=0) for c in history] == made[::-1]
    assert len({c.id for c in history}) == 4
    assert await store.changes(ANN, PRIVATE, limit=1) == history[:1]
    assert await store.changes(BOB, PRIVATE) == []


async def test_what_two_add_at_once_is_both_kept(store: ConversationStore) -> None:
    tea = fact("drinks", "tea")
    await store.apply(ANN, PRIVATE, [change("1", tea)])
    await store.apply(ANN, PRIVATE, [change("2", fact("drinks", "tea", "milk"), tea)])
    await store.apply(ANN, PRIVATE, [change("3", fact("drinks", "tea", "Milk", "water"), tea)])
    assert await known(store) == {"drinks": ["tea", "milk", "water"]}
    last, *_ = await store.changes(ANN, PRIVATE)
    assert last.before
    assert last.before.value == ["tea", "milk"]


async def test_what_was_erased_meanwhile_does_not_come_back_by_a_change_made_of_it(store: ConversationStore) -> None:
    one, two = await Talk(store).says("I like tea"), await Talk(store, GROUP).says("I like milk")
    tea, milk = fact("drinks", "tea", turn=one), fact("drinks", "milk", turn=two)
    both = replace(milk, items=(*tea.items, *milk.items), many=True)
    await store.apply(ANN, PRIVATE, [change("1", tea, turn=one)], turn=one)
    await store.erase_turn(PRIVATE_CHAT, one.id)
    await store.apply(ANN, PRIVATE, [change("2", both, tea, turn=two)], turn=two)
    assert await known(store) == {"drinks": ["milk"]}
    assert await store.holds("tea") == []
    pinned = replace(tea, pinned=True)
    await store.apply(ANN, PRIVATE, [change("3", replace(pinned, key="food"), replace(tea, key="food"))])
    await store.apply(ANN, PRIVATE, [replace(change("4", tea, milk), action="undo")])
    assert await known(store) == {"drinks": ["milk"]}
    assert await store.holds("tea") == []


async def test_a_change_of_what_was_seen_before_an_erasure_is_discarded(store: ConversationStore) -> None:
    await store.raise_epoch(PRIVATE_CHAT)
    seen = await store.load(PRIVATE_CHAT, ANN)
    name = fact("name", "Ann")
    name = replace(name, items=(replace(name.items[0], source=replace(name.items[0].source, chat=str(PRIVATE_CHAT))),))
    await store.apply(ANN, PRIVATE, [change("1", name)], seen=seen)
    assert (await store.erase_person(ANN)).total
    with pytest.raises(StaleEpoch):
        await store.apply(ANN, PRIVATE, [change("2", fact("nick", "Annie"))], seen=seen)
    assert await known(store) == {}


async def test_an_erased_turn_teaches_nothing(store: ConversationStore) -> None:
    turn = await Talk(store).says("I am Ann")
    await store.erase_turn(PRIVATE_CHAT, turn.id)
    now = replace(turn, epoch=(await store.load(PRIVATE_CHAT)).epoch)
    with pytest.raises(StaleEpoch):
        await store.apply(ANN, PRIVATE, [change("1", fact("name", "Ann", turn=turn), turn=turn)], turn=now)
    assert await known(store) == {}


async def test_a_fact_comes_back_whole(store: ConversationStore) -> None:
    turn = await Talk(store).says("I drink tea, and I live in Paris")
    pinned = replace(fact("drinks", "tea", "coffee", turn=turn, quote="I drink tea"), pinned=True)
    await store.apply(ANN, PRIVATE, [change("1", pinned, turn=turn)], turn=turn)
    assert (await store.load(PRIVATE_CHAT, ANN)).facts.by_key == {"drinks": pinned}


async def test_the_same_call_of_a_turn_is_applied_once(store: ConversationStore) -> None:
    turn = await Talk(store).says("I am Ann")
    made = change("call-1", fact("name", "Ann", turn=turn), turn=turn)
    await asyncio.gather(*(store.apply(ANN, PRIVATE, [made], turn=turn) for _ in range(5)))
    assert len(await store.changes(ANN, PRIVATE)) == 1
    await store.apply(ANN, PRIVATE, [replace(made, after=fact("name", "Eve"))], turn=turn)
    assert await known(store) == {"name": "Ann"}


async def test_without_a_turn_a_call_counts_once_for_a_person_in_a_scope(store: ConversationStore) -> None:
    made = change("import/1", fact("name", "Ann"))
    for person, scope in ((ANN, PRIVATE), (ANN, PRIVATE), (BOB, PRIVATE), (ANN, GROUP.scope)):
        await store.apply(person, scope, [made])
    assert len(await store.changes(ANN, PRIVATE)) == 1
    assert await known(store, BOB) == {"name": "Ann"}
    assert await store.scopes(ANN) == sorted([PRIVATE, GROUP.scope])


async def test_calls_of_other_turns_may_bear_the_same_name(store: ConversationStore) -> None:
    talk = Talk(store)
    one, two = await talk.says("one"), await talk.says("two")
    await store.apply(ANN, PRIVATE, [change("c", fact("a", "1", turn=one), turn=one)], turn=one)
    await store.apply(ANN, PRIVATE, [change("c", fact("b", "2", turn=two), turn=two)], turn=two)
    assert await known(store) == {"a": "1", "b": "2"}


async def test_what_a_stopped_turn_learned_is_discarded_whole(store: ConversationStore) -> None:
    turn = await Talk(store).opens("I am Ann")
    await store.raise_epoch(PRIVATE_CHAT)
    with pytest.raises(StaleEpoch):
        await store.apply(ANN, PRIVATE, [change("1", fact("name", "Ann"), turn=turn)], turn=turn)
    assert await known(store) == {}
    assert await store.changes(ANN, PRIVATE) == []


async def test_parallel_tool_calls_lose_no_fact(store: ConversationStore) -> None:
    turn = await Talk(store).opens("all about me")
    calls = [[change(f"c{n}", fact(f"key_{n}", str(n)), turn=turn)] for n in range(30)]
    await asyncio.gather(*(store.apply(ANN, PRIVATE, call, turn=turn) for call in calls))
    assert len(await known(store)) == 30


async def test_a_changed_fact_keeps_its_place_among_the_others(store: ConversationStore) -> None:
    for n, key in enumerate(("b", "a", "c")):
        await store.apply(ANN, PRIVATE, [change(str(n), fact(key, "old"))])
    await store.apply(ANN, PRIVATE, [change("9", fact("b", "new"), fact("b", "old"))])
    assert list(await known(store)) == ["b", "a", "c"]


async def test_scopes_without_facts_are_not_named(store: ConversationStore) -> None:
    await store.apply(ANN, PRIVATE, [change("1", fact("name", "Ann")), change("2", None, fact("name", "Ann"))])
    assert await store.scopes(ANN) == []


async def test_facts_take_any_text(store: ConversationStore) -> None:
    odd = Fact("na\0me", fact("x", "A\ud800nn\0 👋").items)
    await store.apply(ANN, "sc\0ope", [change("c\0", odd)])
    (stored,) = await store.changes(ANN, "sc\0ope")
    assert stored.key == "na\ufffdme"
    assert stored.after is not None
    assert stored.after.value == "A\ufffdnn\ufffd 👋"


async def test_an_edit_withdraws_what_its_words_no_longer_say(store: ConversationStore) -> None:
    talk = Talk(store)
    turn, other = await talk.says("I live in Paris and drink tea"), await talk.says("I am Ann")
    made = [
        change("1", fact("city", "Paris", turn=turn, quote="I live in Paris"), turn=turn),
        change("2", fact("drink", "tea", turn=turn, quote="Drink  tea"), turn=turn),
        change("3", fact("name", "Ann", turn=other), turn=other),
    ]
    await store.apply(ANN, PRIVATE, made)
    await store.edit(PRIVATE_CHAT, "1", "I live in Rome and drink tea")
    assert await known(store) == {"drink": "tea", "name": "Ann"}
    assert [c.key for c in await store.changes(ANN, PRIVATE)] == ["name", "drink"]
    assert await store.holds("Paris") == ["turn"]  # the bot's answer, which said it again


async def test_an_edit_withdraws_what_a_longer_word_has_taken_the_place_of(store: ConversationStore) -> None:
    turn = await Talk(store).says("I am Eve")
    await store.apply(ANN, PRIVATE, [change("1", fact("name", "Eve", turn=turn, quote="I am Eve"), turn=turn)])
    await store.edit(PRIVATE_CHAT, "1", "I am Eve, and glad of it")
    assert await known(store) == {"name": "Eve"}
    await store.edit(PRIVATE_CHAT, "1", "I am Evelyn, and glad of it")
    assert await known(store) == {}


async def test_settings_are_the_defaults_until_they_are_chosen(store: ConversationStore) -> None:
    assert await store.settings(ANN) == PersonSettings()
    chosen = PersonSettings(memory="ask", language="fr", zone="Europe/Paris")
    await store.choose(ANN, lambda _: PersonSettings(memory="off"))
    await store.choose(ANN, lambda _: chosen)
    assert await store.settings(ANN) == chosen == (await store.load(PRIVATE_CHAT, ANN)).settings
    assert await store.settings(BOB) == PersonSettings()


async def test_what_is_chosen_at_the_same_time_is_all_chosen(store: ConversationStore) -> None:
    chosen: list[dict[str, Any]] = [{"share": True}, {"incognito": True}, {"memory": "off"}, {"language": "ru"}]
    await asyncio.gather(*(store.choose(ANN, lambda now, one=one: replace(now, **one)) for one in chosen))  # type: ignore[misc]
    assert await store.settings(ANN) == PersonSettings("off", "ru", incognito=True, share=True)


async def test_nothing_is_chosen_for_a_turn_that_is_no_longer_wanted(store: ConversationStore) -> None:
    turn = await Talk(store).says("hello")
    await store.erase_person(ANN)
    with pytest.raises(StaleEpoch):
        await store.choose(ANN, lambda now: replace(now, share=True), turn=turn)
    epoch = (await store.load(turn.chat)).epoch
    with pytest.raises(StaleEpoch):
        await store.choose(ANN, lambda now: replace(now, share=True), turn=replace(turn, epoch=epoch))
    assert await store.settings(ANN) == PersonSettings()


async def test_people_are_those_who_spoke_in_exactly_this_chat(store: ConversationStore) -> None:
    talk = Talk(store, GROUP)
    for person in (BOB, ANN, BOB):
        await talk.says("hello", person)
    assert await store.people(GROUP) == [ANN, BOB]
    assert await store.people(PRIVATE_CHAT) == []


LATER = START + timedelta(hours=1)


async def test_a_job_is_queued_once(store: ConversationStore) -> None:
    await asyncio.gather(*(store.enqueue(Job("fold", "chat", START)) for _ in range(5)))
    await store.enqueue(Job("fold", "chat", LATER, attempts=3))
    await store.enqueue(Job("other", "chat", START))
    assert (await store.stats()).jobs == 2
    assert await store.claim("me", START, lease=9, limit=9) == [Job("fold", "chat", START), Job("other", "chat", START)]


async def test_due_jobs_come_earliest_first_up_to_the_limit(store: ConversationStore) -> None:
    jobs = [Job("fold", str(n), START + timedelta(minutes=n)) for n in (3, 1, 2, 90)]
    for job in jobs:
        await store.enqueue(job)
    assert await store.claim("me", LATER, lease=9, limit=2) == [jobs[1], jobs[2]]
    assert await store.claim("me", LATER, lease=9, limit=9) == [jobs[0]]


async def test_a_job_has_one_owner_however_many_want_it(store: ConversationStore) -> None:
    for n in range(10):
        await store.enqueue(Job("fold", str(n), START))
    claims = await asyncio.gather(*(store.claim(f"process {n}", START, lease=60, limit=3) for n in range(8)))
    assert sorted(job.key for claim in claims for job in claim) == [str(n) for n in range(10)]


async def test_the_lease_of_a_dead_process_expires(store: ConversationStore) -> None:
    job = Job("fold", "chat", START)
    await store.enqueue(job)
    await store.claim("dead", START, lease=60, limit=9)
    assert await store.claim("alive", START + timedelta(seconds=59), lease=60, limit=9) == []
    assert await store.claim("alive", START + timedelta(seconds=60), lease=60, limit=9) == [job]
    await store.finish(job, "dead")
    await store.postpone(job, "dead", LATER)
    assert (await store.stats()).jobs == 1
    await store.finish(job, "alive")
    assert (await store.stats()).jobs == 0


async def test_a_postponed_job_is_free_again_later(store: ConversationStore) -> None:
    job = Job("fold", "chat", START)
    await store.enqueue(job)
    await store.claim("me", START, lease=60, limit=9)
    await store.postpone(job, "me", LATER)
    assert await store.claim("other", LATER - timedelta(seconds=1), lease=60, limit=9) == []
    (again,) = await store.claim("other", LATER, lease=60, limit=9)
    assert again == Job("fold", "chat", LATER, attempts=1)
    assert again.due.tzinfo == UTC


async def test_admin_actions_are_listed_newest_first(store: ConversationStore) -> None:
    entries = [AuditEntry("telegram:1", "clear", f"chat {n}", START + timedelta(minutes=n)) for n in range(3)]
    for entry in entries:
        await store.audit(entry)
    assert await store.audited() == entries[::-1]
    assert await store.audited(limit=1) == [entries[2]]


async def test_who_may_talk_is_kept_once(store: ConversationStore) -> None:
    for entry in ("telegram:7", "discord:8", "telegram:7"):
        await store.allow(entry, "telegram:1", START)
    assert await store.allowed() == ["discord:8", "telegram:7"]
    assert await store.disallow("telegram:7")
    assert not await store.disallow("telegram:7")
    assert await store.allowed() == ["discord:8"]


async def test_chats_are_listed_latest_active_first(store: ConversationStore) -> None:
    private, group = Talk(store), Talk(store, GROUP)
    for text in ("one", "two"):
        await private.says(text)
    await private.folds(0, 0)
    group.said = 10
    await group.says("hello")
    first, second = await store.chats()
    assert (first.chat, first.private, first.turns, first.segments) == (GROUP, False, 1, 0)
    assert (second.chat, second.private, second.turns, second.segments) == (PRIVATE_CHAT, True, 2, 1)
    assert second.active_at == START + timedelta(minutes=2)


async def test_everything_is_counted(store: ConversationStore) -> None:
    assert await store.stats() == Stats(0, 0, 0, 0, 0, 0, 0)
    talk = Talk(store)
    for text in ("one", "two"):
        await talk.says(text)
    await talk.opens("three")
    await talk.folds(0, 1)
    await store.apply(BOB, PRIVATE, [change("1", fact("name", "Bob"))])
    await store.enqueue(Job("fold", "x", START))
    assert await store.stats() == Stats(1, 2, 3, 1, 1, 1, 1)


async def test_facts_are_known_by_person_and_scope(store: ConversationStore) -> None:
    await store.apply(ANN, PRIVATE, [change("1", fact("name", "Ann")), change("2", fact("hobbies", "go", "chess"))])
    await store.apply(ANN, GROUP.scope, [change("1", fact("name", "Annie"))])
    assert dict(await store.known(ANN, PRIVATE)) == {"name": "Ann", "hobbies": ["go", "chess"]}
    assert dict(await store.known(ANN, GROUP.scope)) == {"name": "Annie"}
    assert dict(await store.known(BOB, PRIVATE)) == {}


async def test_each_day_is_counted_and_none_is_left_out(store: ConversationStore) -> None:
    talk = Talk(store)
    await talk.says("one")
    stopped, failed = await talk.opens("two", BOB), await talk.opens("three")
    await store.save(stopped.changed(state=State.FAILED, failure="stopped"))
    await store.save(failed.changed(state=State.FAILED, failure="model"))
    talk.said = 2 * 24 * 60
    await talk.opens("four")
    days = await store.days(START + timedelta(days=3), count=4)
    assert days == [
        Day(START.date(), turns=3, answered=1, failed=1, people=2, tokens=34),
        Day(START.date() + timedelta(days=1)),
        Day(START.date() + timedelta(days=2), turns=1, people=1, tokens=7),
        Day(START.date() + timedelta(days=3)),
    ]
    assert await store.days(START - timedelta(days=1), count=1) == [Day(START.date() - timedelta(days=1))]


async def test_a_day_begins_and_ends_with_utc(store: ConversationStore) -> None:
    talk = Talk(store, said=12 * 60 - 2)
    for text in ("the last minute", "the first minute"):
        await talk.says(text)
    elsewhere = datetime(2026, 3, 2, 1, tzinfo=timezone(timedelta(hours=3)))
    assert [day.turns for day in await store.days(elsewhere, count=1)] == [1]
    assert [day.turns for day in await store.days(START + timedelta(days=1), count=2)] == [1, 1]
