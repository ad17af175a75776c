"""The clock that wakes the compactor, on APScheduler."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_MISSED, JobExecutionEvent
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

logger = logging.getLogger("keepmind.clock")


@asynccontextmanager
async def ticking(tick: Callable[[], Awaitable[None]], seconds: float) -> AsyncIterator[None]:
    """Call `tick` at once and then every `seconds`, until the block ends.

    Late calls are made once, however late they are; a call is never made while the one before is still going on. What
    a call raises is logged by its kind, and the next one is made.
    """
    scheduler = AsyncIOScheduler(timezone=UTC)
    scheduler.add_listener(_report, EVENT_JOB_ERROR | EVENT_JOB_MISSED)
    scheduler.add_job(
        tick,
        IntervalTrigger(seconds=seconds, timezone=UTC),
        next_run_time=datetime.now(UTC),
        coalesce=True,
        max_instances=1,
        misfire_grace_time=None,
    )
    logging.getLogger("apscheduler").setLevel(logging.CRITICAL)  # it logs tracebacks; _report says it without
    scheduler.start()
    try:
        yield
    finally:
        scheduler.shutdown(wait=False)


def _report(event: JobExecutionEvent) -> None:
    if event.code == EVENT_JOB_MISSED:
        logger.warning("a tick of the clock was missed")
    else:
        logger.error("a tick of the clock failed: %s", event.exception)
