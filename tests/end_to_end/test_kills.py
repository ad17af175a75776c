"""The bot in the terminal killed at any step of a turn: after a restart nothing is lost or said twice."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.conversation import State, Turn
from tests.end_to_end.bot import Bot
from tests.end_to_end.model_server import ModelServer

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


async def kill_and_restart(folder: Path, step: str, times: int) -> None:
    async with ModelServer([SAVING]) as server:
        bot = Bot(server, folder)
        said = "".join(f"{line}\n" for line in LINES)
        killed = await bot.run("-m", "tests.end_to_end.killable", step, str(times), said=said)
        assert killed.code == -signal.SIGKILL, f"{step} was never reached"
        after = await bot.chat("still there?")
        turns, facts, faults = await bot.stored()
        assert faults == []
        assert server.faults == []
        check(turns, killed.out + "\n".join(after), facts)


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


@pytest.mark.parametrize("step", ["after receive", "after apply", "before send"])
async def test_a_kill_at_a_named_step_loses_and_doubles_nothing(step: str, tmp_path: Path) -> None:
    await kill_and_restart(tmp_path, step, 1)


@pytest.mark.soak
@pytest.mark.parametrize(("step", "times"), [*((step, 1) for step in STEPS), *seeded(50, seed=11)])
async def test_kills_in_the_midst_of_a_talk_lose_and_double_nothing(step: str, times: int, tmp_path: Path) -> None:
    await kill_and_restart(tmp_path, step, times)
