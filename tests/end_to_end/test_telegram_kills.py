"""The process on Telegram killed at any step: after a restart nothing is lost, and nothing is shown twice."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from adapters.telegram.formatting import LIMIT, measure
from adapters.telegram.server import TOKEN, Chat, Message, TelegramServer, User
from core.conversation import State, Turn
from core.messages import ChatKey
from core.splitting import split
from tests.end_to_end.bot import Bot
from tests.end_to_end.model_server import ModelServer

HELLO, STORY, TALE, ROME = "hello", "a story", "a tale", "I live in Rome"
PARTS = "\n\n".join(f"\\1 {part} " + "word " * 600 for part in ("one", "two", "three"))
RULES: list[dict[str, Any]] = [
    {
        "match": r"I live in (Rome number \d+)$",
        "reply": r"Noted: I live in \1",
        "calls": [{"name": "update_memory", "arguments": {"action": "add", "key": "city", "value": r"\1"}}],
    },
    {"match": rf"({STORY} number \d+)$", "reply": PARTS},
    {"match": rf"({TALE} number \d+)$", "reply": r"This is \1 " + "and so on " * 12 + "to its end.", "pace": 0.015},
]
SETTINGS = {
    "TELEGRAM_BOT_TOKEN": TOKEN,
    "KEEPMIND_ALLOWED": "telegram:*",
    "KEEPMIND_ENGINE__QUIET_SECONDS": "0.02",
    "KEEPMIND_TELEGRAM__GROUP_EDIT_SECONDS": "0.3",
    "KEEPMIND_WINDOW__HIGH_TOKENS": "1000000",  # what is folded can't be looked at
    "KEEPMIND_WINDOW__HIGH_TURNS": "1000000",
}
Step = tuple[str, int, str]
"""Where the process dies, at which time it comes there, and what was said."""
SHORT: list[Step] = [
    ("before receive", 1, HELLO),
    ("after receive", 1, HELLO),
    ("after open", 1, ROME),
    ("after apply", 1, ROME),
    ("before save", 1, HELLO),
    ("after save", 1, HELLO),
    ("before send", 1, HELLO),
]
UNNOTED = ("after preview", "before progress")
LONG: list[Step] = [
    ("after preview", 1, STORY),
    ("after send", 2, STORY),
    ("after progress", 1, TALE),
    ("before edit", 1, TALE),
    ("after edit", 1, TALE),
]
STEPS = sorted({step for step, _, _ in SHORT + LONG} | {"before open", "before preview", "after send", *UNNOTED})


@dataclass
class Talk:
    """One person's private chat and group with a bot that keeps dying. `said` are all texts, in their order.

    `unnoted` are the deaths after a preview was sent and before its id was stored: only those can leave one over.
    """

    bot: Bot
    telegram: TelegramServer
    parent: asyncio.subprocess.Process
    ann: User = field(init=False)
    group: Chat = field(init=False)
    said: list[str] = field(default_factory=list)
    unnoted: int = 0

    def __post_init__(self) -> None:
        self.ann = self.telegram.person("Ann")
        self.group = self.telegram.supergroup("Club", [self.ann])

    def say(self, what: str) -> Message:
        """Say something that was not said before; tales are told in the group, where they grow by edits."""
        text = f"{what} number {len(self.said)}"
        self.said.append(text)
        if what == TALE:
            return self.telegram.say(self.ann, self.group, f"@keepmind_bot {text}")
        return self.telegram.say(self.ann, self.ann, text)

    async def killed(self, step: str, times: int, what: str) -> None:
        """Say something to a process that dies at a step."""
        assert self.parent.stdin
        assert self.parent.stdout
        self.parent.stdin.write(f"{times} {step}\n".encode())
        ends = asyncio.create_task(self.parent.stdout.readline())
        async with asyncio.timeout(60):
            while not ends.done():  # a step reached the third time may need three things said
                said = self.say(what)
                answered = asyncio.create_task(self._answered(said))
                await asyncio.wait({ends, answered}, return_when=asyncio.FIRST_COMPLETED)
                answered.cancel()
        self.unnoted += step in UNNOTED
        assert ends.result() == b"-9\n", f"{step} was never reached"

    async def _answered(self, said: Message) -> None:
        """Wait until a message has been answered to the end."""
        text = self.said[-1]
        await self.telegram.reply(said.chat, after=said, timeout=60, where=lambda m: _ends(m.text, text))
        await self.telegram.quiet(0.5)

    async def ended(self) -> None:
        """Restart for good, say one thing more to each chat, and check all that is stored and seen."""
        async with self.bot.served("telegram"):
            for what in (HELLO, TALE):
                await self._answered(self.say(what))
        private = await self._turns(str(self.ann.id))
        group = await self._turns(str(self.group.id))
        check(private + group, self.said)
        check_seen(self.telegram.chat(self.ann), private, 0)
        check_seen(self.group, group, self.unnoted)
        assert self.bot.server.faults == []

    async def _turns(self, chat: str) -> list[Turn]:
        turns, facts, faults = await self.bot.stored(ChatKey("telegram", chat), str(self.ann.id))
        assert faults == []
        noted = [
            t.answer.text.removeprefix("Noted: I live in ") for t in turns if t.answer and "Noted" in t.answer.text
        ]
        assert facts == ({"city": noted[-1]} if noted else {}), "nothing looks saved that was not"
        return turns


def _ends(shown: str, text: str) -> bool:
    return text in shown and (TALE not in text or shown.endswith("to its end."))


def check(turns: list[Turn], said: list[str]) -> None:
    stored = [message.text.removeprefix("@keepmind_bot ") for turn in turns for message in turn.messages]
    assert sorted(stored) == sorted(said), "each message is stored once, and none is lost"
    for turn in turns:
        assert turn.state is State.DELIVERED
        assert turn.answer is not None


def check_seen(chat: Chat, turns: list[Turn], unnoted: int) -> None:
    """Each part of an answer is shown at most once; beside them at most so many previews are left over."""
    shown = [message.text.strip() for message in chat.from_bot]
    parts = {part.strip() for turn in turns if turn.answer for part in split(turn.answer.text, LIMIT, measure)}
    answers = [text for text in shown if text in parts]
    assert len(answers) == len(set(answers)), "nothing is shown twice"
    assert len(shown) - len(answers) <= unnoted, "a preview becomes its answer"


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talk]:
    async with ModelServer(list(RULES)) as model, TelegramServer() as telegram:
        bot = Bot(model, tmp_path, SETTINGS | {"TELEGRAM_API_URL": telegram.url})
        parent = await bot.start("-m", "tests.end_to_end.killable_telegram", group=True)
        yield Talk(bot, telegram, parent)
        os.killpg(parent.pid, signal.SIGKILL)
        await parent.wait()


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


def seeded(kills: int, seed: int) -> Iterator[Step]:
    chance = random.Random(seed)
    for _ in range(kills):
        step = chance.choice(STEPS)
        what = TALE if "edit" in step else ROME if "apply" in step else chance.choice([HELLO, STORY, TALE])
        yield step, chance.randint(1, 3), what


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(6))
async def test_sixty_kills_lose_and_double_nothing(talk: Talk, seed: int) -> None:
    for step in seeded(10, seed):
        await talk.killed(*step)
    await talk.ended()
