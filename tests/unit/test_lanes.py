"""One thing at a time in a chat, in order; bursts of one sender become one turn."""

from __future__ import annotations

import asyncio

from core.bot import Bot
from core.collaborators import Limits
from core.commands.command import Context, command
from core.lanes import Entry, Lane, Lanes
from core.messages import ChatKey, Message
from tests.driving import ANNA, hold, turns, until
from tests.fakes import World, check_request

GROUP = ChatKey("test", "g")


def busy() -> World:
    """A world in which quiet takes a while."""
    world = World(limits=Limits(max_burst=30))
    world.adapter.quiet = 0.02
    return world


async def said(world: World, chat: ChatKey = ANNA) -> list[list[str]]:
    return [[m.text for m in t.messages] for t in await turns(world, chat)]


async def test_a_burst_of_one_sender_is_one_turn() -> None:
    world = busy()
    await asyncio.gather(*(world.say(text) for text in ("so", "I was thinking", "about lunch")))
    assert await said(world) == [["so", "I was thinking", "about lunch"]]
    assert len(world.llm.requests) == 1
    assert world.llm.requests[0].messages[-1].content == "so\nI was thinking\nabout lunch"


async def test_each_of_a_burst_gets_the_one_reply() -> None:
    world = busy()
    one, two = await asyncio.gather(world.say("one"), world.say("two"))
    assert one == two
    assert len(world.adapter.shown) == 1


async def test_a_pasted_text_in_parts_is_joined_without_added_words() -> None:
    world = busy()
    parts = [f"part {n} " + "x" * 4000 for n in range(7)]
    await asyncio.gather(*(world.say(part) for part in parts))
    assert world.llm.requests[0].messages[-1].content == "\n".join(parts)


async def test_another_senders_words_are_another_turn() -> None:
    world = busy()
    await asyncio.gather(
        world.say("mine", "anna", "g", group=True),
        world.say("yours", "bob", "g", group=True),
        world.say("mine again", "anna", "g", group=True),
    )
    assert await said(world, GROUP) == [["mine"], ["yours"], ["mine again"]]


async def test_what_comes_after_the_quiet_time_is_a_turn_of_its_own() -> None:
    world = busy()
    await world.say("one")
    await world.say("two")
    assert await said(world) == [["one"], ["two"]]


async def test_without_a_quiet_time_each_message_is_a_turn() -> None:
    world = World()
    await asyncio.gather(*(world.say(text) for text in ("one", "two")))
    assert await said(world) == [["one"], ["two"]]


async def test_a_burst_ends_at_its_longest_however_much_is_said() -> None:
    world = World(limits=Limits(max_burst=0))
    world.adapter.quiet = 30
    assert await world.said("at once") == "You said: at once"


async def test_a_command_ends_a_burst_and_is_not_part_of_it() -> None:
    @command
    async def note(context: Context) -> str:
        """Note."""
        return "noted"

    world = World(bot=Bot(commands=[note]), limits=Limits(max_burst=60))
    world.adapter.quiet = 60
    await asyncio.gather(world.say("before"), world.say("/note"))
    assert await said(world) == [["before"]]
    assert world.adapter.texts() == ["You said: before", "noted"]


async def test_a_command_at_once_waits_for_no_burst() -> None:
    world = World(limits=Limits(max_burst=60))
    world.adapter.quiet = 60
    waiting = asyncio.create_task(world.say("hm"))
    assert "/help" in await world.said("/help")
    assert not waiting.done()
    await world.say("/stop")
    await waiting


async def test_what_comes_while_an_answer_is_made_joins_the_next_turn() -> None:
    world = busy()
    gate = hold(world)
    first = asyncio.create_task(world.say("first"))
    await gate.held.wait()
    later = [asyncio.create_task(world.say(text)) for text in ("second", "third")]
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(first, *later)
    assert await said(world) == [["first"], ["second", "third"]]
    for request in world.llm.requests:
        check_request(request)


def entry(text: str) -> Entry:
    world = World()
    return Entry(world.message(text))


async def test_a_lane_is_gone_when_nothing_is_left_to_do() -> None:
    done: list[Message] = []

    async def work(lane: Lane) -> None:
        done.append(lane.queue.popleft().message)
        await asyncio.sleep(0)

    lanes = Lanes(work)
    for text in ("one", "two"):
        lanes.put(ANNA, entry(text))
    assert len(lanes) == 1
    await until(lambda: len(lanes) == 0)
    assert [m.text for m in done] == ["one", "two"]


async def test_nothing_begins_while_a_chat_is_held() -> None:
    worked: list[str] = []

    async def work(lane: Lane) -> None:
        one = lane.queue.popleft()
        async with lane.lock:
            worked.append(one.message.text)

    lanes = Lanes(work)
    async with lanes.hold(ANNA) as stopped:
        assert not stopped
        lanes.put(ANNA, entry("one"))
        for _ in range(20):
            await asyncio.sleep(0)
        assert worked == []
    await until(lambda: worked)
    await until(lambda: len(lanes) == 0)


async def test_work_that_breaks_does_not_hold_up_the_next() -> None:
    done: list[str] = []

    async def work(lane: Lane) -> None:
        one = lane.queue.popleft()
        if one.message.text == "break":
            raise RuntimeError("a bug")
        done.append(one.message.text)

    lanes = Lanes(work)
    lanes.put(ANNA, entry("break"))
    lanes.put(ANNA, entry("go on"))
    await until(lambda: done)
    assert done == ["go on"]


async def test_what_waits_is_told_when_it_is_dropped() -> None:
    lane = Lane(ANNA)
    waiting = entry("one")
    lane.put(waiting)
    lane.drop()
    assert await waiting.done is None


async def test_draining_ends_what_hangs() -> None:
    async def work(lane: Lane) -> None:
        lane.queue.popleft()
        await asyncio.Event().wait()

    lanes = Lanes(work)
    one, two = entry("one"), entry("two")
    lanes.put(ANNA, one)
    lanes.put(ANNA, two)
    await asyncio.sleep(0)
    await lanes.drain(0)
    assert len(lanes) == 0
    assert two.done.done()
