"""Processes of the bot that can be killed at named steps, at any moment, or frozen."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tests.end_to_end.bot import Bot

NEVER = "never"


@dataclass(eq=False)
class Fork:
    """One process: `serving` once it has taken the bot, `ended` with its status."""

    pid: int
    serving: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Future[int] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    async def serves(self) -> None:
        """Wait until it has taken the bot. Fails when it ends before."""
        serving = asyncio.create_task(self.serving.wait())
        either: list[asyncio.Future[Any]] = [serving, self.ended]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        assert serving.done(), f"the process ended with {self.ended.result()}"

    async def killed(self) -> None:
        """Kill it, and wait until it is gone."""
        os.kill(self.pid, signal.SIGKILL)
        await self.ended


class Forks:
    """Starts processes, which cost little since all of them share what was imported once."""

    def __init__(self, parent: asyncio.subprocess.Process) -> None:
        self._parent = parent
        self._started: asyncio.Queue[Fork] = asyncio.Queue()
        self._forks: dict[int, Fork] = {}

    async def start(self, step: str = NEVER, times: int = 1, later: float = 0) -> Fork:
        """Start a process that dies `later` seconds after a step is reached for the given time."""
        assert self._parent.stdin
        self._parent.stdin.write(f"{times} {later} {step}\n".encode())
        started, ended = asyncio.create_task(self._started.get()), asyncio.create_task(self._parent.wait())
        await asyncio.wait({started, ended}, return_when=asyncio.FIRST_COMPLETED)
        assert started.done(), f"what starts processes ended with {ended.result()}"
        ended.cancel()
        return started.result()

    async def listen(self) -> None:
        """Take in what is told of the processes."""
        assert self._parent.stdout
        async for line in self._parent.stdout:
            what, pid, *more = line.decode().split()
            fork = self._forks.setdefault(int(pid), Fork(int(pid)))
            if what == "started":
                self._started.put_nowait(fork)
            elif what == "serves":
                fork.serving.set()
            elif what == "ended":
                fork.ended.set_result(int(more[0]))


@asynccontextmanager
async def forks(bot: Bot, platform: str) -> AsyncIterator[Forks]:
    """Run what starts processes, and at the end kill all of them."""
    parent = await bot.start("-m", "tests.end_to_end.killable_platform", platform, group=True, log=bot.folder / "log")
    started = Forks(parent)
    listening = asyncio.create_task(started.listen())
    try:
        yield started
    finally:
        with suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(parent.pid, signal.SIGKILL)
        await parent.wait()
        await listening
