"""Every chunk at most once, at the pace the platform asks; a preview becomes the answer."""

from __future__ import annotations

import asyncio

import pytest

from core import sentences
from core.adapter import Outgoing
from core.conversation import State
from core.delivery import PATIENCE
from core.errors import Ambiguous, Refused, RetryLater, Unreachable
from core.llm import Completion
from core.messages import ChatKey
from tests.driving import ANNA, HeldAdapter, hold, turns, until
from tests.fakes import FakeAdapter, FakeClock, ScriptedLLM, World

LONG = "".join(chr(97 + n) * 10 for n in range(4))


def world_of(answer: str = LONG, *, pace: float | None = None, adapter: FakeAdapter | None = None) -> World:
    world = World(llm=ScriptedLLM(lambda r: Completion(answer)), adapter=adapter or FakeAdapter(limit=10))
    world.adapter.pace = pace
    return world


def counts(world: World) -> tuple[int, int, int, int]:
    c = world.engine.shared.deliveries["test"].counts
    return c.sent, c.ambiguous, c.refused, c.waits


def chunks(world: World) -> list[str]:
    return [s.out.text[:1] for s in world.adapter.shown]


async def test_a_long_answer_is_sent_in_chunks_in_order() -> None:
    world = world_of()
    assert await world.said("hi") == LONG
    assert "".join(world.adapter.texts()) == LONG
    assert [s.out.nonce[:3] for s in world.adapter.shown] == ["1.0", "1.2", "1.3", "1.4"]
    assert counts(world) == (4, 0, 0, 0)


async def test_a_wait_the_platform_asks_for_is_obeyed_literally_and_goes_on_from_there() -> None:
    world = world_of()
    world.adapter.troubles = [None, RetryLater(33), RetryLater(7), None]
    await world.say("hi")
    assert chunks(world) == ["a", "b", "c", "d"]
    assert world.clock.slept == [33, 7]
    assert counts(world) == (4, 0, 0, 2)


async def test_an_answer_waits_hours_for_a_platform_that_cannot_be_reached() -> None:
    world = world_of("short")
    world.adapter.troubles = [RetryLater(5) for _ in range(5 * 720)]
    await world.say("hi")
    assert chunks(world) == ["s"]
    assert counts(world) == (1, 0, 0, 5 * 720)


