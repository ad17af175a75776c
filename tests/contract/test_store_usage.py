"""What every ConversationStore holds to: what the model took, added up, and whose it is."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date, timedelta

import pytest

from core.conversation import Answer, State
from core.errors import StaleEpoch
from core.messages import ChatKey
from core.records import Job
from core.store import ConversationStore
from core.usage import Spent
from tests.contract.talk import ANN, BOB, GROUP, PRIVATE_CHAT, START, Talk

DAY = date(2026, 3, 1)
SCOPE = ChatKey(GROUP.platform, GROUP.chat)
ASKED = Spent(DAY, ANN, PRIVATE_CHAT, "m-1", "answer", 1, 100, 40, 20, 60)


async def test_what_is_spent_is_added_to_what_is_there(store: ConversationStore) -> None:
    await store.spend([ASKED, replace(ASKED, model="m-2")])
    await asyncio.gather(*(store.spend([ASKED]) for _ in range(4)))
    first, second = await store.spent(DAY)
    assert first == Spent(DAY, None, None, "m-1", "answer", 5, 500, 200, 100, 300)
    assert second == replace(ASKED.nameless, model="m-2")


async def test_it_is_told_of_a_person_of_a_chat_and_of_all_from_a_day_on(store: ConversationStore) -> None:
    later = replace(ASKED, day=DAY + timedelta(days=1), purpose="summary")
    in_group = replace(ASKED, person=BOB, chat=SCOPE)
    await store.spend([ASKED, later, in_group])
    assert await store.spent(DAY, person=ANN) == [ASKED.nameless, later.nameless]
    assert await store.spent(later.day, person=ANN) == [later.nameless]
    assert await store.spent(DAY, chat=GROUP) == [ASKED.nameless]
    assert sum(one.tokens for one in await store.spent(DAY)) == 3 * ASKED.tokens
    assert await store.spent(later.day + timedelta(days=1)) == []


async def test_who_spent_most_comes_first(store: ConversationStore) -> None:
    await store.spend([ASKED, replace(ASKED, person=BOB, chat=SCOPE, prompt=1000), replace(ASKED, person=None)])
    assert await store.spenders(DAY, "person", limit=5) == [(str(BOB), 1020), (str(ANN), 120)]
    assert await store.spenders(DAY, "chat", limit=1) == [(str(SCOPE), 1020)]
    assert await store.spenders(DAY + timedelta(days=1), "person", limit=5) == []


async def test_what_was_spent_long_ago_is_dropped_and_the_rest_is_told_as_before(store: ConversationStore) -> None:
    spent = [replace(ASKED, day=DAY + timedelta(days=n)) for n in range(-40, 3)]
    await store.spend(spent)
    await store.expire(START, keep_days=7)
    assert len(await store.spent(date.min)) == len(spent), "nothing goes by itself"
    await store.expire(START, keep_days=7, spent_since=DAY)
    assert [one.day for one in await store.spent(date.min, person=ANN)] == [DAY + timedelta(days=n) for n in range(3)]
    assert await store.spenders(date.min, "chat", limit=5) == [(str(PRIVATE_CHAT), 3 * ASKED.tokens)]
    assert len((await store.export(ANN))["usage"]) == 3


async def test_a_turn_is_stored_with_what_it_took_or_not_at_all(store: ConversationStore) -> None:
    turn = await Talk(store).opens("hello")
    answered = replace(turn, state=State.ANSWERED, answer=Answer("hi"))
    await store.save(answered, spent=[ASKED])
    await store.save(answered)
    assert await store.spent(DAY, person=ANN) == [ASKED.nameless]
    await store.raise_epoch(PRIVATE_CHAT)
    with pytest.raises(StaleEpoch):
        await store.save(answered, spent=[ASKED])
    assert await store.spent(DAY, person=ANN) == [ASKED.nameless]


async def test_a_job_is_ended_with_what_it_took(store: ConversationStore) -> None:
    job = Job("compact", str(PRIVATE_CHAT), START)
    await store.enqueue(job)
    await store.claim("me", START, lease=60, limit=1)
    await store.postpone(job, "me", START, spent=[ASKED])
    await store.claim("me", START, lease=60, limit=1)
    await store.finish(job, "me", spent=[ASKED])
    assert [one.requests for one in await store.spent(DAY, person=ANN)] == [2]


async def test_what_a_job_took_of_what_is_erased_is_nobody_s(store: ConversationStore) -> None:
    job = Job("compact", str(PRIVATE_CHAT), START)
    await store.finish(job, "me", spent=[ASKED])
    await store.postpone(job, "me", START, spent=[ASKED])
    assert await store.spent(DAY, person=ANN) == await store.spent(DAY, chat=PRIVATE_CHAT) == []
    assert [one.requests for one in await store.spent(DAY)] == [2]


async def test_what_an_erased_person_took_counts_for_the_bot_alone(store: ConversationStore) -> None:
    await Talk(store).says("hello")
    in_group = replace(ASKED, chat=SCOPE)
    await store.spend([ASKED, in_group, replace(in_group, person=BOB)])
    receipt = await store.erase_person(ANN)
    assert receipt.counts["usage"] == 2
    assert await store.spent(DAY, person=ANN) == await store.spent(DAY, chat=PRIVATE_CHAT) == []
    assert await store.spent(DAY, chat=GROUP) == [ASKED.nameless]
    assert [one.requests for one in await store.spent(DAY)] == [3]
    assert "usage" not in await store.holds(ANN.user)


async def test_an_erased_chat_has_been_paid_for(store: ConversationStore) -> None:
    await Talk(store).says("hello")
    await store.spend([ASKED])
    await store.erase_chat(PRIVATE_CHAT)
    assert await store.spent(DAY, person=ANN) == [ASKED.nameless]


async def test_what_was_taken_in_a_chat_goes_with_it(store: ConversationStore) -> None:
    group, supergroup = ChatKey("telegram", "-5"), ChatKey("telegram", "-1005")
    there = replace(ASKED, chat=supergroup)
    await store.spend([there, replace(there, chat=group)])
    await store.move_chat(group, supergroup)
    await store.move_chat(group, supergroup)
    assert await store.spent(DAY, chat=group) == []
    assert [one.requests for one in await store.spent(DAY, chat=supergroup)] == [2]


async def test_an_export_holds_what_a_person_took(store: ConversationStore) -> None:
    await store.spend([ASKED, replace(ASKED, person=BOB)])
    [entry] = (await store.export(ANN))["usage"]
    assert (entry["day"], entry["model"], entry["prompt"], entry["completion"]) == ("2026-03-01", "m-1", 100, 20)


async def test_any_name_of_a_model_is_taken(store: ConversationStore) -> None:
    await store.spend([replace(ASKED, model="m\0\ud800")])
    assert [one.model for one in await store.spent(DAY)] == ["m\ufffd\ufffd"]
