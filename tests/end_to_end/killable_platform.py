"""The bot on a platform, in processes that kill themselves at named steps.

python -m tests.end_to_end.killable_platform telegram

A line read (`2 after save`: the second time that step is reached) forks a process, whose end is printed as a status.
What takes long, importing, is done once.
"""

from __future__ import annotations

import asyncio
import os
import sys
from importlib import import_module
from typing import Any, cast

from bots.app import open_app, open_database
from config.settings import load_settings
from core.adapter import Adapter, Outgoing
from core.store import ConversationStore
from tests.end_to_end.killable import Death, MortalStore

LATER = ["adapters.apscheduler", "adapters.openai", "adapters.sql", "adapters.tiktoken", "core.memory.keepmind"]


class MortalPlatform:
    """A platform before and after each of whose messages, previews and edits the process may die."""

    def __init__(self, adapter: Adapter, death: Death) -> None:
        self._adapter, self._death = adapter, death

    def __getattr__(self, name: str) -> Any:
        return getattr(self._adapter, name)

    async def send(self, out: Outgoing) -> str:
        step = "send" if out.final else "preview"
        self._death.at(f"before {step}")
        sent = await self._adapter.send(out)
        self._death.at(f"after {step}")
        return sent

    async def edit(self, message_id: str, out: Outgoing) -> None:
        self._death.at("before edit")
        await self._adapter.edit(message_id, out)
        self._death.at("after edit")


async def main(platform: str, step: str, times: int) -> None:
    settings, death = load_settings(), Death(step, times)
    opened = getattr(import_module(f"bots.{platform}"), f"open_{platform}")
    async with opened(settings) as adapter, open_database(settings) as store:
        mortal = cast(ConversationStore, MortalStore(store, death))
        dying = cast(Adapter, MortalPlatform(adapter, death))
        async with open_app(settings, adapters=[dying], store=mortal) as app:
            await adapter.run(app.engine)


def spawn(platform: str, times: str, step: str) -> int:
    """Run the bot in a process of its own; gives how that ended."""
    pid = os.fork()
    if pid == 0:
        asyncio.run(main(platform, step, int(times)))
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    for name in [*LATER, f"bots.{sys.argv[1]}"]:
        import_module(name)
    for line in sys.stdin:
        print(spawn(sys.argv[1], *line.strip().split(" ", 1)), flush=True)
