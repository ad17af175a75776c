"""The platform can't be reached while answers are made: they wait for it, over a kill and a stop, and come once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.conversation import State
from core.store import ConversationStore
from tests.end_to_end.crashing import HELLO, TALE, Talk
from tests.end_to_end.talking import talking

SLOW: list[dict[str, Any]] = [
    {"match": rf"({HELLO} number \d+)$", "reply": r"You said: \1", "delay": 0.5},
    {"match": rf"({TALE} number \d+)$", "reply": r"Here is \1 " + "and so on " * 20 + "to its end.", "pace": 0.03},
]


@pytest.fixture(params=["telegram", "discord"])
async def talk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Talk]:
    async with talking(request.param, tmp_path) as talk:
        await talk.begun()
        talk.bot.settings["KEEPMIND_ENGINE__STOP_SECONDS"] = "0.3"
        talk.bot.server.rules[:0] = SLOW
        yield talk


async def goes_away(talk: Talk, store: ConversationStore) -> None:
    """Let the platform go away while a tale is told and two persons are about to be answered, and all be ready."""
    edits = talk.edited
    for what in (HELLO, HELLO, TALE):
        talk.say(what)
    await talk.watch(lambda: talk.edited > edits)
    await talk.server.stop()
    async with asyncio.timeout(60):
        while [turn.state for turn in await store.open_turns()] != [State.ANSWERED] * 3:  # noqa: ASYNC110 -- no bell
            await asyncio.sleep(0.05)


async def test_answers_wait_for_the_platform_and_come_once(talk: Talk) -> None:
    async with talk.opened() as store:
        async with talk.bot.served(talk.platform) as process:
            await talk.connected()
            await goes_away(talk, store)
            await talk.server.start()
            await talk.settled(store)
            await talk.connected()
            await goes_away(talk, store)
            process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(process.wait(), 15) == 0, "what waits holds up no stop"
        fork = await talk.forks.start()  # where the platform is still away, or just back
        await talk.server.start()
        await talk.settled(store)
        await talk.connected()
        await goes_away(talk, store)
        await fork.killed()
        await talk.server.start()
    figures = await talk.ended()
    assert (figures.ambiguous, figures.left_over) == (0, 0)
