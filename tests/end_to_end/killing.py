"""What the tests share that kill the process on a platform: a talk, and what must hold of it in the end."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from core.conversation import State, Turn
from core.messages import ChatKey
from tests.end_to_end.bot import Bot

HELLO, STORY, TALE, ROME = "hello", "a story", "a tale", "I live in Rome"
PARTS = "\n\n".join(", ".join(f"\\1 {part} {n}" for n in range(120)) for part in ("one", "two", "three"))
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
    "KEEPMIND_ENGINE__QUIET_SECONDS": "0.02",
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
M = TypeVar("M")


class Talk(ABC, Generic[M]):
    """One person's private chat and group with a bot that keeps dying. `said` are all texts, in their order.

    `unnoted` are the deaths between the sending of a preview and the storing of its id, which may be at the steps named
    `in_flight`: only those can leave one over.
    """

    in_flight: Sequence[str] = UNNOTED
    platform: str
    person: str
    private: str
    group: str

    def __init__(self, bot: Bot, parent: asyncio.subprocess.Process) -> None:
        self.bot, self.parent = bot, parent
        self.said: list[str] = []
        self.unnoted = 0

    @abstractmethod
    def tell(self, text: str, *, group: bool) -> M:
        """Say something; in the group the bot is called."""

    @abstractmethod
    async def replied(self, said: M, fits: Callable[[str], bool]) -> None:
        """Wait until something was answered with words that fit, and nothing more is shown."""

    @abstractmethod
    def shown(self, *, group: bool) -> list[str]:
        """Give what the bot has said, as it is seen now."""

    @abstractmethod
    def parts(self, answer: str) -> Sequence[str]:
        """Give the parts in which an answer is shown."""

    def say(self, what: str) -> M:
        """Say something that was not said before; tales are told in the group, where they grow by edits."""
        text = f"{what} number {len(self.said)}"
        self.said.append(text)
        return self.tell(text, group=what == TALE)

    async def killed(self, step: str, times: int, what: str) -> None:
        """Say something to a process that dies at a step."""
        assert self.parent.stdin
        assert self.parent.stdout
        self.parent.stdin.write(f"{times} {step}\n".encode())
        ends = asyncio.create_task(self.parent.stdout.readline())
        async with asyncio.timeout(60):
            while not ends.done():  # a step reached the third time may need three things said
                said = self.say(what)
                answered = asyncio.create_task(self.answered(said))
                await asyncio.wait({ends, answered}, return_when=asyncio.FIRST_COMPLETED)
                answered.cancel()
        self.unnoted += step in self.in_flight
        assert ends.result() == b"-9\n", f"{step} was never reached"

    async def answered(self, said: M) -> None:
        """Wait until what was said last has been answered to the end."""
        text = self.said[-1]
        await self.replied(said, lambda shown: _ends(shown, text))

    async def ended(self) -> None:
        """Restart for good, say one thing more to each chat, and check all that is stored and seen."""
        async with self.bot.served(self.platform):
            for what in (HELLO, TALE):
                await self.answered(self.say(what))
        private, group = await self._turns(self.private), await self._turns(self.group)
        _check_stored(private + group, self.said)
        left = [*self._left(self.shown(group=False), private), *self._left(self.shown(group=True), group)]
        assert len(left) <= self.unnoted, f"a preview becomes its answer: {left}"
        assert self.bot.server.faults == []

    async def _turns(self, chat: str) -> list[Turn]:
        turns, facts, faults = await self.bot.stored(ChatKey(self.platform, chat), self.person)
        assert faults == []
        noted = [
            t.answer.text.removeprefix("Noted: I live in ") for t in turns if t.answer and "Noted" in t.answer.text
        ]
        assert facts == ({"city": noted[-1]} if noted else {}), "nothing looks saved that was not"
        return turns

    def _left(self, seen: list[str], turns: list[Turn]) -> list[str]:
        """Check that each part of an answer is shown at most once; give what else is shown: previews left over."""
        shown = [text.strip() for text in seen]
        parts = {part.strip() for turn in turns if turn.answer for part in self.parts(turn.answer.text)}
        answers = [text for text in shown if text in parts]
        assert len(answers) == len(set(answers)), "nothing is shown twice"
        return [text for text in shown if text not in parts]


def _ends(shown: str, text: str) -> bool:
    return text in shown and (TALE not in text or shown.endswith("to its end."))


def _check_stored(turns: list[Turn], said: list[str]) -> None:
    stored = [message.text.removeprefix("@keepmind_bot ") for turn in turns for message in turn.messages]
    assert sorted(stored) == sorted(said), "each message is stored once, and none is lost"
    for turn in turns:
        assert turn.state is State.DELIVERED
        assert turn.answer is not None


@asynccontextmanager
async def killable(bot: Bot, platform: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run what starts bots that kill themselves, until the block ends."""
    parent = await bot.start("-m", "tests.end_to_end.killable_platform", platform, group=True)
    try:
        yield parent
    finally:
        os.killpg(parent.pid, signal.SIGKILL)
        await parent.wait()


def seeded(kills: int, seed: int) -> Iterator[Step]:
    """Choose steps to die at, the same for the same seed."""
    chance = random.Random(seed)
    for _ in range(kills):
        step = chance.choice(STEPS)
        what = chance.choice([HELLO, STORY, TALE])
        what = TALE if "edit" in step else ROME if "apply" in step else STORY if step.endswith(" send") else what
        yield step, chance.randint(1, 3), what  # a short answer that was shown growing is not sent, but edited
