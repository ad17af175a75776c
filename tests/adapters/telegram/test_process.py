"""The real process on Telegram, as an operator runs it."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.telegram.server import TelegramServer, User
from tests.end_to_end.bot import Bot
from tests.end_to_end.model_server import ModelServer


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as model:
        yield model


@pytest.fixture
def bot(server: TelegramServer, model: ModelServer, tmp_path: Path) -> Bot:
    settings = {"TELEGRAM_BOT_TOKEN": server.token, "TELEGRAM_API_URL": server.url, "KEEPMIND_ALLOWED": "telegram:*"}
    return Bot(model, tmp_path, settings)


async def test_it_serves_by_polling_stops_when_told_and_remembers_by_webhook(
    server: TelegramServer, ann: User, model: ModelServer, bot: Bot
) -> None:
    async with bot.served():
        said = server.say(ann, ann, "I am Ann")
        assert (await server.reply(ann, after=said, timeout=30)).text == "You said: I am Ann"
        said = server.voice(ann, ann, b"OggSI live in Rome")
        assert "I live in Rome" in (await server.reply(ann, after=said)).text, "recordings are written down"
        said = server.document(ann, ann, "notes.md", b"# Zebra")
        assert "Zebra" in (await server.reply(ann, after=said)).text, "documents are read"
    polls = server.journal.counts["getUpdates"]
    bot.settings |= webhook()
    async with bot.served():
        said = server.say(ann, ann, "and now?")
        await server.reply(ann, after=said, timeout=30)
    asked = [entry["request"]["messages"] for entry in model.journal if entry["purpose"] == "answer"]
    for earlier in ("I am Ann", "I live in Rome", "Zebra"):
        assert any(earlier in str(message["content"]) for message in asked[-1])
    assert model.faults == []
    assert server.journal.counts["getUpdates"] == polls


async def test_after_a_mistyped_token_the_right_one_serves_and_later_mistakes_change_nothing(
    server: TelegramServer, ann: User, bot: Bot
) -> None:
    wrong = {"TELEGRAM_BOT_TOKEN": "77:" + "A" * 35}
    mistyped = replace(bot, settings=bot.settings | wrong)
    assert "Telegram does not know the token" in (await mistyped.keepmind("run", "telegram")).err
    async with bot.served("telegram"):
        said = server.say(ann, ann, "hello")
        await server.reply(ann, after=said, timeout=30)
    assert "the database is that of the bot telegram:123456789" in (await mistyped.keepmind("run", "telegram")).err


def webhook() -> dict[str, str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return {
        "TELEGRAM_WEBHOOK_URL": f"http://127.0.0.1:{port}/hook",
        "TELEGRAM_WEBHOOK_SECRET": "a-secret",
        "TELEGRAM_WEBHOOK_PORT": str(port),
    }
