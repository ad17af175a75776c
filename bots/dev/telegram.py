"""The bot on the Telegram test server, talked to in the terminal."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress

from pydantic import SecretStr

from adapters.console import lines
from adapters.telegram.server import TelegramServer
from bots.app import open_app
from bots.dev.eyes import Eyes
from bots.dev.hands import Hands, Mistyped
from bots.output import tell
from bots.telegram import open_telegram
from config.settings import Settings
from core.bot import Bot
from core.store import ConversationStore

DATABASE = "dev-telegram.db"
_QUIET = 0.15


async def talk(settings: Settings, who: str = "Ann", *, group: bool = False, bot: Bot | None = None) -> None:
    """Hold a conversation with the bot that the settings describe, or another, until the input ends.

    It remembers from one time to the next, in a database of its own.
    """
    async with TelegramServer(first_message=time.time_ns() // 1_000_000) as server:
        eyes = Eyes(server)
        hands = Hands(server, eyes, who, group=group)
        settings = to_settings(settings, server, hands)
        async with open_telegram(settings) as adapter, open_app(settings, adapters=[adapter], bot=bot) as app:
            terminal = Terminal(server, app.store, eyes, hands)
            await _until_either(adapter.run(app.engine), terminal.run())


def to_settings(settings: Settings, server: TelegramServer, hands: Hands) -> Settings:
    """Put the test server in the place of Telegram; who speaks first is an admin, and everybody is served."""
    folder = settings.storage.data_dir
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    access = {"admins": (*settings.access.admins, f"telegram:{hands.me.id}"), "allowed": ("telegram:*",)}
    platform = {"token": SecretStr(server.token), "api_url": server.url, "webhook_url": None}
    return settings.model_copy(
        update={
            "telegram": settings.telegram.model_copy(update=platform),
            "access": settings.access.model_copy(update=access),
            "storage": settings.storage.model_copy(
                update={"database_url": SecretStr(f"sqlite:///{folder / DATABASE}")}
            ),
        }
    )


async def _until_either(*works: Coroutine[None, None, None]) -> None:
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

    def __init__(self, server: TelegramServer, store: ConversationStore, eyes: Eyes, hands: Hands) -> None:
        self._server, self._store, self._eyes, self._hands = server, store, eyes, hands

    async def run(self) -> None:
        """Talk until the input ends."""
        self._hands.join()
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
        while await self._is_busy():  # noqa: ASYNC110 -- what is stored rings no bell
            await asyncio.sleep(0.03)
        with suppress(TimeoutError):
            await self._server.quiet(_QUIET)

    async def _is_busy(self) -> bool:
        pending = self._server.api.updates.pending
        return bool(pending or await self._store.waiting() or await self._store.open_turns())

    async def _live(self) -> None:
        from prompt_toolkit.patch_stdout import patch_stdout

        tell("Ctrl-D quits, :help lists what can be done.")
        with patch_stdout():
            await _until_either(self._watch(), self._read())

    async def _watch(self) -> None:
        while True:
            await self._look()
            await self._server.api.world.changed.wait()

    async def _read(self) -> None:
        async for line in self._typed():
            if line.strip():
                self._do(line)

    async def _typed(self) -> AsyncIterator[str]:
        from prompt_toolkit import PromptSession

        session: PromptSession[str] = PromptSession(bottom_toolbar=self._growing, refresh_interval=0.3)
        with suppress(EOFError, KeyboardInterrupt):
            while True:
                yield await session.prompt_async(lambda: f"{self._hands.me.first_name}> ")

    def _growing(self) -> str:
        return self._eyes.growing().replace("\n", " ")[-200:]
