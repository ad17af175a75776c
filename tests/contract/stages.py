"""The platforms under test, each with somebody who talks to the bot in private: a new one has only to join STAGES."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from io import StringIO
from typing import Protocol

from adapters.console import ConsoleAdapter, place
from adapters.discord.server import DiscordServer
from adapters.inmemory import InMemoryStore
from adapters.telegram.server import TelegramServer
from core.adapter import Adapter
from core.bot import Bot, Ports, build
from core.clock import SystemClock
from core.engine import Engine
from core.messages import ChatKey
from core.store import ConversationStore
from tests.adapters.discord.life import comes_true
from tests.adapters.discord.life import living as living_on_discord
from tests.adapters.telegram.life import living as living_on_telegram
from tests.fakes import ScriptedLLM, WordCounter


class Says(Protocol):
    """How somebody says something in private."""

    def __call__(self, text: str) -> None:
        """Say a text."""
        ...


@dataclass(frozen=True)
class Stage:
    """A platform with the bot on it: `say` says something to it in private, `seen` is what it has said there.

    `gone` is a chat of the platform in which nothing can be said.
    """

    adapter: Adapter
    engine: Engine
    llm: ScriptedLLM
    store: ConversationStore
    running: asyncio.Task[object]
    chat: ChatKey
    gone: ChatKey
    say: Says
    seen: Callable[[], list[str]]

    async def answered(self, text: str) -> list[str]:
        """Say something and wait until it is answered and delivered; give what is seen in the end."""
        before = len(await self.turns())
        self.say(text)
        await comes_true(lambda: self._has_more_turns(before))
        await self.engine.idle()
        return self.seen()

    async def _has_more_turns(self, than: int) -> bool:
        return len(await self.turns()) > than

    async def turns(self) -> list[str]:
        """Give what was said in the turns that are stored."""
        return [turn.message.text for turn in (await self.store.load(self.chat)).turns]


@asynccontextmanager
async def on_the_console(llm: ScriptedLLM) -> AsyncIterator[Stage]:
    """Talk at a terminal that is a pipe."""
    store, sink = InMemoryStore(), StringIO()
    source, feed = os.pipe()
    with os.fdopen(source, encoding="utf-8", newline="") as reader, os.fdopen(feed, "wb", buffering=0) as writer:
        chat, person = place("demo", "ann")
        adapter = ConsoleAdapter(chat, person, source=reader, sink=sink)
        engine = build(
            Bot(), Ports(store, llm, WordCounter(), SystemClock(), [adapter]), admins=(), allowed=("console:*",)
        )
        running: asyncio.Task[object] = asyncio.create_task(adapter.run(engine))

        def say(text: str) -> None:
            writer.write(f"{text}\n".encode())

        gone = ChatKey("console", "elsewhere")
        yield Stage(adapter, engine, llm, store, running, chat, gone, say, lambda: _lines(sink))
        writer.close()
        await running


def _lines(sink: StringIO) -> list[str]:
    return [sink.getvalue()] if sink.getvalue() else []


@asynccontextmanager
async def on_telegram(llm: ScriptedLLM) -> AsyncIterator[Stage]:
    """Talk in a private chat of Telegram."""
    async with TelegramServer() as server, living_on_telegram(server, llm=llm) as life:
        ann = server.person("Ann")
        chat, gone = ChatKey("telegram", str(ann.id)), ChatKey("telegram", "999")
        yield Stage(
            life.adapter,
            life.engine,
            llm,
            life.store,
            life.running,
            chat,
            gone,
            lambda text: _ignored(server.say(ann, ann, text)),
            lambda: [message.text for message in server.chat(ann).from_bot],
        )


@asynccontextmanager
async def on_discord(llm: ScriptedLLM) -> AsyncIterator[Stage]:
    """Talk in direct messages of Discord."""
    async with DiscordServer() as server, living_on_discord(server, llm=llm, pace=0.0) as life:
        ann = server.person("Ann")
        chat, gone = ChatKey("discord", str(server.private(ann).id)), ChatKey("discord", "999")
        yield Stage(
            life.adapter,
            life.engine,
            llm,
            life.store,
            life.running,
            chat,
            gone,
            lambda text: _ignored(server.say(ann, ann, text)),
            lambda: [message.text for message in server.private(ann).from_bot],
        )


def _ignored(_: object) -> None:
    """Let what was said go."""


STAGES: dict[str, Callable[[ScriptedLLM], AbstractAsyncContextManager[Stage]]] = {
    "console": on_the_console,
    "telegram": on_telegram,
    "discord": on_discord,
}
