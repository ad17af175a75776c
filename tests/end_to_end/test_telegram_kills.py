"""The process on Telegram killed at any step: after a restart nothing is lost, and nothing is shown twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from adapters.telegram.formatting import LIMIT, measure
from adapters.telegram.server import TOKEN, Message, TelegramServer
from core.splitting import split
from tests.end_to_end import killing
from tests.end_to_end.bot import Bot
from tests.end_to_end.killing import LONG, RULES, SHORT, STORY, TALE, Step, killable, seeded
from tests.end_to_end.model_server import ModelServer

SETTINGS = killing.SETTINGS | {
    "TELEGRAM_BOT_TOKEN": TOKEN,
    "KEEPMIND_ALLOWED": "telegram:*",
    "KEEPMIND_TELEGRAM__GROUP_EDIT_SECONDS": "0.3",
}


class Talk(killing.Talk[Message]):
    """A talk on Telegram."""

    platform = "telegram"

    def __init__(self, bot: Bot, parent: asyncio.subprocess.Process, telegram: TelegramServer) -> None:
        super().__init__(bot, parent)
        self.telegram, self.ann = telegram, telegram.person("Ann")
        self.club = telegram.supergroup("Club", [self.ann])
        self.person = self.private = str(self.ann.id)
        self.group = str(self.club.id)

    def tell(self, text: str, *, group: bool) -> Message:
        if group:
            return self.telegram.say(self.ann, self.club, f"@keepmind_bot {text}")
        return self.telegram.say(self.ann, self.ann, text)

    async def replied(self, said: Message, fits: Callable[[str], bool]) -> None:
        await self.telegram.reply(said.chat, after=said, timeout=60, where=lambda message: fits(message.text))
        await self.telegram.quiet(0.5)

    def shown(self, *, group: bool) -> list[str]:
        return [message.text for message in self.telegram.chat(self.club if group else self.ann).from_bot]

    def parts(self, answer: str) -> Sequence[str]:
        return split(answer, LIMIT, measure)


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talk]:
    async with ModelServer(list(RULES)) as model, TelegramServer() as telegram:
        bot = Bot(model, tmp_path, SETTINGS | {"TELEGRAM_API_URL": telegram.url})
        async with killable(bot, "telegram") as parent:
            yield Talk(bot, parent, telegram)


@pytest.mark.parametrize("steps", [SHORT, LONG], ids=["short answers", "long and growing answers"])
async def test_kills_at_named_steps_lose_and_double_nothing(talk: Talk, steps: list[Step]) -> None:
    for step in steps:
        await talk.killed(*step)
    await talk.ended()


async def test_the_command_killed_while_it_answers_loses_and_doubles_nothing(talk: Talk) -> None:
    async with talk.bot.served("telegram") as process:
        said = talk.say(STORY)
        await talk.telegram.reply(said.chat, after=said, timeout=30)
        process.kill()
    async with talk.bot.served("telegram") as process:
        edited = talk.telegram.journal.counts["editMessageText"]
        talk.say(TALE)
        await talk.telegram.wait_for(lambda: talk.telegram.journal.counts["editMessageText"] > edited, timeout=30)
        process.kill()
    await talk.ended()


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(6))
async def test_sixty_kills_lose_and_double_nothing(talk: Talk, seed: int) -> None:
    for step in seeded(10, seed):
        await talk.killed(*step)
    await talk.ended()
