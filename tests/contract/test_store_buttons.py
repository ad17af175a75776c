"""What every ConversationStore holds to with buttons whose commands a platform has no room for."""

from __future__ import annotations

from datetime import timedelta

from core.messages import PRIVATE
from core.store import ConversationStore
from tests.contract.talk import ANN, BOB, PRIVATE_CHAT, START, Talk, change, fact

MARKER = "zanzibar"


async def test_a_button_gives_its_command_and_whose_it_is(store: ConversationStore) -> None:
    one = await store.button("/forget one\0", ANN, START)
    two = await store.button("/forget two", BOB, START)
    assert await store.pressed(one) == ("/forget one\ufffd", ANN)
    assert await store.pressed(one) == ("/forget one\ufffd", ANN)
    assert await store.pressed(two) == ("/forget two", BOB)
    assert [await store.pressed(unknown) for unknown in (0, -1, two + 1, 10**30)] == [None] * 4


async def test_a_button_works_for_thirty_days(store: ConversationStore) -> None:
    id_ = await store.button("/help", ANN, START)
    await store.expire(START + timedelta(days=30), keep_days=7)
    assert await store.pressed(id_)
    await store.expire(START + timedelta(days=30, seconds=1), keep_days=7)
    assert await store.pressed(id_) is None
    assert await store.button("/help", ANN, START) > id_, "an id is never used again"


async def test_buttons_are_erased_with_their_person(store: ConversationStore) -> None:
    own, other = await store.button(MARKER, ANN, START), await store.button("/help", BOB, START)
    assert (await store.erase_person(ANN)).counts == {"buttons": 1}
    assert await store.pressed(own) is None
    assert await store.pressed(other)
    assert await store.holds(MARKER) == []


async def test_a_button_goes_when_what_it_may_name_is_erased(store: ConversationStore) -> None:
    talk = Talk(store)
    turn = await talk.says("hello")
    await store.apply(ANN, PRIVATE, [change("1", fact(MARKER, "x")), change("2", fact("y", MARKER, turn=turn))])
    await store.button(f"/memory fact {MARKER}", ANN, START)
    await store.erase_fact(ANN, PRIVATE, MARKER)
    await store.button(f"/memory fact {MARKER}", ANN, START)
    await store.erase_turn(PRIVATE_CHAT, turn.id)
    assert await store.holds(MARKER) == []


async def test_a_button_goes_when_a_turn_it_may_quote_is_erased_or_edited(store: ConversationStore) -> None:
    talk = Talk(store)
    for _ in range(2):
        turn = await talk.says(MARKER)
        await store.button(f"/memory save {turn.id} {MARKER}", ANN, START)
        other = await store.button("/help", BOB, START)
        await store.edit(PRIVATE_CHAT, turn.message.id, "something else")
        assert "button" not in await store.holds(MARKER)
        await store.button(f"/memory save {turn.id} {MARKER}", ANN, START)
        await store.erase_turn(PRIVATE_CHAT, turn.id)
        assert await store.holds(MARKER) == []
        assert await store.pressed(other)
