"""What every ConversationStore holds to about who may talk: blocks, and strangers who ask to be let in."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.kept import MOST_PAIRINGS
from core.messages import ChatKey, Person
from core.store import ConversationStore
from tests.contract.talk import ANN, BOB, START

DAY = timedelta(days=1)


async def test_a_block_is_made_once_and_taken_back(store: ConversationStore) -> None:
    for entry in (str(BOB), str(ANN), str(ANN)):
        await store.block(entry, "root", START)
    assert await store.blocked() == [str(ANN), str(BOB)]
    assert await store.unblock(str(ANN))
    assert not await store.unblock(str(ANN))
    assert await store.blocked() == [str(BOB)]


async def test_a_block_goes_along_when_a_chat_becomes_another(store: ConversationStore) -> None:
    await store.block("telegram:-1", "root", START)
    await store.move_chat(ChatKey("telegram", "-1"), ChatKey("telegram", "-1001"))
    assert "telegram:-1001" in await store.blocked()


async def test_a_stranger_keeps_their_code_while_it_is_good(store: ConversationStore) -> None:
    assert await store.pair(ANN, "ONE", START, START + DAY) == "ONE"
    assert await store.pair(ANN, "TWO", START + DAY / 2, START + 2 * DAY) == "ONE"
    assert await store.pair(ANN, "TWO", START + DAY, START + 2 * DAY) == "TWO"
    assert await store.paired("ONE", START + DAY) is None


async def test_a_code_is_good_once_and_until_its_time_is_over(store: ConversationStore) -> None:
    await store.pair(ANN, "ONE", START, START + DAY)
    await store.pair(BOB, "TWO", START, START + DAY)
    assert await store.paired("ONE", START) == ANN
    assert await store.paired("ONE", START) is None
    assert await store.paired("", START) is None
    assert await store.paired("TWO", START + DAY) is None
    assert await store.holds("TWO") == ["pairing"]
    await store.expire(START + DAY, keep_days=7)
    assert await store.holds("TWO") == []


async def test_a_code_is_erased_with_its_person(store: ConversationStore) -> None:
    await store.pair(ANN, "ONE", START, START + DAY)
    assert (await store.erase_person(ANN)).counts == {"pairings": 1}
    assert await store.paired("ONE", START) is None


@pytest.mark.parametrize("after", [0, 1])
async def test_a_flood_of_strangers_fills_only_so_much(store: ConversationStore, after: int) -> None:
    for number in range(MOST_PAIRINGS):
        assert await store.pair(Person("telegram", str(number)), f"C{number}", START, START + DAY)
    late = await store.pair(ANN, "ONE", START + after * DAY, START + 2 * DAY)
    assert late == ("ONE" if after else "")
    assert await store.pair(Person("telegram", "7"), "X", START, START + DAY) == "C7"
