"""What a stopped process left is taken up so many chats at a time, in order, with all that comes meanwhile."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from core.bot import Ports, build
from core.collaborators import Limits
from core.messages import ChatKey, Person
from tests.driving import HeldAdapter, hold, until
from tests.fakes import WordCounter, World

CHATS = [f"chat {n}" for n in range(20)]
PARALLEL = 3


async def left(*texts: str) -> World:
    """Give a bot that was stopped before it answered what was said in each chat."""
    world = World(limits=Limits(parallel=PARALLEL))
    for text in texts:
        for chat in CHATS:
            await world.store.receive(world.message(f"{text} in {chat}", chat))
    return world


def said(world: World, chat: str) -> list[str]:
    """Give what each request made in a chat was to answer."""
    last = (request.messages[-1].content for request in world.llm.of("answer"))
    return [text for text in last if chat in [line.rpartition(" in ")[2] for line in text.splitlines()]]


async def test_only_so_many_chats_are_queued_at_a_time_and_in_the_end_all_are_answered() -> None:
    world = await left("one", "two")
    gate = hold(world)
    assert await world.engine.recover() == 2 * len(CHATS)
    await gate.held.wait()
    assert world.engine.busy == PARALLEL
    assert world.engine.waiting >= 2 * (len(CHATS) - PARALLEL)
    gate.set()
    await world.engine.idle()
    assert world.engine.waiting == 0
    for chat in CHATS:
        assert world.adapter.texts(ChatKey("test", chat)) == [f"You said: {n} in {chat}" for n in ("one", "two")]


async def test_what_waited_in_a_chat_is_one_turn_however_late_its_chat_is_taken_up() -> None:
    world = await left("one", "two")
    world.adapter.quiet = 0.001
    await world.engine.recover()
    await world.engine.idle()
    for chat in CHATS:
        assert said(world, chat) == [f"one in {chat}\ntwo in {chat}"]


async def test_what_comes_meanwhile_is_answered_after_what_waited_there_and_does_not_wait_for_the_others() -> None:
    world = await left("one")
    gate = hold(world)
    await world.engine.recover()
    await gate.held.wait()
    last = CHATS[-1]
    answer = asyncio.create_task(world.say(f"two in {last}", last))
    await until(lambda: world.engine.busy > PARALLEL)
    gate.set()
    assert await answer
    await world.engine.idle()
    assert said(world, last) == [f"one in {last}", f"two in {last}"]
    assert len(world.llm.of("answer")) == len(CHATS) + 1


async def test_what_comes_while_it_is_found_out_what_was_left_keeps_its_order() -> None:
    world = await left("one")
    recovering = asyncio.create_task(world.engine.recover())
    answers = [asyncio.create_task(world.say(f"two in {chat}", chat)) for chat in CHATS]
    await asyncio.gather(recovering, *answers)
    await world.engine.idle()
    for chat in CHATS:
        assert said(world, chat) == [f"one in {chat}", f"two in {chat}"]


async def test_what_a_standby_was_storing_as_it_took_the_bot_is_answered_once() -> None:
    world = await left()
    world.engine.standby.add("test")
    storing = [asyncio.create_task(world.say(f"{text} in {chat}", chat)) for text in ("one", "two") for chat in CHATS]
    await asyncio.sleep(0)
    world.engine.standby.discard("test")
    await asyncio.gather(world.engine.recover(), *storing)
    await world.engine.idle()
    for chat in CHATS:
        assert said(world, chat) == [f"one in {chat}", f"two in {chat}"]


async def test_a_chat_that_becomes_another_before_it_is_taken_up_is_answered_there() -> None:
    world = await left("one")
    gate = hold(world)
    await world.engine.recover()
    await gate.held.wait()
    await world.engine.move(ChatKey("test", CHATS[-1]), ChatKey("test", "new"))
    gate.set()
    await world.engine.idle()
    assert world.adapter.texts(ChatKey("test", "new")) == [f"You said: one in {CHATS[-1]}"]


async def test_a_bot_told_to_stop_takes_up_no_more_and_the_next_start_does() -> None:
    world = await left("one")
    gate = hold(world)
    await world.engine.recover()
    await gate.held.wait()
    closing = asyncio.create_task(world.engine.aclose())
    await asyncio.sleep(0)
    gate.set()
    await closing
    assert len(world.adapter.texts()) == PARALLEL
    await world.restart().recover()
    await world.engine.idle()
    assert sorted(world.adapter.texts()) == sorted(f"You said: one in {chat}" for chat in CHATS)


async def test_a_platform_that_takes_nothing_holds_up_no_other() -> None:
    world = await left("one")
    for n in range(2 * PARALLEL):
        there = replace(world.message(f"one there {n}"), chat=ChatKey("other", str(n)), sender=Person("other", str(n)))
        await world.store.receive(there)
    away = HeldAdapter(0)
    away.platform = "other"
    ports = Ports(world.store, world.llm, WordCounter(), world.clock, [away, world.adapter])
    engine = build(world.bot, ports, allowed=["test:*", "other:*"], limits=Limits(parallel=1))
    await engine.recover("other")
    await away.held.wait()
    await engine.recover("test")
    await until(lambda: len(world.adapter.shown) == len(CHATS))
    assert away.shown == []
    away.free.set()
    await engine.idle()
    assert len(away.shown) == 2 * PARALLEL
