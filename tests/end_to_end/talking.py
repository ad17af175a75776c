"""Talks with a bot that keeps dying, on each platform's test server and on each database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from adapters.discord.formatting import chunks
from adapters.discord.server import TOKEN as DISCORD_TOKEN
from adapters.discord.server import DiscordServer
from adapters.telegram.formatting import LIMIT, measure
from adapters.telegram.server import TOKEN as TELEGRAM_TOKEN
from adapters.telegram.server import TelegramServer
from core.messages import ChatKey
from core.text.splitting import split
from tests.end_to_end.bot import Bot
from tests.end_to_end.crashing import RULES, SETTINGS, Place, Talk
from tests.end_to_end.forks import Forks, forks
from tests.end_to_end.model_server import ModelServer


class TelegramTalk(Talk):
    """A talk on Telegram."""

    platform = "telegram"

    def __init__(self, bot: Bot, forks: Forks, telegram: TelegramServer) -> None:
        super().__init__(bot, forks)
        self.telegram = self.server = telegram
        self.people = [telegram.person(name) for name in ("Ann", "Bob")]
        self.club = telegram.supergroup("Club", self.people)
        own = [Place(ChatKey("telegram", str(one.id)), str(one.id)) for one in self.people]
        self.places = [*own, Place(ChatKey("telegram", str(self.club.id)), own[0].sender, group=True)]

    def tell(self, place: Place, text: str) -> None:
        who = self.people[place.sender != str(self.people[0].id)]
        self.telegram.say(who, self.club if place.group else who, f"@keepmind_bot {text}" if place.group else text)

    def shown(self, place: Place) -> list[str]:
        who = self.people[place.sender != str(self.people[0].id)]
        return [message.text for message in self.telegram.chat(self.club if place.group else who).from_bot]

    async def watch(self, condition: Callable[[], Any]) -> None:
        await self.telegram.wait_for(condition, timeout=60)

    @property
    def edited(self) -> int:
        return self.telegram.journal.counts["editMessageText"]

    def parts(self, answer: str) -> Sequence[str]:
        return split(answer, LIMIT, measure)


class DiscordTalk(Talk):
    """A talk on Discord."""

    platform = "discord"
    finds = True  # by its nonce

    def __init__(self, bot: Bot, forks: Forks, discord: DiscordServer) -> None:
        super().__init__(bot, forks)
        self.discord = self.server = discord
        self.people = [discord.person(name) for name in ("Ann", "Bob")]
        self.club = discord.text_channel(discord.guild("Club", self.people))
        own = [Place(ChatKey("discord", str(discord.private(one).id)), str(one.id)) for one in self.people]
        self.places = [*own, Place(ChatKey("discord", str(self.club.id)), own[0].sender, group=True)]

    async def connected(self) -> None:
        await self.discord.connected(30)

    def tell(self, place: Place, text: str) -> None:
        who = self.people[place.sender != str(self.people[0].id)]
        if place.group:
            self.discord.say(who, self.club, f"{self.discord.bot.mention} {text}")
        else:
            self.discord.say(who, who, text)

    def shown(self, place: Place) -> list[str]:
        who = self.people[place.sender != str(self.people[0].id)]
        return [message.text for message in self.discord.channel(self.club if place.group else who).from_bot]

    async def watch(self, condition: Callable[[], Any]) -> None:
        await self.discord.wait_for(condition, timeout=60)

    @property
    def edited(self) -> int:
        return self.discord.journal.counts["edit_message"]

    def parts(self, answer: str) -> Sequence[str]:
        return chunks(answer, 0)


@asynccontextmanager
async def talking(platform: str, folder: Path, database: str = "") -> AsyncIterator[Talk]:
    """Give a talk on a platform, with a bot on the database of an address, or on SQLite in a folder."""
    chosen = SETTINGS | ({"KEEPMIND_DATABASE_URL": database} if database else {})
    async with ModelServer(list(RULES)) as model:
        if platform == "telegram":
            async with TelegramServer() as telegram:
                own = {"TELEGRAM_BOT_TOKEN": TELEGRAM_TOKEN, "TELEGRAM_API_URL": telegram.url}
                more = {"KEEPMIND_ALLOWED": "telegram:*"}
                bot = Bot(model, folder, chosen | own | more)
                async with forks(bot, platform) as started:
                    yield TelegramTalk(bot, started, telegram)
        else:
            async with DiscordServer() as discord:
                own = {"DISCORD_BOT_TOKEN": DISCORD_TOKEN, "DISCORD_GATEWAY_URL": discord.gateway_url}
                more = {"KEEPMIND_ALLOWED": "discord:*"}
                bot = Bot(model, folder, chosen | own | more | {"DISCORD_API_URL": discord.api_url})
                async with forks(bot, platform) as started:
                    yield DiscordTalk(bot, started, discord)
