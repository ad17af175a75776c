"""A chat becomes another while people talk in it: nothing is lost, and nothing is answered twice."""

from __future__ import annotations

import asyncio

from core.messages import ChatKey
from tests.driving import hold, turns
from tests.fakes import World

OLD, NEW = ChatKey("test", "old"), ChatKey("test", "new")


async def said(world: World, chat: ChatKey) -> list[str]:
    return [turn.message.text for turn in await turns(world, chat)]


async def test_the_turn_in_progress_ends_first_and_what_waits_is_answered_in_the_new_chat() -> None:
    world = World()
    gate = hold(world)
    first = asyncio.create_task(world.say("one", chat="old", group=True))
    await gate.held.wait()
    second = asyncio.create_task(world.say("two", chat="old", group=True))
    moving = asyncio.create_task(world.engine.move(OLD, NEW))
    for _ in range(50):
        await asyncio.sleep(0)
    assert not moving.done()
    gate.set()
    one, _, two = await asyncio.gather(first, moving, second)
    assert one
    assert two
    assert (one.text, two.text) == ("You said: [anna] one", "You said: [anna] two")
    assert (await said(world, OLD), await said(world, NEW)) == ([], ["one", "two"])
    assert world.adapter.texts(NEW) == ["You said: [anna] two"]


async def test_open_turns_and_waiting_messages_of_another_life_move_too() -> None:
    world = World()
    gate = hold(world)
    await world.engine.accept(world.message("one", chat="old", group=True))
    await gate.held.wait()
    await world.engine.accept(world.message("two", chat="old", group=True))
    await world.engine.aclose(0)
    world.llm.gate = None
    engine = world.restart()
    await engine.move(OLD, NEW)
    await engine.recover()
    await engine.aclose()
    assert world.adapter.texts(NEW) == ["You said: [anna] one", "You said: [anna] two"]
    assert await said(world, NEW) == ["one", "two"]


async def test_two_moves_at_once_and_a_talk_in_both_chats_lose_nothing() -> None:
    world = World()
    talk = [world.say(f"{chat} {n}", chat=chat, group=True) for n in range(5) for chat in ("old", "new")]
    await asyncio.gather(*talk, world.engine.move(OLD, NEW), world.engine.move(OLD, NEW))
    await world.engine.move(OLD, NEW)
    assert sorted(await said(world, NEW)) == sorted(f"{chat} {n}" for n in range(5) for chat in ("old", "new"))
    assert len(world.llm.of("answer")) == 10


async def test_a_chat_that_the_configuration_allows_stays_allowed() -> None:
    world = World(allowed=[str(OLD)])
    await world.say("one", chat="old", group=True)
    await world.engine.move(OLD, NEW)
    assert await world.said("two", chat="new", group=True) == "You said: [anna] two"
