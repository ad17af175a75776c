"""Runs the bot in processes of its own, as a shell would."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adapters.sql import open_store
from core.conversation import Conversation, Turn
from core.messages import ChatKey, Person
from tests.end_to_end.model_server import ModelServer

ROOT = Path(__file__).parents[2]
DEMO = ChatKey("console", "demo")
PACES = {
    "KEEPMIND_ENGINE__QUIET_SECONDS": "0.02",
    "KEEPMIND_TELEGRAM__PRIVATE_EDIT_SECONDS": "0.3",
    "KEEPMIND_TELEGRAM__GROUP_EDIT_SECONDS": "0.3",
    "KEEPMIND_DISCORD__EDIT_SECONDS": "0.3",
}
"""A bot that waits less than people need; a test that looks at a pace chooses its own."""


@dataclass(frozen=True)
class Done:
    """How a process ended, and what it printed."""

    code: int
    out: str
    err: str


@dataclass
class Bot:
    """A bot on one folder of data, talking to one model server."""

    server: ModelServer
    folder: Path
    settings: dict[str, str] = field(default_factory=dict)

    async def run(self, *command: str, said: str | bytes = "") -> Done:
        """Run Python with a command line, `said` being its input."""
        process = await self.start(*command)
        out, err = await process.communicate(said.encode() if isinstance(said, str) else said)
        return Done(process.returncode or 0, out.decode(), err.decode())

    async def start(
        self,
        *command: str,
        terminal: int = asyncio.subprocess.PIPE,
        group: bool = False,
        log: Path | None = None,
    ) -> asyncio.subprocess.Process:
        """Start Python with a command line, talking through pipes or a terminal, perhaps as a process group.

        Errors go to a file if one is named: a pipe that nobody reads holds a process up.
        """
        with nullcontext(terminal) if log is None else log.open("ab") as errors:
            return await asyncio.create_subprocess_exec(
                sys.executable,
                *command,
                cwd=self.folder,
                env=self._environment(),
                stdin=terminal,
                stdout=terminal,
                stderr=errors,
                start_new_session=group,
            )

    async def keepmind(self, *arguments: str, said: str | bytes = "") -> Done:
        """Run the command `keepmind`."""
        return await self.run("-m", "bots", *arguments, said=said)

    @asynccontextmanager
    async def served(self, *platforms: str) -> AsyncIterator[asyncio.subprocess.Process]:
        """Run `keepmind run` until the block ends, then end it as systems do, unless it was killed in the block."""
        process = await self.start("-m", "bots", "run", *platforms)
        try:
            yield process
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
            _, log = await asyncio.wait_for(process.communicate(), 20)
            assert process.returncode in (0, -signal.SIGKILL), log.decode()
            assert not any(value in log.decode() for name, value in self.settings.items() if "TOKEN" in name)
        except BaseException:
            if process.returncode is None:
                process.kill()
            _, log = await process.communicate()
            print(log.decode())  # shown with what failed
            raise

    async def chat(self, *lines: str, chat: str = "demo", more: tuple[str, ...] = ()) -> list[str]:
        """Say lines in a chat; give the lines printed. The process must end well."""
        done = await self.keepmind("chat", "--chat", chat, *more, said="".join(f"{line}\n" for line in lines))
        assert done.code == 0, done.err
        return done.out.splitlines()

    def _environment(self) -> dict[str, str]:
        own = {"OPENAI_BASE_URL": self.server.url, "OPENAI_API_KEY": "sk-test-0123456789", "PYTHONPATH": str(ROOT)}
        place = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "KEEPMIND_DATA_DIR": str(self.folder / "data")}
        return {**own, **place, **PACES, **self.settings}

    @property
    def database(self) -> Path:
        """The file everything is kept in."""
        return self.folder / "data" / "keepmind.db"

    async def stored(self, chat: ChatKey = DEMO, person: str = "") -> tuple[list[Turn], dict[str, Any], list[str]]:
        """Give the turns, the facts and the faults of what is stored of a chat, of its one person unless named."""
        conversation, faults = await self.remembered(chat, person)
        return list(conversation.turns), dict(conversation.profile), faults

    async def remembered(self, chat: ChatKey, person: str = "") -> tuple[Conversation, list[str]]:
        """Give what is stored of a chat, with the facts of its one person unless named, and the faults of it all."""
        store = await open_store(self.settings.get("KEEPMIND_DATABASE_URL", f"sqlite:///{self.database}"))
        try:
            who = Person(chat.platform, person or chat.chat)
            return await store.load(chat, who), list(await store.verify())
        finally:
            await store.aclose()
