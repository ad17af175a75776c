"""The process on Discord killed at any step: after a restart nothing is lost, and nothing is shown twice.

Discord does not give again what was said meanwhile, so that the bot has to look for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from adapters.discord.formatting import chunks
from adapters.discord.server import TOKEN, DiscordServer, Message
from tests.end_to_end import killing
from tests.end_to_end.bot import Bot
from tests.end_to_end.killing import HELLO, LONG, RULES, SHORT, STORY, TALE, Step, killable, seeded
from tests.end_to_end.model_server import ModelServer

SETTINGS = killing.SETTINGS | {
    "DISCORD_BOT_TOKEN": TOKEN,
    "KEEPMIND_ALLOWED": "discord:*",
    "KEEPMIND_DISCORD__EDIT_SECONDS": "0.3",
}


class Talk(killing.Talk[Message]):
    """A talk on Discord."""

    platform = "discord"
    in_flight = ()  # by its nonce a preview sent just before a death is found again

    def __init__(self, bot: Bot, parent: asyncio.subprocess.Process, discord: DiscordServer) -> None:
        super().__init__(bot, parent)
        self.discord, self.ann = discord, discord.person("Ann")
        self.club = discord.text_channel(discord.guild("Club", [self.ann]))
        self.person, self.private = str(self.ann.id), str(discord.private(self.ann).id)
        self.group = str(self.club.id)

    def tell(self, text: str, *, group: bool) -> Message:
        if group:
            return self.discord.say(self.ann, self.club, f"{self.discord.bot.mention} {text}")
        return self.discord.say(self.ann, self.ann, text)

    async def replied(self, said: Message, fits: Callable[[str], bool]) -> None:
        await self.discord.reply(said.channel, after=said, timeout=60, where=lambda message: fits(message.text))
        await self.discord.quiet(0.5)

    def shown(self, *, group: bool) -> list[str]:
        return [message.text for message in self.discord.channel(self.club if group else self.ann).from_bot]

    def parts(self, answer: str) -> Sequence[str]:
        return chunks(answer, 0)

    async def begun(self) -> None:
        """Speak in both places once: where nobody has ever spoken to it, it does not look."""
        async with self.bot.served("discord"):
            await self.discord.connected(30)
            for what in (HELLO, TALE):
                await self.answered(self.say(what))


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talk]:
    async with ModelServer(list(RULES)) as model, DiscordServer() as discord:
        place = {"DISCORD_API_URL": discord.api_url, "DISCORD_GATEWAY_URL": discord.gateway_url}
        bot = Bot(model, tmp_path, SETTINGS | place)
        async with killable(bot, "discord") as parent:
            talk = Talk(bot, parent, discord)
            await talk.begun()
            yield talk


@pytest.mark.parametrize("steps", [SHORT, LONG], ids=["short answers", "long and growing answers"])
async def test_kills_at_named_steps_lose_and_double_nothing(talk: Talk, steps: list[Step]) -> None:
    for step in steps:
        await talk.killed(*step)
    await talk.ended()


async def test_the_command_killed_while_it_answers_loses_and_doubles_nothing(talk: Talk) -> None:
    async with talk.bot.served("discord") as process:
        said = talk.say(STORY)
        await talk.discord.reply(said.channel, after=said, timeout=30)
        process.kill()
    async with talk.bot.served("discord") as process:
        edited = talk.discord.journal.counts["edit_message"]
        talk.say(TALE)
        await talk.discord.wait_for(lambda: talk.discord.journal.counts["edit_message"] > edited, timeout=30)
        process.kill()
    await talk.ended()


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(6))
async def test_sixty_kills_lose_and_double_nothing(talk: Talk, seed: int) -> None:
    for step in seeded(10, seed):
        await talk.killed(*step)
    await talk.ended()
