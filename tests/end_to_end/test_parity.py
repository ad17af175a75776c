"""The same talk gives the same turns and the same memory on every platform; a new one has only to join PLATFORMS."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.discord.server import DiscordServer
from adapters.telegram.server import TelegramServer
from core.conversation import Conversation, Turn
from core.messages import ChatKey
from tests.end_to_end.bot import DEMO, Bot
from tests.end_to_end.model_server import ModelServer, text_of


def write(match: str, action: str, key: str, value: str, **more: Any) -> dict[str, Any]:
    call = {"name": "update_memory", "arguments": {"action": action, "key": key, "value": value}}
    return {"match": match, "calls": [call], **more}


RULES: list[dict[str, Any]] = [
    {"match": "live in Rome", "after": "", "reply": "Rome it is."},
    {"match": "moved to", "after": "", "reply": "Oslo it is."},
    write("I am Anna", "add", "name", "Anna", reply="Hello **Anna**!"),
    write("live in Rome", "add", "city", "Rome"),
    write("moved to Oslo", "change", "city", "Oslo"),
    write("I like tea", "add", "interests", "tea", reply="Tea, *noted*."),
    write("my password", "add", "password", "hunter2hunter2", reply="Better not."),
    {"match": "a long one", "reply": "\n\n".join(f"Part {n}: " + "words and more " * 180 for n in range(4))},
    {"match": "code", "reply": "```python\nprint('<b>&amp;')\n```\nand `that`"},
    {"match": "nothing", "reply": "   "},
    {"match": "trouble", "status": 401, "body": {"error": {"message": "no"}}},
]
TALK = [
    "hello",
    "I am Anna",
    "I live in Rome",
    "I like tea",
    "tell me a long one",
    "I have moved to Oslo",
    "/memory",
    "my password is hunter2hunter2",
    "show me code",
    "say nothing",
    "make trouble",
    "/forget interests",
    "emoji 👩‍👩‍👧 and ünïcode",
    "the last one",
]
SETTINGS = {"KEEPMIND_WINDOW__LOW_TURNS": "4"}


@dataclass(frozen=True)
class Kept:
    """What a talk left: before and after it was folded, and what the model was told last in each request."""

    whole: Conversation
    folded: Conversation
    asked: list[str]


async def on_discord(folder: Path) -> Kept:
    async with ModelServer(list(RULES)) as model, DiscordServer() as discord:
        place = {"DISCORD_API_URL": discord.api_url, "DISCORD_GATEWAY_URL": discord.gateway_url}
        own = {"DISCORD_BOT_TOKEN": discord.token, "KEEPMIND_ALLOWED": "discord:*", **place}
        bot = Bot(model, folder, SETTINGS | own)
        ann = discord.person("Anna")
        async with bot.served("discord"):
            await discord.connected(30)
            for line in TALK:
                said = discord.say(ann, ann, line)
                await discord.reply(ann, after=said, timeout=30)
                await discord.quiet(0.3)
        chat = ChatKey("discord", str(discord.private(ann).id))
        return await kept_of(bot, chat, str(ann.id))


async def on_the_console(folder: Path) -> Kept:
    async with ModelServer(list(RULES)) as model:
        bot = Bot(model, folder, dict(SETTINGS))
        said = "".join(f"{line}\n" for line in TALK)
        done = await bot.keepmind("chat", "--chat", "demo", "--as", "Anna", said=said)
        assert done.code == 1, "one of the messages gets no answer"
        return await kept_of(bot, DEMO, "Anna")


async def on_telegram(folder: Path) -> Kept:
    async with ModelServer(list(RULES)) as model, TelegramServer() as telegram:
        own = {"TELEGRAM_BOT_TOKEN": telegram.token, "TELEGRAM_API_URL": telegram.url, "KEEPMIND_ALLOWED": "telegram:*"}
        bot = Bot(model, folder, SETTINGS | own)
        ann = telegram.person("Anna")
        async with bot.served("telegram"):
            for line in TALK:
                said = telegram.say(ann, ann, line)
                await telegram.reply(ann, after=said, timeout=30)
                await telegram.quiet(0.3)
        return await kept_of(bot, ChatKey("telegram", str(ann.id)))


async def kept_of(bot: Bot, chat: ChatKey, person: str = "") -> Kept:
    whole, _ = await bot.remembered(chat, person)
    assert (await bot.keepmind("compact", "--all")).code == 0
    folded, faults = await bot.remembered(chat, person)
    assert faults == []
    assert bot.server.faults == []
    return Kept(whole, folded, [text_of(entry["request"]["messages"][-1]) for entry in bot.server.journal])


def as_told(turn: Turn) -> dict[str, Any]:
    return {
        "said": [message.text for message in turn.messages],
        "answer": turn.answer and (turn.answer.text, turn.answer.finish),
        "end": (turn.state, turn.failure),
        "rounds": [
            [(call.name, call.arguments, result.content) for call, result in zip(r.calls, r.results, strict=True)]
            for r in turn.rounds
        ],
    }


async def test_a_talk_leaves_the_same_on_every_platform(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("console", "telegram", "discord")]
    for folder in folders:
        folder.mkdir()
    talks = on_the_console(folders[0]), on_telegram(folders[1]), on_discord(folders[2])
    console, *platforms = await asyncio.gather(*talks)
    assert dict(console.whole.profile) == {"name": "Anna", "city": "Oslo"}
    assert [(segment.turns, len(console.folded.turns)) for segment in console.folded.segments] == [(8, 4)]
    for there, folder in zip(platforms, folders[1:], strict=True):
        assert [as_told(turn) for turn in there.whole.turns] == [as_told(turn) for turn in console.whole.turns], folder
        assert dict(there.whole.profile) == dict(console.whole.profile), folder
        assert there.folded.segments == console.folded.segments, folder
        assert there.asked == console.asked, folder
