"""Waiting until something changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal, TypeVar

T = TypeVar("T")


class Signal:
    """A bell: all who wait hear each ring."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def ring(self) -> None:
        """Wake all who wait now."""
        rung, self._event = self._event, asyncio.Event()
        rung.set()

    async def wait(self, timeout: float | None = None) -> bool:
        """Wait for the next ring; tell whether it came in time (seconds)."""
        try:
            async with asyncio.timeout(timeout):
                await self._event.wait()
        except TimeoutError:
            return False
        return True

    async def until(self, condition: Callable[[], T | Literal[False] | None], timeout: float) -> T:
        """Give what the condition says as soon as it is true; raises TimeoutError after so many seconds."""
        async with asyncio.timeout(timeout):
            while not (value := condition()):
                await self._event.wait()
        return value
