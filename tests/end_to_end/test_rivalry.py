"""Two machines run the bot with one token and know nothing of each other: one of them gives way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from adapters.telegram.server import TOKEN, TelegramServer
from tests.end_to_end.bot import Bot
from tests.end_to_end.crashing import RULES, SETTINGS
from tests.end_to_end.model_server import ModelServer


async def test_the_newcomer_ends_with_a_sentence_and_the_other_goes_on(tmp_path: Path) -> None:
    async with ModelServer(RULES) as model, TelegramServer() as telegram:
        chosen = {"TELEGRAM_BOT_TOKEN": TOKEN, "TELEGRAM_API_URL": telegram.url, "KEEPMIND_ALLOWED": "telegram:*"}
        older = {"KEEPMIND_TELEGRAM__CONFLICT_SECONDS": "30"}  # it holds on as if it had run for long
        first = Bot(model, tmp_path, SETTINGS | chosen | older)
        newer = {"KEEPMIND_DATA_DIR": str(tmp_path / "elsewhere"), "KEEPMIND_TELEGRAM__CONFLICT_SECONDS": "0.3"}
        second = replace(first, settings=first.settings | newer)
        ann = telegram.person("Ann")
        async with first.served("telegram"):
            said = telegram.say(ann, ann, "hello")
            await telegram.reply(ann, after=said, timeout=30)
            done = await second.keepmind("run", "telegram")
            assert done.code == 1
            assert "another process asks Telegram" in done.err.splitlines()[-1]
            assert "this one gives way" in done.err.splitlines()[-1]
            said = telegram.say(ann, ann, "hello again")
            await telegram.reply(ann, after=said, timeout=30)
            await telegram.quiet(0.5)
        assert len(telegram.chat(ann).from_bot) == 2
