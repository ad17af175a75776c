"""What SQLite's log holds is moved into the file while others write, so that it does not grow without end."""

from __future__ import annotations

import asyncio
from pathlib import Path

from adapters.sql import open_store
from core.messages import ChatKey
from tests.contract.talk import Talk


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
