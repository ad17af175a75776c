"""The process on a Discord that repeats itself, breaks off, forgets sessions and asks to wait: all is answered once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.discord.server import TOKEN, Channel, DiscordServer, Message, User
from core.messages import ChatKey
from tests.end_to_end.bot import Bot
from tests.end_to_end.model_server import ModelServer


@pytest.fixture
async def discord() -> AsyncIterator[DiscordServer]:
    async with DiscordServer() as discord:
        yield discord


@pytest.fixture
async def bot(tmp_path: Path, discord: DiscordServer) -> AsyncIterator[Bot]:
    place = {"DISCORD_API_URL": discord.api_url, "DISCORD_GATEWAY_URL": discord.gateway_url}
    settings = {"DISCORD_BOT_TOKEN": TOKEN, "KEEPMIND_ALLOWED": "discord:*"}
    async with ModelServer() as model:
        yield Bot(model, tmp_path, settings | place)
        assert model.faults == []


async def told(discord: DiscordServer, said: Message) -> None:
    """Wait until a message is answered, in whole."""
    answer = f"You said: {said.text.split('> ')[-1]}"
    await discord.reply(said.channel, after=said, timeout=30, where=lambda one: one.text == answer)


def shown(channel: Channel) -> list[str]:
    return [message.text.removeprefix("You said: ") for message in channel.from_bot]


async def test_all_is_answered_once_whatever_the_gateway_does(discord: DiscordServer, bot: Bot) -> None:
    ann = discord.person("Ann")
    async with bot.served("discord"):
        await discord.connected(30)
        await told(discord, said := discord.say(ann, ann, "one"))
        discord.gateway.repeat(discord.gateway.of("MESSAGE_CREATE")[0])
        discord.gateway.drop()
        await told(discord, discord.say(ann, ann, "two"))
        assert len(discord.gateway.sessions) == 1, "it resumed"
        discord.gateway.reconnect()
        await told(discord, discord.say(ann, ann, "three"))
        discord.gateway.invalidate()
        await told(discord, discord.say(ann, ann, "four"))
        assert len(discord.gateway.sessions) == 2, "it began anew, and looked for what was said meanwhile"
        await told(discord, discord.say(ann, ann, "five"))
        await discord.quiet(0.5)
    assert shown(said.channel) == ["one", "two", "three", "four", "five"]
    turns, _, faults = await bot.stored(ChatKey("discord", str(said.channel.id)), str(ann.id))
    assert [turn.message.text for turn in turns] == ["one", "two", "three", "four", "five"]
    assert faults == []


async def test_who_is_asked_to_wait_waits_and_what_was_cut_off_is_not_shown_twice(
    discord: DiscordServer, bot: Bot
) -> None:
    ann = discord.person("Ann")
    place = discord.private(ann)
    async with bot.served("discord"):
        await discord.connected(30)
        discord.fail("create_message", 429, retry_after=0.3)
        await told(discord, discord.say(ann, ann, "one"))
        discord.fail("create_message", 429, retry_after=0.2, scope="global")
        await told(discord, discord.say(ann, ann, "two"))
        discord.drop("create_message", "after")
        await told(discord, discord.say(ann, ann, "three"))
        discord.drop("create_message", "before")
        await told(discord, discord.say(ann, ann, "four"))
        discord.fail("create_message", 502)
        await told(discord, discord.say(ann, ann, "five"))
        await discord.quiet(0.5)
    assert shown(place) == ["one", "two", "three", "four", "five"]


async def test_a_conversation_goes_on_after_a_restart_in_each_place_of_its_own(
    discord: DiscordServer, bot: Bot
) -> None:
    ann, bob = discord.person("Ann"), discord.person("Bob")
    club = discord.text_channel(discord.guild("Club", [ann, bob]))
    thread = discord.thread(club, "Aside", ann)

    def call(who: User, where: Channel, text: str) -> Message:
        return discord.say(who, where, f"{discord.bot.mention} {text}")

    async with bot.served("discord"):
        await discord.connected(30)
        for said in (call(ann, club, "I like tea"), call(bob, thread, "I like milk"), discord.say(ann, ann, "psst")):
            await discord.reply(said.channel, after=said, timeout=30)
        await discord.quiet(0.3)
    async with bot.served("discord"):
        await discord.connected(30)
        for said in (call(bob, club, "who likes what?"), discord.say(ann, ann, "and now?")):
            await discord.reply(said.channel, after=said, timeout=30)
    asked = [str(entry["request"]["messages"]) for entry in bot.server.journal if entry["purpose"] == "answer"]
    in_club = next(one for one in asked if "who likes what?" in one)
    in_private = next(one for one in asked if "and now?" in one)
    assert "I like tea" in in_club
    assert "psst" not in in_club
    assert "I like milk" not in in_club
    assert "psst" in in_private
