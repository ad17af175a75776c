"""The machine's clock is put forward and back: the talk goes on in order, and nothing waits for long."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.conversation import Segment, Turn
from core.errors import RetryLater
from tests.driving import ANNA, turns
from tests.fakes import START, World


@pytest.mark.parametrize("jump", [timedelta(hours=1), timedelta(days=1)])
async def test_the_talk_goes_on_in_order_and_is_compacted(jump: timedelta) -> None:
    world = World()
    clock, said = world.clock, []
    for n in range(90):
        clock.time += {30: jump, 60: -jump}.get(n, timedelta(seconds=20))
        said.append(f"number {n}")
        assert await world.said(said[-1]) == f"You said: number {n}"
        await world.engine.compactor.tick()
        await world.settle()
    covered: list[Turn] = []
    for step in (await world.store.load(ANNA)).path:
        covered += await world.store.covered(step) if isinstance(step, Segment) else [step]
    assert [turn.message.text for turn in covered] == said
    assert len(await turns(world)) < 60, "it was folded, whatever the clock said"
    assert await world.store.verify() == []
    assert f"{clock.now():%Y-%m-%d}" in world.prompt()


async def test_who_was_told_to_wait_waits_no_longer_than_that_when_the_clock_is_put_back() -> None:
    world = World()
    world.adapter.troubles = [RetryLater(30)]
    await world.say("hello")
    world.engine.shared.deliveries["test"].keep_closed(ANNA, 30)
    world.clock.time -= timedelta(days=1)
    world.clock.slept.clear()
    assert await world.said("again") == "You said: again"
    assert sum(world.clock.slept) <= 30
    assert world.clock.now() < START
