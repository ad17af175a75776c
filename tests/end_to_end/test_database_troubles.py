"""The database server breaks off all connections, or starts anew, while a real process answers: nobody notices."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import psycopg
import pytest

from tests.end_to_end.crashing import HELLO, ROME, STORY, TALE, Talk
from tests.end_to_end.talking import talking
from tests.postgresql import Server


@pytest.fixture
async def talk(postgresql: Server, tmp_path: Path) -> AsyncIterator[Talk]:
    url = postgresql.cleared()
    name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    postgresql.run(f"ALTER DATABASE {name} SET synchronous_commit = on")  # else a crash loses what was committed last
    async with talking("telegram", tmp_path, url) as talk:
        yield talk
    postgresql.run(f"ALTER DATABASE {name} RESET synchronous_commit")


def cut(server: Server) -> None:
    """Break off all connections, as an operator or a failing network does."""
    server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname <> 'postgres'")


async def answering(talk: Talk) -> None:
    """Say things everywhere, and wait until an answer is seen to grow."""
    edits = talk.edited
    for what in (TALE, STORY, ROME, HELLO):
        talk.say(what)
    await talk.watch(lambda: talk.edited > edits)


async def test_nothing_is_lost_or_said_twice_by_connections_cut_and_servers_restarted(
    talk: Talk, postgresql: Server
) -> None:
    troubles: list[Callable[[], None]] = [
        partial(cut, postgresql),
        partial(postgresql.restart, "fast"),
        partial(postgresql.restart, "immediate"),
    ]
    fork = await talk.forks.start()
    await fork.serves()
    for trouble in troubles:
        await answering(talk)
        await asyncio.to_thread(trouble)
        talk.say(HELLO)
    async with talk.opened() as store:
        await talk.settled(store)
    assert not fork.ended.done(), "the process lives on"
    await fork.killed()
    figures = await talk.ended()
    assert (figures.ambiguous, figures.left_over) == (0, 0)
    assert "Traceback" not in (talk.bot.folder / "log").read_text()
