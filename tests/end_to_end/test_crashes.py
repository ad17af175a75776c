"""The bot killed at named steps and at any moment, on each platform and database: nothing is lost or doubled."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.end_to_end.crashing import LONG, SHORT, Kill, Talk, seeded
from tests.end_to_end.talking import talking

PLACES = [("telegram", "sqlite"), ("telegram", "postgresql"), ("discord", "sqlite"), ("discord", "postgresql")]
SHARED_OUT = [(*place, steps) for place, steps in zip(PLACES, ["short", "long", "long", "short"], strict=True)]
THE_REST = [(*place, steps) for place, steps in zip(PLACES, ["long", "short", "short", "long"], strict=True)]
STEPS = {"short": SHORT, "long": LONG}


Given = tuple[Talk, list[Kill]]


@pytest.fixture
async def given(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Given]:
    """A talk on a platform and a database, and at which named steps the bot is to be killed."""
    platform, database, steps = request.param
    url = request.getfixturevalue("postgresql").cleared() if database == "postgresql" else ""
    async with talking(platform, tmp_path, url) as talk:
        await talk.begun()
        yield talk, STEPS[steps]


@pytest.mark.parametrize("given", SHARED_OUT, indirect=True, ids=" ".join)
async def test_kills_lose_and_double_nothing(given: Given) -> None:
    talk, kills = given
    for kill in [*kills, *seeded(5, seed=7)]:
        await talk.dies(kill)
    await talk.ended()


@pytest.mark.soak
@pytest.mark.parametrize("given", THE_REST, indirect=True, ids=" ".join)
async def test_fifty_kills_lose_and_double_nothing(given: Given) -> None:
    talk, kills = given
    for number, kill in enumerate([*kills, *seeded(33, seed=11)]):
        await talk.dies(kill)
        if number % 4 == 3:
            await talk.recovers()
    print(f"\n{talk.platform}: {await talk.ended()}")
