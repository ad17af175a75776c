"""What every ConversationStore holds to about accounts that are one person's."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from core.messages import PRIVATE, Person
from core.store import ConversationStore
from tests.contract.talk import ANN, BOB, START, change, fact

EVE, DAN = Person("discord", "7"), Person("discord", "8")
MINUTE = timedelta(minutes=1)


async def join(store: ConversationStore, owner: Person, other: Person, code: str) -> None:
    await store.offer_link(owner, code, START + MINUTE)
    assert await store.link(code, other, START) == owner


async def test_a_code_is_good_once_until_its_time_is_over(store: ConversationStore) -> None:
    await store.offer_link(ANN, "ONE", START + MINUTE)
    assert await store.link_owner("ONE", START) == ANN
    assert await store.link_owner("ONE", START + MINUTE) is None
    assert await store.link("ONE", EVE, START + MINUTE) is None
    assert await store.link("TWO", EVE, START) is None
    assert await store.link("ONE", EVE, START) == ANN
    assert await store.link("ONE", DAN, START) is None
    assert await store.linked(DAN) == []


async def test_a_code_entered_by_many_at_once_links_one(store: ConversationStore) -> None:
    await store.offer_link(ANN, "ONE", START + MINUTE)
    people = [Person("discord", str(number)) for number in range(10)]
    owners = await asyncio.gather(*(store.link("ONE", person, START) for person in people))
    assert owners.count(ANN) == 1
    assert len(await store.linked(ANN)) == 1


async def test_a_newer_code_takes_the_place_of_the_one_before(store: ConversationStore) -> None:
    for code in ("ONE", "TWO"):
        await store.offer_link(ANN, code, START + MINUTE)
    assert await store.link_owner("ONE", START) is None
    assert await store.link_owner("TWO", START) == ANN


async def test_nobody_is_linked_with_themselves(store: ConversationStore) -> None:
    await store.offer_link(ANN, "ONE", START + MINUTE)
    assert await store.link("ONE", ANN, START) is None
    assert await store.link_owner("ONE", START) == ANN
    assert await store.linked(ANN) == []


async def test_accounts_of_one_view_are_linked_with_each_other(store: ConversationStore) -> None:
    await join(store, ANN, EVE, "ONE")
    await join(store, BOB, DAN, "TWO")
    assert await store.linked(ANN) == [EVE]
    await join(store, EVE, DAN, "THREE")
    assert await store.linked(ANN) == sorted([BOB, DAN, EVE], key=str)
    assert await store.linked(DAN) == sorted([ANN, BOB, EVE], key=str)


async def test_unlinking_ends_the_view_of_one_and_moves_nothing(store: ConversationStore) -> None:
    await join(store, ANN, EVE, "ONE")
    await join(store, ANN, DAN, "TWO")
    await store.apply(ANN, PRIVATE, [change("1", fact("name", "Ann"))])
    assert await store.unlink(ANN)
    assert not await store.unlink(ANN)
    assert await store.linked(ANN) == []
    assert await store.linked(EVE) == [DAN]
    assert dict(await store.known(ANN, PRIVATE)) == {"name": "Ann"}
    assert await store.unlink(EVE)
    assert not await store.unlink(DAN), "one account alone is linked with none"


async def test_who_left_a_view_and_begins_another_is_not_in_the_old_one(store: ConversationStore) -> None:
    await join(store, ANN, EVE, "ONE")
    await join(store, ANN, DAN, "TWO")
    await store.unlink(ANN)
    await join(store, ANN, BOB, "THREE")
    assert await store.linked(ANN) == [BOB]
    assert await store.linked(EVE) == [DAN]


async def test_wrong_codes_are_counted_for_each_and_known_for_a_day(store: ConversationStore) -> None:
    for number in range(3):
        await store.note_wrong_code(ANN, START + number * MINUTE)
    assert await store.wrong_codes(ANN, START - MINUTE) == 3
    assert await store.wrong_codes(ANN, START) == 2
    assert await store.wrong_codes(BOB, START - MINUTE) == 0
    await store.offer_link(ANN, "ONE", START + MINUTE)
    await store.expire(START + timedelta(days=1, minutes=1), keep_days=7)
    assert await store.wrong_codes(ANN, START - MINUTE) == 2
    assert await store.holds("ONE") == []


async def test_links_and_codes_are_erased_with_their_person(store: ConversationStore) -> None:
    await join(store, ANN, EVE, "ONE")
    await store.offer_link(ANN, "TWO", START + MINUTE)
    await store.note_wrong_code(ANN, START)
    assert (await store.erase_person(ANN)).counts == {"links": 2}
    assert await store.linked(EVE) == []
    for text in ("TWO", str(ANN)):
        assert await store.holds(text) == []
