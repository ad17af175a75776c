"""Several real processes on one database: they share bots out, a standby takes over, and nothing is said twice."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from adapters.discord.server import TOKEN as DISCORD_TOKEN
from adapters.discord.server import DiscordServer
from adapters.sql import open_store
from adapters.telegram.server import TOKEN, Message, TelegramServer
from core.messages import ChatKey
from tests.end_to_end.bot import Bot
from tests.end_to_end.crashing import RULES, SETTINGS
from tests.end_to_end.model_server import ModelServer

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
async def talk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Talk]:
    database = getattr(request, "param", "postgresql")
    url = (
        request.getfixturevalue("postgresql").cleared() if database == "postgresql" else f"sqlite:///{tmp_path}/bot.db"
    )
    async with ModelServer([SLOW, *RULES]) as model, TelegramServer() as telegram:
        chosen = {
            "TELEGRAM_BOT_TOKEN": TOKEN,
            "TELEGRAM_API_URL": telegram.url,
            "KEEPMIND_ALLOWED": "telegram:*",
            "KEEPMIND_DATABASE_URL": url,
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


@pytest.mark.parametrize("talk", ["sqlite", "postgresql"], indirect=True)
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


async def test_a_telegram_and_a_discord_bot_are_two_processes_on_one_database(talk: Talk) -> None:
    async with DiscordServer() as discord:
        ann = discord.person("Ann")
        chosen = {
            "DISCORD_BOT_TOKEN": DISCORD_TOKEN,
            "DISCORD_API_URL": discord.api_url,
            "DISCORD_GATEWAY_URL": discord.gateway_url,
            "KEEPMIND_ALLOWED": "telegram:*,discord:*",
        }
        both = replace(talk.bot, settings=talk.bot.settings | chosen)
        async with both.served("telegram"), both.served("discord"):
            await discord.connected(60)
            await talk.answered(talk.says("hello"))
            told = discord.say(ann, ann, "hello there")
            await discord.reply(told.channel, after=told, timeout=60, where=lambda m: m.text.endswith("hello there"))
    assert await talk.stored() == ["hello"]
    turns, _, faults = await talk.bot.stored(ChatKey("discord", str(discord.private(ann).id)), str(ann.id))
    assert [turn.message.text for turn in turns] == ["hello there"]
    assert faults == []


@pytest.mark.parametrize("talk", ["sqlite"], indirect=True)
async def test_another_bot_of_a_platform_is_refused_in_one_sentence_until_it_is_let_in(talk: Talk) -> None:
    store = await open_store(talk.bot.settings["KEEPMIND_DATABASE_URL"])
    assert await store.introduce("telegram:77") == "telegram:77"
    await store.aclose()
    refused = await talk.bot.keepmind("run", "telegram")
    assert refused.code == 1
    told = [line for line in refused.err.splitlines() if "the database is that of the bot telegram:77" in line]
    assert len(told) == 1
    assert "keepmind db dismiss telegram" in told[0]
    assert "Traceback" not in refused.err
    dismissed = await talk.bot.keepmind("db", "dismiss", "telegram")
    assert dismissed.out == "The next telegram bot that starts goes on with what is kept.\n"
    async with talk.bot.served("telegram"):
        await talk.answered(talk.says("hello"))
