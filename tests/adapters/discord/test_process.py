"""The real process on Discord, as an operator runs it; with Telegram's token as well it serves both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.discord.server import TOKEN, DiscordServer, Message
from adapters.telegram.server import TelegramServer
from core.messages import ChatKey
from tests.adapters.discord.life import Club, called
from tests.end_to_end.bot import Bot
from tests.end_to_end.model_server import ModelServer


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as model:
        yield model


@pytest.fixture
def bot(server: DiscordServer, model: ModelServer, tmp_path: Path) -> Bot:
    place = {"DISCORD_API_URL": server.api_url, "DISCORD_GATEWAY_URL": server.gateway_url}
    return Bot(model, tmp_path, {"DISCORD_BOT_TOKEN": server.token, "KEEPMIND_ALLOWED": "discord:*"} | place)


async def told(server: DiscordServer, said: Message, words: str) -> None:
    """Wait until the answer to a message holds some words."""
    await server.reply(said.channel, after=said, timeout=30, where=lambda one: words in one.text)


async def test_it_serves_stops_when_told_and_catches_up(
    server: DiscordServer, club: Club, model: ModelServer, bot: Bot
) -> None:
    ann = club.ann
    async with bot.served("discord"):
        await server.connected(30)
        said = server.say(ann, ann, "I am Ann")
        await told(server, said, "You said: I am Ann")
        said = server.voice(ann, ann, b"OggSI live in Rome")
        await told(server, said, "I live in Rome")  # recordings are written down
        said = server.say(ann, ann, files=[("notes.md", b"# Zebra")])
        await told(server, said, "Zebra")  # documents are read
    said = server.say(ann, ann, "and while you were away?")
    async with bot.served():
        await told(server, said, "You said: and while you were away?")
    asked = [entry["request"]["messages"] for entry in model.journal if entry["purpose"] == "answer"]
    for earlier in ("I am Ann", "I live in Rome", "Zebra"):
        assert any(earlier in str(message["content"]) for message in asked[-1])
    assert model.faults == []


async def test_what_keeps_it_from_starting_is_told_though_it_never_logged_in(bot: Bot) -> None:
    bot.settings["KEEPMIND_ENGINE__PERSONA"] = "nobody"
    done = await bot.keepmind("run", "discord")
    assert done.code == 1
    assert done.err.startswith("keepmind: the persona 'nobody' is not there; write one of default, ")


async def test_with_both_tokens_one_process_serves_both_and_each_remembers_its_own(
    server: DiscordServer, club: Club, model: ModelServer, bot: Bot
) -> None:
    async with TelegramServer() as telegram:
        bob = telegram.person("Bob")
        bot.settings |= {"TELEGRAM_BOT_TOKEN": telegram.token, "TELEGRAM_API_URL": telegram.url}
        bot.settings["KEEPMIND_ALLOWED"] = "discord:*,telegram:*"
        async with bot.served():
            await server.connected(30)
            here = server.say(club.ann, club.general, called(server, "hi from Discord"))
            there = telegram.say(bob, bob, "hi from Telegram")
            await told(server, here, "hi from Discord")
            assert "hi from Telegram" in (await telegram.reply(bob, after=there, timeout=30)).text
        turns, _, faults = await bot.stored(ChatKey("discord", str(club.general.id)))
        assert [turn.message.text for turn in turns] == ["hi from Discord"]
        turns, _, _ = await bot.stored(ChatKey("telegram", str(bob.id)))
        assert [turn.message.text for turn in turns] == ["hi from Telegram"]
        assert faults == []


async def test_one_platform_that_can_not_be_served_leaves_the_other_running(
    server: DiscordServer, club: Club, bot: Bot
) -> None:
    async with TelegramServer() as telegram:
        bot.settings |= {"TELEGRAM_BOT_TOKEN": "123456789:AAwrong-token-for-the-local-server-0"}
        bot.settings |= {"TELEGRAM_API_URL": telegram.url}
        process = await bot.start("-m", "bots", "run")
        await server.connected(30)
        await telegram.quiet(0.2)
        said = server.say(club.ann, club.ann, "hi")
        await server.reply(club.ann, after=said, timeout=30)
        process.terminate()
        _, log = await process.communicate()
    assert "TELEGRAM_BOT_TOKEN" in log.decode()
    assert "Traceback" not in log.decode()


@pytest.mark.parametrize(
    ("token", "switched_on", "sentence"),
    [(TOKEN[:-1] + "1", ("message_content",), "DISCORD_BOT_TOKEN"), (TOKEN, (), "MESSAGE CONTENT INTENT")],
)
async def test_what_keeps_it_from_starting_is_one_sentence(
    bot: Bot, token: str, switched_on: tuple[str, ...], sentence: str
) -> None:
    async with DiscordServer(switched_on=switched_on) as server:
        place = {"DISCORD_API_URL": server.api_url, "DISCORD_GATEWAY_URL": server.gateway_url}
        bot.settings |= place | {"DISCORD_BOT_TOKEN": token}
        done = await bot.keepmind("run", "discord")
    assert done.code == 1
    last = done.err.strip().splitlines()[-1]
    assert last.startswith("keepmind: ")
    assert sentence in last
    assert "Traceback" not in done.err
    assert token not in done.err


async def test_an_outage_costs_no_traceback_and_the_log_holds_nothing_private(
    server: DiscordServer, club: Club, bot: Bot
) -> None:
    process = await bot.start("-m", "bots", "run", "discord")
    await server.connected(30)
    await server.stop()
    assert process.stderr
    async with asyncio.timeout(20):
        while b"reconnect" not in (line := await process.stderr.readline()):
            assert b"Traceback" not in line
    await server.start()
    await server.connected(60)
    said = server.say(club.ann, club.ann, "a secret of Ann's")
    await told(server, said, "a secret")
    process.terminate()
    _, log = await process.communicate()
    assert process.returncode == 0
    assert b"Traceback" not in log
    assert b"secret" not in log
    assert server.token.encode() not in log
