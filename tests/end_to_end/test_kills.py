"""A process killed at any step of a turn: after a restart nothing is lost and nothing is said twice."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from adapters.sql import open_store
from core.conversation import State, Turn
from core.messages import ChatKey, Person
from tests.end_to_end.model_server import ModelServer

ROOT = Path(__file__).parents[2]
DEMO, ANNA = ChatKey("console", "demo"), Person("console", "demo")
SAVING = {
    "match": "I live in Rome",
    "calls": [{"name": "update_memory", "arguments": {"action": "add", "key": "city", "value": "Rome"}}],
    "reply": "Rome it is.",
}
METHODS = ("receive", "open", "apply", "save", "progress", "send")
STEPS = [f"{when} {method}" for method in METHODS for when in ("before", "after")]
LINES = ["hello one", "I live in Rome", "hello three"]


def seeded(count: int, seed: int) -> Iterator[tuple[str, int]]:
    chance = random.Random(seed)
    for _ in range(count):
        step = chance.choice(STEPS)
        yield step, 1 if "apply" in step else chance.randint(2, 3)


@dataclass
class Bot:
    """Runs the bot in processes of its own, on one folder of data."""

    server: ModelServer
    folder: Path

    async def run(self, *command: str, lines: list[str]) -> tuple[int, str]:
        """Run a command with these lines as its input; give its exit code and what it printed."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *command,
            cwd=ROOT,
            env=self._environment(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        printed, _ = await process.communicate("".join(f"{line}\n" for line in lines).encode())
        return process.returncode or 0, printed.decode()

    def _environment(self) -> dict[str, str]:
        own = {"OPENAI_BASE_URL": self.server.url, "OPENAI_API_KEY": "sk-test", "KEEPMIND_DATA_DIR": str(self.folder)}
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), **own}

    async def stored(self) -> tuple[list[Turn], dict[str, Any], list[str]]:
        """Give the turns, the facts and the faults of what is stored."""
        store = await open_store(f"sqlite:///{self.folder}/keepmind.db")
        try:
            conversation = await store.load(DEMO, ANNA)
            return list(conversation.turns), dict(conversation.profile), list(await store.verify())
        finally:
            await store.aclose()


async def kill_and_restart(folder: Path, step: str, times: int) -> None:
    async with ModelServer([SAVING]) as server:
        bot = Bot(server, folder)
        code, before = await bot.run("-m", "tests.end_to_end.killable", step, str(times), lines=LINES)
        assert code == -signal.SIGKILL, f"{step} was never reached"
        code, after = await bot.run("-m", "bots", "chat", "--chat", "demo", lines=["still there?"])
        assert code == 0
        turns, facts, faults = await bot.stored()
        assert faults == []
        assert server.faults == []
        check(turns, before + after, facts)


def check(turns: list[Turn], printed: str, facts: dict[str, Any]) -> None:
    said = [m.text for turn in turns for m in turn.messages]
    assert len(said) == len(set(said)), "each message is stored once"
    assert said[-1] == "still there?"
    for turn in turns:
        assert turn.state is State.DELIVERED
        assert turn.answer is not None
        assert printed.count(turn.answer.text) <= 1, "each answer is shown at most once"
    assert printed.count("You said: still there?") == 1
    if any(turn.answer and turn.answer.text == "Rome it is." for turn in turns):
        assert facts == {"city": "Rome"}, "nothing looks saved that was not"


@pytest.mark.parametrize("step", STEPS)
async def test_a_kill_at_a_named_step_loses_and_doubles_nothing(step: str, tmp_path: Path) -> None:
    await kill_and_restart(tmp_path, step, 1)


@pytest.mark.parametrize(("step", "times"), list(seeded(8, seed=7)))
async def test_a_kill_in_the_midst_of_a_talk_loses_and_doubles_nothing(step: str, times: int, tmp_path: Path) -> None:
    await kill_and_restart(tmp_path, step, times)


@pytest.mark.soak
@pytest.mark.parametrize(("step", "times"), list(seeded(200, seed=11)))
async def test_two_hundred_kills_lose_and_double_nothing(step: str, times: int, tmp_path: Path) -> None:
    await kill_and_restart(tmp_path, step, times)
