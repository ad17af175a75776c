"""One message is forgotten by its id, as platforms name it."""

from __future__ import annotations

from typing import Any

from tests.talks import a_world, facts, tell

CLUB: dict[str, Any] = {"chat": "club", "group": True}


async def test_a_message_is_forgotten_by_its_id() -> None:
    world = a_world()
    await tell(world, "I play chess", ("add", "hobbies", "chess"), id="41")
    await world.say("I like tea", id="42")
    assert await world.said("/forget message 41") == "Erased: changes: 1, facts: 1, turns: 1."
    assert await facts(world) == {}
    assert await world.said("/forget message 41") == "I keep nothing of that message."
    assert not await world.store.holds("chess")
    assert await world.store.holds("tea")


async def test_a_message_of_somebody_else_is_forgotten_by_admins_alone() -> None:
    world = a_world()
    await world.say("bobs words", who="bob", id="41", **CLUB)
    assert "Only who wrote a message" in await world.said("/forget message 41", **CLUB)
    assert not await world.store.audited()
    assert "turns: 1" in await world.said("/forget message 41", who="root", **CLUB)
    assert [entry.action for entry in await world.store.audited()] == ["/forget message 41"]
    assert not await world.store.holds("bobs words")
