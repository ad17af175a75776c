"""The bot on a platform, in processes that can be killed at named steps and moments.

python -m tests.end_to_end.killable_platform telegram

A line read (`2 0.1 after save`: 0.1 seconds after the second time that step is reached; `1 0 never` for one that lives)
forks a process. Printed is `started PID`, `serves PID` when it has taken the bot, and `ended PID STATUS`. What takes
long, importing, is done once.
"""

from __future__ import annotations

import asyncio
import logging
import os
import select
import signal
import sys
import traceback
from importlib import import_module
from typing import Any, cast

from adapters.tiktoken import TiktokenCounter
from bots.app import open_app, open_database
from bots.logging import set_up_logging
from bots.platforms import Platform
from bots.serving import served
from config.settings import load_settings
from core.adapter import Outgoing
from core.store import ConversationStore
from tests.end_to_end.killable import Death, MortalStore

LATER = [
    "adapters.apscheduler",
    "adapters.openai",
    "adapters.sql.postgresql",
    "core.memory.keepmind",
]


class MortalPlatform:
    """A platform before and after each of whose messages, previews and edits the process may die."""

    def __init__(self, adapter: Platform, death: Death) -> None:
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


class Telling(logging.Handler):
    """Tells when this process serves the bot."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith("this process serves"):
            tell("serves", os.getpid())


async def shift(platform: str, death: Death) -> bool:
    """Serve until the process dies; say whether another process has the bot."""
    settings = load_settings()
    set_up_logging(settings)
    logging.getLogger("keepmind").addHandler(telling)
    opened = getattr(import_module(f"bots.{platform}"), f"open_{platform}")
    async with opened(settings) as adapter, open_database(settings) as store:
        mortal = cast(ConversationStore, MortalStore(store, death))
        dying = cast(Platform, MortalPlatform(adapter, death))
        async with open_app(settings, adapters=[dying], store=mortal, standby=True) as app:
            return await served(app, [dying], settings)


async def main(platform: str, death: Death) -> None:
    while await shift(platform, death):
        pass


telling = Telling()


def tell(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def start(platform: str, order: str) -> None:
    """Run the bot in a process of its own."""
    times, later, step = order.split(" ", 2)
    pid = os.fork()
    if pid:
        tell("started", pid)
        return
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        asyncio.run(main(platform, Death(step, int(times), float(later))))
    except BaseException:  # whatever it is, it ends this process, and not in what the parent does
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def reap() -> None:
    """Tell which processes have ended."""
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            tell("ended", ended[0], os.waitstatus_to_exitcode(ended[1]))
    except ChildProcessError:
        pass


def run(platform: str) -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    orders = b""
    while True:
        ready, _, _ = select.select([0, read], [], [])
        if read in ready:
            os.read(read, 1024)
            reap()
        if 0 in ready:
            given = os.read(0, 1024)
            if not given:
                return
            *lines, orders = (orders + given).split(b"\n")
            for line in lines:
                start(platform, line.decode())


if __name__ == "__main__":
    for name in [*LATER, f"bots.{sys.argv[1]}"]:
        import_module(name)
    TiktokenCounter(load_settings().model.chosen).warm()
    run(sys.argv[1])
