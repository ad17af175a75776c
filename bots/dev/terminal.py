"""The terminal of a bot that is tried on a platform's test server: lines in, what becomes of them out."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from typing import Protocol

from adapters.console import lines
from bots.dev.hands import Mistyped
from bots.dev.scene import Scene
from bots.output import tell

_QUIET = 0.15


class Sight(Protocol):
    """What the people see."""

    def news(self) -> list[str]:
        """Tell what is new."""
        ...

    def growing(self) -> str:
        """Give the words the bot is writing just now."""
        ...


class Doer(Protocol):
    """What does what lines say."""

    @property
    def name(self) -> str:
        """Who is talking."""
        ...

    def do(self, line: str) -> str | None:
        """Do what a line says; gives what to print of it. Raises Mistyped."""
        ...


async def until_either(*works: Coroutine[None, None, None]) -> None:
    """Run works side by side until one has ended; the others are cancelled. Raises what it raised."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


class Terminal:
    """Reads lines and prints what becomes of them.

    Through a pipe a line is done when the bot has come to rest. At a terminal on both sides lines may come meanwhile,
    and what the bot is writing is seen below them.
    """

    def __init__(self, scene: Scene, eyes: Sight, hands: Doer) -> None:
        self._scene, self._eyes, self._hands = scene, eyes, hands

    async def run(self) -> None:
        """Talk until the input ends."""
        if sys.stdin.isatty() and sys.stdout.isatty():
            await self._live()
            return
        await self._look()
        async for line in lines(sys.stdin.fileno()):
            if line.strip():
                self._do(line)
                await self._look()

    def _do(self, line: str) -> None:
        try:
            told = self._hands.do(line)
        except Mistyped as error:
            tell(str(error))
            return
        if told:
            print(told, flush=True)

    async def _look(self) -> None:
        await self._rest()
        for told in self._eyes.news():
            print(told, flush=True)

    async def _rest(self) -> None:
        """Wait until the bot has taken and answered all that was said."""
        while True:
            while await self._scene.is_busy():  # noqa: ASYNC110 -- what is stored rings no bell
                await asyncio.sleep(0.03)
            with suppress(TimeoutError):
                await self._scene.quiet(_QUIET)
            if not await self._scene.is_busy():
                return

    async def _live(self) -> None:
        from prompt_toolkit.patch_stdout import patch_stdout

        tell("Ctrl-D quits, :help lists what can be done.")
        with patch_stdout():
            await until_either(self._watch(), self._read())

    async def _watch(self) -> None:
        while True:
            await self._look()
            await self._scene.changes()

    async def _read(self) -> None:
        async for line in self._typed():
            if line.strip():
                self._do(line)

    async def _typed(self) -> AsyncIterator[str]:
        from prompt_toolkit import PromptSession

        session: PromptSession[str] = PromptSession(bottom_toolbar=self._growing, refresh_interval=0.3)
        with suppress(EOFError, KeyboardInterrupt):
            while True:
                yield await session.prompt_async(lambda: f"{self._hands.name}> ")

    def _growing(self) -> str:
        return self._eyes.growing().replace("\n", " ")[-200:]
