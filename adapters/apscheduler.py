"""The clock that wakes the compactor, on APScheduler."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from apscheduler.events import EVENT_JOB_MISSED, JobExecutionEvent
from apscheduler.job import Job
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

from core.errors import KeepmindError

logger = logging.getLogger("keepmind.clock")


@asynccontextmanager
async def ticking(tick: Callable[[], Awaitable[None]], seconds: float, *, at_once: bool = True) -> AsyncIterator[None]:
    """Call `tick` every `seconds`, the first time at once if so wanted, until the block ends; what is going on then is
    cancelled.

    Late calls are made once, however late they are; a call is never made while the one before is still going on. What
    a call raises is logged by its kind, and the next one is made.
    """
    scheduler = AsyncIOScheduler(timezone=UTC)
    scheduler.add_listener(_report_missed, EVENT_JOB_MISSED)
    guarded = _Guarded(tick)
    first = datetime.now(UTC) + timedelta(seconds=0 if at_once else seconds)
    job = scheduler.add_job(
        guarded.call,
        IntervalTrigger(seconds=seconds, timezone=UTC),
        next_run_time=first,
        coalesce=True,
        max_instances=1,
        misfire_grace_time=None,
    )
    scheduler.start()
    watching = asyncio.create_task(_watch(job, seconds))
    try:
        yield
    finally:
        watching.cancel()
        scheduler.pause()
        await guarded.end()
        await asyncio.sleep(0)  # let the call return before the scheduler ends: it would be logged as cancelled
        scheduler.shutdown(wait=False)


async def _watch(job: Job, seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        hasten(job, seconds)


def hasten(job: Job, seconds: float) -> None:
    """Let a job that runs every `seconds` run now, if the machine's clock was put back and it would wait for long."""
    now = datetime.now(UTC)
    if job.next_run_time is not None and job.next_run_time > now + timedelta(seconds=2 * seconds):
        job.modify(next_run_time=now)


class _Guarded:
    """Calls a function in a task of its own, so that it can be ended, and what it raises reaches only the log."""

    def __init__(self, function: Callable[[], Awaitable[None]]) -> None:
        self._function = function
        self._task: asyncio.Task[None] | None = None

    async def call(self) -> None:
        self._task = asyncio.create_task(self._guard())
        await asyncio.wait([self._task])

    async def _guard(self) -> None:
        try:
            await self._function()
        except Exception as error:  # the clock goes on, whatever one tick met
            logger.error("a tick of the clock failed: %s", _in_words(error))

    async def end(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])


def _in_words(error: Exception) -> str:
    return str(error) if isinstance(error, KeepmindError) else type(error).__name__


def _report_missed(event: JobExecutionEvent) -> None:  # noqa: ARG001 -- what a listener is given
    logger.warning("a tick of the clock was missed")
