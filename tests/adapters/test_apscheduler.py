"""The clock that wakes the compactor."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest
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


async def test_a_tick_that_a_busy_process_is_late_for_is_made() -> None:
    ticks: list[int] = []

    async def tick() -> None:
        ticks.append(1)
        await asyncio.sleep(0)

    async with ticking(tick, 60):
        time.sleep(1.1)  # noqa: ASYNC251 -- the loop is held up for longer than APScheduler lets pass by itself
        await until(lambda: ticks)


async def test_it_ticks_whatever_the_local_time_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where clocks are put back in autumn, a time of day comes twice."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    ticks: list[int] = []

    async def tick() -> None:
        ticks.append(1)
        await asyncio.sleep(0)

    try:
        async with ticking(tick, 0.01):
            await until(lambda: len(ticks) > 2)
    finally:
        monkeypatch.undo()
        time.tzset()


async def test_one_that_is_due_when_all_ends_leaves_no_trace(caplog: pytest.LogCaptureFixture) -> None:
    ticks: list[int] = []

    async def tick() -> None:
        ticks.append(1)
        await asyncio.Event().wait()

    async with ticking(tick, 0.01):
        await until(lambda: ticks)
        time.sleep(0.05)  # noqa: ASYNC251 -- so that another is due
    assert [record.message for record in caplog.records if record.levelname in ("ERROR", "CRITICAL")] == []
    assert "Traceback" not in caplog.text
