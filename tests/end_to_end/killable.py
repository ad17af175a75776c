"""The bot in the terminal, in a process of its own that kills itself at a named step.

python -m tests.end_to_end.killable "after save" 2 < lines     # the second time that step is reached
"""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import sys
import time
from threading import Thread
from typing import Any, cast

from adapters.console import ConsoleAdapter, place
from bots.app import open_app, open_database
from config.settings import load_settings
from core.adapter import Outgoing
from core.store import ConversationStore


class Death:
    """Kills the process, as `kill -9` does, `later` seconds after a step is reached for the given time."""

    def __init__(self, step: str, times: int, later: float = 0) -> None:
        self._step, self._left, self._later = step, times, later

    def at(self, step: str) -> None:
        self._left -= step == self._step
        if step == self._step and self._left == 0:
            Thread(target=self._kill, daemon=True).start() if self._later else self._kill()

    def _kill(self) -> None:
        time.sleep(self._later)
        os.kill(os.getpid(), signal.SIGKILL)


class MortalStore:
    """A store around each of whose methods the process may die."""

    def __init__(self, store: ConversationStore, death: Death) -> None:
        self._store, self._death = store, death

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if not inspect.iscoroutinefunction(method):
            return method

        async def call(*given: Any, **named: Any) -> Any:
            self._death.at(f"before {name}")
            result = await method(*given, **named)
            self._death.at(f"after {name}")
            return result

        return call


class MortalConsole(ConsoleAdapter):
    """A console before and after each of whose prints the process may die."""

    death: Death

    async def send(self, out: Outgoing) -> str:
        self.death.at("before send")
        sent = await super().send(out)
        self.death.at("after send")
        return sent


async def main(step: str, times: int) -> None:
    settings, death = load_settings(), Death(step, times)
    adapter = MortalConsole(*place("demo"))
    adapter.death = death
    async with open_database(settings) as store:
        mortal = cast(ConversationStore, MortalStore(store, death))
        async with open_app(settings, adapters=[adapter], store=mortal) as app:
            await adapter.run(app.engine)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
