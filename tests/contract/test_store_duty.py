"""What every ConversationStore holds to: who serves a bot, and what waits without being answered."""

from __future__ import annotations

from core.store import ConversationStore
from tests.contract.talk import Talk, message


async def test_a_bot_that_nobody_serves_is_had_at_once(store: ConversationStore) -> None:
    duty = store.duty()
    await duty.take("telegram:1")
    await duty.take("telegram:1")
    await duty.take("discord:2")
    assert store.duty() is duty


async def test_who_serves_a_bot_can_write(store: ConversationStore) -> None:
    await store.duty().take("telegram:1")
    turn = await Talk(store).says("hello")
    await store.duty().take("discord:2")
    await Talk(store, said=9).says("again")
    assert await store.turn(turn.id) == turn


async def test_a_message_left_waits_no_longer_and_is_still_seen(store: ConversationStore) -> None:
    arrived = await Talk(store).arrives("hello")
    assert await store.leave(arrived)
    assert await store.waiting() == []
    assert await store.holds("hello") == []
    assert not await store.leave(arrived)
    assert not await store.receive(arrived)


async def test_what_a_turn_has_or_nobody_received_can_not_be_left(store: ConversationStore) -> None:
    turn = await Talk(store).says("hello")
    assert not await store.leave(turn.message)
    assert not await store.leave(message("other", "99"))


async def test_the_first_bot_of_a_platform_is_noted_until_it_is_dismissed(store: ConversationStore) -> None:
    assert [await store.introduce(bot) for bot in ("telegram:1", "discord:2", "telegram:3", "telegram:1")] == [
        "telegram:1",
        "discord:2",
        "telegram:1",
        "telegram:1",
    ]
    assert await store.dismiss("telegram")
    assert not await store.dismiss("telegram")
    assert await store.introduce("telegram:3") == "telegram:3"
    assert await store.introduce("discord:9") == "discord:2"
