"""Several processes on one SQLite file: one serves a bot, and the next takes over when that one has ended."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from adapters.sql import SqlStore, open_store
from core.errors import StoreError
from tests.contract.talk import Talk

BOT, OTHER = "telegram:1", "discord:2"
TAKING = """
import asyncio, sys
from adapters.sql import open_store

async def main():
    store = await open_store(sys.argv[1])
    await store.duty().take("telegram:1")
    print("taken", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[list[SqlStore]]:
    """Two programs on one file."""
    async with AsyncExitStack() as stack:
        opened = [await open_store(str(tmp_path / "keepmind.db")) for _ in range(2)]
        for store in opened:
            stack.push_async_callback(store.aclose)
        yield opened


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a process that serves a bot until the block ends."""
    command = (sys.executable, "-c", TAKING, str(folder / "keepmind.db"))
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout
    try:
        assert await process.stdout.readline() == b"taken\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_a_bot_is_served_by_one_and_the_next_takes_over_when_it_ends(stores: list[SqlStore]) -> None:
    one, two = stores
    await one.duty().take(BOT)
    await one.duty().take(BOT)
    taking = asyncio.create_task(two.duty().take(BOT))
    await asyncio.wait([taking], timeout=0.7)
    assert not taking.done()
    await one.aclose()
    async with asyncio.timeout(10):
        await taking
    await Talk(two).says("hello")


async def test_bots_are_spread_over_processes(stores: list[SqlStore]) -> None:
    one, two = stores
    await one.duty().take(BOT)
    await two.duty().take(OTHER)
    await Talk(one).says("hello")
    await Talk(two, said=5).says("and hello")
    assert await one.verify() == []


async def test_who_is_killed_lets_the_bot_go(stores: list[SqlStore], tmp_path: Path) -> None:
    async with serving(tmp_path) as process:
        taking = asyncio.create_task(stores[0].duty().take(BOT))
        await asyncio.wait([taking], timeout=0.7)
        assert not taking.done()
        process.kill()
        async with asyncio.timeout(10):
            await taking


async def test_a_folder_that_can_not_be_written_is_one_sentence(stores: list[SqlStore], tmp_path: Path) -> None:
    (tmp_path / "keepmind.db-telegram").mkdir()
    with pytest.raises(StoreError, match=r"-telegram can't be opened"):
        await stores[0].duty().take(BOT)