async def test_a_platform_that_always_asks_to_wait_is_given_up_on() -> None:
    world = world_of("short")
    world.adapter.troubles = [RetryLater(600) for _ in range(100)]
    await world.say("hi")
    assert chunks(world) == []
    assert counts(world) == (0, 0, 1, PATIENCE // 600)
    assert await world.store.open_turns() == []


async def test_a_refused_chunk_is_counted_and_the_rest_goes_on() -> None:
    world = world_of()
    world.adapter.troubles = [None, Refused("no such entity")]
    await world.say("hi")
    assert chunks(world) == ["a", "c", "d"]
    assert counts(world) == (3, 0, 1, 0)


async def test_a_chunk_with_no_reply_is_not_sent_again_and_is_counted() -> None:
    world = world_of()
    world.adapter.troubles = [None, Ambiguous("timed out")]
    await world.say("hi")
    assert chunks(world) == ["a", "c", "d"]
    assert counts(world) == (3, 1, 0, 0)
    (turn,) = await turns(world)
    assert turn.state is State.DELIVERED
    assert turn.answer is not None
    assert turn.answer.text == LONG, "what is remembered does not depend on the delivery"


async def test_somebody_who_cannot_be_reached_ends_the_delivery() -> None:
    world = world_of()
    world.adapter.troubles = [None, Unreachable("blocked")]
    await world.say("hi")
    assert chunks(world) == ["a"]
    assert await world.store.open_turns() == []
    assert await world.said("back again") == LONG
    assert len(world.adapter.shown) == 5


async def test_choices_stand_under_the_last_chunk_and_a_group_is_answered_by_reply() -> None:
    world = world_of()
    message = world.message("hi", chat="g", group=True)
    await world.engine.handle(message)
    assert [s.out.reply_to for s in world.adapter.shown] == [message.id, "", "", ""]
    await world.say("hi")
    assert world.adapter.shown[-1].out.reply_to == ""


# -- previews -----------------------------------------------------------------------------------------------------


async def test_a_preview_is_edited_into_the_answer() -> None:
    world = world_of("word by word", pace=0.0, adapter=FakeAdapter())
    gate = hold(world)
    said = asyncio.create_task(world.say("hi"))
    await until(lambda: world.adapter.shown)
    assert world.adapter.texts() == ["word b"]
    assert not world.adapter.shown[0].out.final
    gate.set()
    await said
    assert world.adapter.texts() == ["word by word"]
    assert world.adapter.shown[0].out.final


async def test_a_preview_shows_no_more_than_one_chunk_and_the_rest_is_sent() -> None:
    world = world_of(pace=0.0)
    gate = hold(world)
    said = asyncio.create_task(world.say("hi"))
    await until(lambda: world.adapter.shown)
    assert world.adapter.texts() == ["a" * 10]
    gate.set()
    await said
    assert chunks(world) == ["a", "b", "c", "d"]


async def test_nothing_blank_is_ever_previewed() -> None:
    world = world_of("   \n   ", pace=0.0)
    await world.say("hi")
    assert "".join(world.adapter.texts()) == sentences.BLANK
    assert all(out.text.strip() for _, out in world.adapter.calls)


async def test_without_a_pace_nothing_is_previewed() -> None:
    world = world_of()
    await world.say("hi")
    assert all(out.final for _, out in world.adapter.calls)


async def test_a_first_preview_in_flight_when_the_answer_ends_becomes_the_answer() -> None:
    adapter = HeldAdapter(0)
    world = world_of("the whole answer", pace=0.0, adapter=adapter)
    said = asyncio.create_task(world.say("hi"))
    await adapter.held.wait()
    await until(lambda: world.llm.requests)
    for _ in range(50):
        await asyncio.sleep(0)
    adapter.free.set()
    await said
    assert adapter.texts() == ["the whole answer"]
    assert [kind for kind, _ in adapter.calls] == ["send", "edit"]


async def test_a_wait_asked_of_a_preview_holds_for_the_answer_too() -> None:
    world = world_of("the answer", pace=0.0)
    world.adapter.troubles = [RetryLater(33)]
    began = world.clock.now()
    await world.say("hi")
    assert world.adapter.texts() == ["the answer"]
    assert (world.clock.now() - began).total_seconds() >= 33
    assert counts(world)[3] == 1


@pytest.mark.parametrize("trouble", [Refused("no"), Unreachable("gone"), Ambiguous("?"), RuntimeError("a bug")])
async def test_a_failing_preview_costs_nobody_their_answer(trouble: Exception) -> None:
    world = world_of("the answer", pace=0.0)
    world.adapter.troubles = [trouble]
    gate = hold(world)
    said = asyncio.create_task(world.say("hi"))
    await until(lambda: world.adapter.calls)
    gate.set()
    await said
    assert world.adapter.texts() == ["the answer"]
    (turn,) = await turns(world)
    assert turn.state is State.DELIVERED


async def test_a_preview_that_cannot_be_edited_is_followed_by_the_answer() -> None:
    world = world_of("the answer", pace=0.0)
    gate = hold(world)
    said = asyncio.create_task(world.say("hi"))
    await until(lambda: world.adapter.shown)
    world.adapter.troubles = [Refused("too old")]
    gate.set()
    await said
    assert world.adapter.texts()[-1] == "the answer"


async def test_a_last_edit_with_no_reply_is_tried_again_since_it_shows_once() -> None:
    world = world_of("the answer", pace=0.0)
    gate = hold(world)
    said = asyncio.create_task(world.say("hi"))
    await until(lambda: world.adapter.shown)
    for _ in range(20):
        await asyncio.sleep(0)
    world.adapter.troubles = [Ambiguous("?"), None]
    gate.set()
    await said
    assert world.adapter.texts() == ["the answer"]


async def test_a_platform_whose_typing_fails_still_gets_previews() -> None:
    class Silent(FakeAdapter):
        async def typing(self, chat: ChatKey) -> None:
            raise Refused("not here")

    world = world_of("word by word", pace=0.0, adapter=Silent())
    gate = hold(world)
    said = asyncio.create_task(world.say("hi"))
    await until(lambda: world.adapter.shown)
    gate.set()
    await said
    assert world.adapter.texts() == ["word by word"]


async def test_a_slow_platform_slows_no_model() -> None:
    adapter = HeldAdapter(0)
    world = world_of("the answer", pace=0.0, adapter=adapter)
    said = asyncio.create_task(world.say("hi"))
    await adapter.held.wait()
    (request,) = world.llm.requests
    await until(lambda: world.llm.requests == [request])
    assert not said.done()
    adapter.free.set()
    await said


async def test_updates_keep_the_platforms_pace() -> None:
    world = world_of("word " * 40, pace=5.0, adapter=FakeAdapter())
    await world.say("hi")
    assert set(world.clock.slept) <= {5.0}


# -- restart ------------------------------------------------------------------------------------------------------


async def test_an_answer_half_delivered_goes_on_from_the_next_chunk() -> None:
    adapter = HeldAdapter(2, limit=10)
    world = world_of(adapter=adapter)
    said = asyncio.create_task(world.say("hi"))
    await adapter.held.wait()
    await world.engine.aclose(0)
    await said
    (turn,) = await turns(world)
    assert (turn.state, turn.chunk) == (State.ANSWERED, 3)
    await world.restart().recover()
    await world.engine.aclose()
    assert [o.text[:1] for kind, o in adapter.calls] == ["a", "b", "c", "d"]
    assert len(world.llm.requests) == 1, "it is not answered again"
    assert (await turns(world))[0].state is State.DELIVERED
    assert counts(world) == (1, 1, 0, 0), "whether the third was sent can't be known"


class StandingClock(FakeClock):
    """Time that stands still until `goes` is set: who sleeps goes on sleeping."""

    def __init__(self) -> None:
        super().__init__()
        self.asleep, self.goes = asyncio.Event(), asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.asleep.set()
        await self.goes.wait()
        await super().sleep(seconds)


async def test_a_chunk_that_waits_for_the_platform_when_all_stops_is_sent_after_the_restart() -> None:
    clock = StandingClock()
    world = World(llm=ScriptedLLM(lambda r: Completion(LONG)), adapter=FakeAdapter(limit=10), clock=clock)
    world.adapter.troubles = [None, RetryLater(33)]
    said = asyncio.create_task(world.say("hi"))
    await clock.asleep.wait()
    await world.engine.aclose(0)
    await said
    clock.goes.set()
    await world.restart().recover()
    await world.engine.aclose()
    assert chunks(world) == ["a", "b", "c", "d"]


async def test_a_stop_ends_a_delivery_that_waits_for_the_platform() -> None:
    clock = StandingClock()
    world = World(llm=ScriptedLLM(lambda r: Completion(LONG)), adapter=FakeAdapter(limit=10), clock=clock)
    world.adapter.troubles = [None, RetryLater(33)]
    said = asyncio.create_task(world.say("hi"))
    await clock.asleep.wait()
    stopping = asyncio.create_task(world.say("/stop"))
    assert await said is None, "it waits no longer, and what is said about it waits for the platform"
    assert [turn.state for turn in await turns(world)] == [State.DELIVERED]
    clock.goes.set()
    assert await stopping
    assert chunks(world)[0] == "a"
    assert not {"b", "c", "d"} & {*chunks(world)}
    assert "".join(world.adapter.texts()[1:]) == "Stopped. What you said is kept."


async def test_a_preview_begun_before_the_restart_is_edited_not_sent_anew() -> None:
    world = world_of("the answer", pace=0.0)
    gate = hold(world)
    said = asyncio.create_task(world.say("hi"))
    await until(lambda: world.adapter.shown)
    await world.engine.aclose(0)
    await said
    gate.set()
    await world.restart().recover()
    await world.engine.aclose()
    assert world.adapter.texts() == ["the answer"]
    assert [kind for kind, _ in world.adapter.calls].count("send") == 1


async def test_what_belongs_to_no_turn_is_sent_whole_and_failing_to_is_only_logged() -> None:
    world = world_of()
    delivery = world.engine.shared.deliveries["test"]
    await delivery.say(Outgoing(ANNA, LONG))
    assert chunks(world) == ["a", "b", "c", "d"]
    world.adapter.troubles = [Unreachable("blocked")]
    await delivery.say(Outgoing(ANNA, LONG))
    assert len(world.adapter.shown) == 4
