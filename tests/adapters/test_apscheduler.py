"""The clock that wakes the compactor."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

from adapters.apscheduler import hasten, ticking
from tests.adapters.telegram.life import until


async def test_it_ticks_on_after_a_tick_that_failed() -> None:
    ticks = []

    async def tick() -> None:
        ticks.append(1)
        raise RuntimeError("a bug")

    async with ticking(tick, 0.01):
        await until(lambda: len(ticks) > 2)


async def test_when_the_machines_clock_was_put_back_it_ticks_at_once() -> None:
    scheduler = AsyncIOScheduler(timezone=UTC)
    job = scheduler.add_job(print, IntervalTrigger(seconds=60, timezone=UTC))
    scheduler.start(paused=True)
    now = datetime.now(UTC)
    job.modify(next_run_time=now + timedelta(seconds=70))
    hasten(job, 60)
    assert job.next_run_time == now + timedelta(seconds=70)
    job.modify(next_run_time=now + timedelta(days=1))
    hasten(job, 60)
    assert job.next_run_time <= datetime.now(UTC)
    scheduler.shutdown(wait=False)
