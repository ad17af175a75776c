"""Real processes on a real PostgreSQL: memory outlives them, a standby takes over, and nothing is said twice."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from adapters.telegram.server import TOKEN, Message, TelegramServer
from core.messages import ChatKey
from tests.end_to_end.bot import Bot
from tests.end_to_end.killing import RULES, SETTINGS
from tests.end_to_end.model_server import ModelServer
from tests.postgresql import Server

PORT = "TELEGRAM_WEBHOOK_PORT"
SLOW = {"match": r"think about it$", "reply": "I think " + "and think " * 30 + "to the end.", "pace": 0.08}


@dataclass
class Talk:
    """A club with bots on one database: there an answer is seen to grow."""

    bot: Bot
    telegram: TelegramServer

    def __post_init__(self) -> None:
        self.ann = self.telegram.person("Ann")
        self.club = self.telegram.supergroup("Club", [self.ann])

    def says(self, text: str) -> Message:
        return self.telegram.say(self.ann, self.club, f"@keepmind_bot {text}")

    async def answered(self, said: Message) -> None:
        await self.telegram.reply(self.club, after=said, timeout=60, where=lambda m: m.text.endswith(said.text))

    async def grows(self, said: Message) -> None:
        """Wait until an answer has grown, so that its id is noted."""
        edits = self.telegram.journal.counts["editMessageText"]
        await self.telegram.reply(self.club, after=said, timeout=60)
        await self.telegram.wait_for(lambda: self.telegram.journal.counts["editMessageText"] > edits, timeout=60)

    async def thought(self) -> None:
        await self.telegram.wait_for(lambda: self.shown()[-1].endswith("to the end."), timeout=60)

    def shown(self) -> list[str]:
        return [message.text for message in self.telegram.chat(self.club).from_bot]

    async def stored(self) -> list[str]:
        """Give the words of all turns, in order; everything must be whole."""
        turns, _, faults = await self.bot.stored(ChatKey("telegram", str(self.club.id)), str(self.ann.id))
        assert faults == []
        return [message.text.removeprefix("@keepmind_bot ") for turn in turns for message in turn.messages]


@pytest.fixture
async def talk(postgresql: Server, tmp_path: Path) -> AsyncIterator[Talk]:
    async with ModelServer([SLOW, *RULES]) as model, TelegramServer() as telegram:
        chosen = {
            "TELEGRAM_BOT_TOKEN": TOKEN,
            "TELEGRAM_API_URL": telegram.url,
            "KEEPMIND_ALLOWED": "telegram:*",
            "KEEPMIND_TELEGRAM__GROUP_EDIT_SECONDS": "0.3",
            "KEEPMIND_DATABASE_URL": postgresql.cleared(),
        }
        yield Talk(Bot(model, tmp_path, SETTINGS | chosen), telegram)


def unused_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


async def logged(process: asyncio.subprocess.Process, words: bytes) -> None:
    """Wait until a process has logged something."""
    assert process.stderr
    async with asyncio.timeout(60):
        while words not in await process.stderr.readline():
            pass


@asynccontextmanager
async def two(serving: Bot, standby: Bot) -> AsyncIterator[list[asyncio.subprocess.Process]]:
    """Run one process that serves, and one that waits for it to let the bot go, until the block ends."""
    async with serving.served("telegram") as first:
        await logged(first, b"this process serves telegram:")
        async with standby.served("telegram") as second:
            await logged(second, b"standing by: another process serves telegram:")
            yield [first, second]


async def test_a_restart_keeps_what_was_said(talk: Talk) -> None:
    for text in ("hello one", "hello two"):
        async with talk.bot.served("telegram"):
            await talk.answered(talk.says(text))
    assert await talk.stored() == ["hello one", "hello two"]


async def test_a_standby_answers_what_the_killed_one_left_open_and_nothing_twice(talk: Talk) -> None:
    async with two(talk.bot, talk.bot) as (serving, _):
        await talk.answered(talk.says("hello"))
        await talk.grows(talk.says("think about it"))
        serving.kill()
        await talk.thought()
        await talk.answered(talk.says("hello again"))
        await talk.telegram.quiet(0.5)
    assert await talk.stored() == ["hello", "think about it", "hello again"]
    assert len(talk.shown()) == 3


async def test_one_that_was_frozen_is_replaced_says_nothing_more_and_stands_by(talk: Talk) -> None:
    async with two(talk.bot, talk.bot) as (serving, standby):
        await talk.answered(talk.says("hello"))
        await talk.grows(talk.says("think about it"))
        serving.send_signal(signal.SIGSTOP)
        await talk.thought()
        serving.send_signal(signal.SIGCONT)
        await logged(serving, b"standing by: another process serves telegram:")
        await talk.answered(talk.says("hello again"))
        standby.kill()
        await talk.answered(talk.says("and again"))
        await talk.telegram.quiet(0.5)
    assert await talk.stored() == ["hello", "think about it", "hello again", "and again"]
    assert len(talk.shown()) == 4


async def test_what_a_replica_is_posted_is_answered_by_who_serves(talk: Talk) -> None:
    ports = [unused_port() for _ in range(2)]
    hook = {"TELEGRAM_WEBHOOK_URL": f"http://127.0.0.1:{ports[1]}/hook", "TELEGRAM_WEBHOOK_SECRET": "secret"}
    first, second = (replace(talk.bot, settings={**talk.bot.settings, **hook, PORT: str(port)}) for port in ports)
    async with two(first, second) as (serving, _):
        await talk.answered(talk.says("hello"))
        said = talk.telegram.say(talk.ann, talk.club, "/help@keepmind_bot")
        await talk.telegram.reply(talk.club, after=said, timeout=60)
        serving.kill()
        await talk.answered(talk.says("hello again"))
    assert await talk.stored() == ["hello", "hello again"]
