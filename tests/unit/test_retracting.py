"""What is taken back on the platform is forgotten here: kept, waiting, or being answered."""

from __future__ import annotations

import asyncio

from core.collaborators import Limits
from core.messages import ChatKey
from tests.driving import ANNA, hold, turns, until
from tests.fakes import World

CLUB = ChatKey("test", "club")


async def test_a_message_taken_back_leaves_nothing_of_its_turn() -> None:
    world = World()
    await world.say("I hid the key", id="41")
    await world.say("good night")
    assert await world.engine.retract(ANNA, "41")
    assert not await world.store.holds("I hid the key")
    assert [turn.message.text for turn in await turns(world)] == ["good night"]


async def test_what_is_not_known_is_not_taken_back() -> None:
    world = World()
    await world.say("hello", id="41")
    assert not await world.engine.retract(ANNA, "42")
    assert len(await turns(world)) == 1


async def test_the_answer_to_a_message_taken_back_meanwhile_is_not_given() -> None:
    world = World()
    gate = hold(world)
    asking = asyncio.create_task(world.say("I hid the key", id="41"))
    await gate.held.wait()
    assert await world.engine.retract(ANNA, "41")
    assert await asking is None
    assert world.adapter.shown == []
    assert not await world.store.holds("I hid the key")


async def test_what_somebody_else_is_being_answered_goes_on() -> None:
    world = World()
    await world.say("mine", "bob", "club", group=True, id="41")
    gate = hold(world)
    asking = asyncio.create_task(world.say("and yours", "anna", "club", group=True))
    await gate.held.wait()
    assert await world.engine.retract(CLUB, "41")
    gate.set()
    assert await asking
    assert [turn.message.text for turn in await turns(world, CLUB)] == ["and yours"]


async def test_of_a_burst_the_rest_is_answered() -> None:
    world = World(limits=Limits(max_burst=30))
    world.adapter.quiet = 0.05
    burst = [asyncio.create_task(world.say(text, id=id)) for text, id in (("one", "41"), ("two", "42"))]
    await until(lambda: world.engine.answering(ANNA))
    assert await world.engine.retract(ANNA, "41")
    await asyncio.gather(*burst)
    assert [[m.text for m in turn.messages] for turn in await turns(world)] == [["two"]]
    assert world.adapter.texts() == ["You said: two"]
