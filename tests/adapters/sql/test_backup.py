"""Copies of the database: whole though the bot writes, never over another file, and for PostgreSQL a command."""

from __future__ import annotations

import asyncio
import os
import shlex
import sqlite3
import stat
import sys
from contextlib import closing
from pathlib import Path

import pytest

from adapters.sql import back_up, open_store
from core.errors import StoreError
from tests.contract.talk import PRIVATE_CHAT, Talk
from tests.postgresql import Server, programs


async def test_a_copy_made_while_the_bot_writes_is_whole(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/keepmind.db"
    store = await open_store(url)
    talk = Talk(store)
    await talk.says("before")

    async def write() -> None:
        for n in range(200):
            await talk.says(f"meanwhile {n}")

    writing = asyncio.create_task(write())
    copy = tmp_path / "copy.db"
    assert await back_up(url, copy) == ""
    await writing
    await store.aclose()
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    copied = await open_store(str(copy))
    assert (await copied.load(PRIVATE_CHAT)).turns[0].message.text == "before"
    assert await copied.verify() == []
    await Talk(copied, said=999).says("and goes on")
    await copied.aclose()


async def test_no_file_is_overwritten_and_none_is_left_when_it_fails(tmp_path: Path) -> None:
    database, copy = tmp_path / "keepmind.db", tmp_path / "copy.db"
    with pytest.raises(StoreError, match="There is no database yet"):
        await back_up(str(database), copy)
    await (await open_store(str(database))).aclose()
    copy.write_text("mine")
    with pytest.raises(StoreError, match="is there already and was left as it is"):
        await back_up(str(database), copy)
    assert copy.read_text() == "mine"
    with pytest.raises(StoreError, match=r"nowhere/copy\.db can't be written"):
        await back_up(str(database), tmp_path / "nowhere" / "copy.db")
    database.write_bytes(database.read_bytes()[:20_000] + b"\xa5" * 20_000)
    with pytest.raises(StoreError, match="is damaged"):
        await back_up(str(database), tmp_path / "other.db")
    assert sorted(os.listdir(tmp_path)) == ["copy.db", "keepmind.db"]


async def test_a_copy_that_is_killed_leaves_no_file_of_its_name(tmp_path: Path) -> None:
    database, copies = tmp_path / "keepmind.db", tmp_path / "copies"
    await (await open_store(str(database))).aclose()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE much AS SELECT zeroblob(90000000)")
        connection.commit()
    copies.mkdir()
    copy = copies / "copy.db"
    environment = {**os.environ, "KEEPMIND_DATABASE_URL": str(database)}
    command = ["-m", "bots", "db", "backup", str(copy)]
    process = await asyncio.create_subprocess_exec(sys.executable, *command, env=environment)
    async with asyncio.timeout(60):
        while not os.listdir(copies):  # noqa: ASYNC110 -- a folder rings no bell
            await asyncio.sleep(0.001)
    process.kill()
    await process.wait()
    assert not copy.exists()
    assert await back_up(str(database), copy) == ""
    assert copy.stat().st_size == database.stat().st_size


async def test_of_postgresql_the_command_is_given_with_all_of_the_address_but_the_password(tmp_path: Path) -> None:
    url = "postgres://ann:s3cret@db.example:5433/keepmind?sslmode=verify-full&password=s3cret"
    place = "postgresql://ann@db.example:5433/keepmind?sslmode=verify-full"
    command = await back_up(url, tmp_path / "a copy.dump")
    assert command == f"pg_dump --format=custom '--dbname={place}' '--file={tmp_path}/a copy.dump'"


async def test_the_command_for_postgresql_makes_what_can_be_brought_back(postgresql: Server, tmp_path: Path) -> None:
    url, copy, again = postgresql.cleared(), tmp_path / "copy.dump", postgresql.fresh()
    store = await open_store(url)
    await Talk(store).says("hello")
    before = await store.load(PRIVATE_CHAT)
    await store.aclose()
    for command in (await back_up(url, copy), f"pg_restore --dbname={shlex.quote(again)} {copy}"):
        program, *arguments = shlex.split(command)
        process = await asyncio.create_subprocess_exec(programs() / program, *arguments)
        assert await process.wait() == 0
    restored = await open_store(again)
    assert await restored.load(PRIVATE_CHAT) == before
    assert await restored.verify() == []
    await restored.aclose()
