"""The bot told to stop while it answers: the answer is finished in the time there is, or goes on at the next start."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.end_to_end.crashing import HELLO, TALE, Talk
from tests.end_to_end.talking import talking
from tests.end_to_end.test_metrics import free_port
from tests.postgresql import Server

EITHER = [("telegram", "postgresql"), ("discord", "sqlite")]
OTHER = [("telegram", "sqlite"), ("discord", "postgresql")]


@pytest.fixture
async def talk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Talk]:
    platform, database = request.param
    url = request.getfixturevalue("postgresql").cleared() if database == "postgresql" else ""
    async with talking(platform, tmp_path, url) as talk:
        await talk.begun()
        yield talk


def tale(pace: float) -> dict[str, Any]:
    """Let a tale be told, each word of it taking so many seconds."""
    return {
        "match": rf"({TALE} number \d+)$",
        "reply": r"Here is \1 " + "and so on " * 20 + "to its end.",
        "pace": pace,
    }


async def stopped_in_the_midst(talk: Talk) -> None:
    """Tell the bot to stop, as systems do, when an answer has begun to be seen; it ends well."""
    before = talk.shown(talk.places[2])
    async with talk.bot.served(talk.platform) as process:
        talk.say(TALE)
        await talk.watch(lambda: talk.shown(talk.places[2])[len(before) :])
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


@pytest.mark.parametrize("talk", EITHER, indirect=True, ids=" ".join)
async def test_an_answer_that_takes_less_than_the_time_there_is_is_finished(talk: Talk) -> None:
    talk.bot.server.rules.insert(0, tale(0.02))
    await stopped_in_the_midst(talk)
    assert talk.shown(talk.places[2])[-1].endswith("to its end.")
    assert (await talk.ended()).ambiguous == 0


@pytest.mark.parametrize("talk", OTHER, indirect=True, ids=" ".join)
async def test_an_answer_that_takes_longer_goes_on_in_the_same_message_at_the_next_start(talk: Talk) -> None:
    talk.bot.settings["KEEPMIND_ENGINE__STOP_SECONDS"] = "0.3"
    talk.bot.server.rules.insert(0, tale(0.1))
    await stopped_in_the_midst(talk)
    assert not talk.shown(talk.places[2])[-1].endswith("to its end.")
    talk.bot.server.rules.insert(0, tale(0))
    talk.bot.settings["KEEPMIND_ENGINE__STOP_SECONDS"] = "10"
    assert (await talk.ended()).ambiguous == 0


@contextmanager
def frozen(server: Server) -> Iterator[None]:
    """Let a database server keep the bot's connections and answer nothing, until the block ends."""
    pids = [pid for (pid,) in server.run("SELECT pid FROM pg_stat_activity WHERE application_name = 'keepmind'")]
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("talk", [("telegram", "postgresql")], indirect=True, ids=" ".join)
async def test_a_database_that_does_not_answer_is_seen_and_holds_up_no_stop(talk: Talk, postgresql: Server) -> None:
    port = free_port()
    talk.bot.settings |= {"KEEPMIND_METRICS__PORT": str(port), "KEEPMIND_ENGINE__STOP_SECONDS": "0.3"}
    log = talk.bot.folder / "stopped"
    process = await talk.bot.start("-m", "bots", "run", talk.platform, log=log)
    try:
        edits = talk.edited
        talk.say(TALE)
        await talk.watch(lambda: talk.edited > edits)
        with frozen(postgresql):
            talk.say(HELLO)
            async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/readyz") as response:
                assert (response.status, await response.text()) == (503, "The database does not answer.\n")
            process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(process.wait(), 20) == 1
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert log.read_text().count("not all could be closed in time") == 1
    assert (await talk.ended()).left_over == 0
