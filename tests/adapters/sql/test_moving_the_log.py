"""What SQLite's log holds is moved into the file while others write, so that it does not grow without end."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing, closing, contextmanager
from pathlib import Path

import pytest

from adapters.sql import open_store
from adapters.sql.sqlite_log import PIECE
from core.messages import ChatKey
from tests.contract.talk import PRIVATE_CHAT, Talk

MARKER = "Heffalump"
MOVING = """
import fcntl, sys
index = open(sys.argv[1], "r+b")
fcntl.lockf(index, fcntl.LOCK_EX, 1, 121)  # SQLite's lock of who moves the log
print("moving", flush=True)
sys.stdin.read()
"""
EMPTYING = """
import os, sys
with open(sys.argv[1], "wb", 0) as log:
    while True:
        os.pwrite(log.fileno(), bytes(8_000_000), 0)
        log.truncate(0)
"""
LOOKING = """
import asyncio, os, sys
from adapters.sql import open_store

async def main():
    store = await open_store(sys.argv[1])
    print("open", flush=True)
    sys.stdin.readline()
    for _ in range(250):
        assert await store.remains("Heffalump") == []
    os._exit(0)  # the log was none

asyncio.run(main())
"""


@contextmanager
def moving_elsewhere(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Let another program move the log until its input is closed."""
    command = [sys.executable, "-c", MOVING, f"{path}-shm"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as mover:
        assert mover.stdout
        assert mover.stdout.readline() == b"moving\n"
        yield mover


async def test_the_log_stays_small_and_all_is_there_however_much_is_written_at_once(tmp_path: Path) -> None:
    path, log = tmp_path / "keepmind.db", tmp_path / "keepmind.db-wal"
    store = await open_store(str(path))
    talks = [Talk(store, ChatKey("telegram", str(n))) for n in range(20)]
    largest = 0
    for n in range(70):
        await asyncio.gather(*(talk.says(f"{n} " + "word " * 400) for talk in talks))
        largest = max(largest, log.stat().st_size)
    assert largest < 50_000_000, "sixteen, and what is written while that is moved"
    assert path.stat().st_size > 1_000_000, "it was moved"
    await store.erase_chat(talks[0].chat)
    assert await store.verify() == []
    await store.aclose()
    again = await open_store(str(path))
    assert (await again.stats()).turns == 19 * 70
    await again.aclose()


async def test_an_erasure_waits_for_who_is_moving_the_log_just_then(tmp_path: Path) -> None:
    path = tmp_path / "keepmind.db"
    store = await open_store(str(path))
    await Talk(store).says(MARKER)
    with moving_elsewhere(path) as mover:
        erasing = asyncio.create_task(store.erase_chat(PRIVATE_CHAT))
        while await store.holds(MARKER):
            assert not erasing.done()
        assert await store.remains(MARKER) != []
        mover.communicate()
        await erasing
    assert await store.remains(MARKER) == []
    await store.aclose()


async def test_what_is_erased_while_another_program_reads_for_long_leaves_the_log_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "keepmind.db"
    store = await open_store(str(path), patience=0.05)
    await Talk(store).says(MARKER)
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM turn").fetchall()
        await store.erase_chat(PRIVATE_CHAT)
        assert await store.remains(MARKER) != []
    other = Talk(store, ChatKey("telegram", "2"))
    while await store.remains(MARKER):
        await other.says("something else")
    await store.aclose()


def test_the_log_is_looked_through_though_it_is_emptied_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "keepmind.db"
    looks = [sys.executable, "-c", LOOKING, str(path)]
    empties = [sys.executable, "-c", EMPTYING, f"{path}-wal"]
    with subprocess.Popen(looks, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as looking:
        assert looking.stdout
        assert looking.stdout.readline() == b"open\n"
        with subprocess.Popen(empties) as emptying:
            looking.communicate(b"\n")
            emptying.kill()
    assert looking.returncode == 0


@pytest.mark.parametrize("at", [0, PIECE - len(MARKER), PIECE - 4, PIECE, 2 * PIECE - 1, 2 * PIECE + 7])
async def test_a_text_is_found_wherever_it_stands_in_a_file(tmp_path: Path, at: int) -> None:
    journal = tmp_path / "keepmind.db-journal"
    async with aclosing(await open_store(str(tmp_path / "keepmind.db"))) as store:
        await asyncio.to_thread(journal.write_bytes, bytes(at) + MARKER.encode() + bytes(9))
        assert await store.remains(MARKER) == [f"the file {journal}"]
