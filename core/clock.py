"""The port to time."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time and waits."""

    def now(self) -> datetime:
        """Tell the time, aware UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; zero or less only yields."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Tell the time, aware UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Wait; zero or less only yields."""
        await asyncio.sleep(max(seconds, 0))


async def came_within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event; say whether it came within `seconds`.

    `asyncio.wait_for` of Python 3.11 may swallow a cancellation that comes together with the event; this does not.
    """
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
