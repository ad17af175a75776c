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
