"""Opening a database: made, brought up to date, or refused with one sentence; and what is said when it fails later."""
# ruff: noqa: ASYNC240 - a test may wait for its own small files

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from adapters.sql import Schema, SqlStore, back_up, open_store, read_schema
from adapters.sql.upgrade import KNOWN, MIGRATIONS, TARGET, migrate
from core.errors import StoreError
from core.messages import PRIVATE
from tests.contract.talk import ANN, PRIVATE_CHAT, Talk, change, fact

ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keepmind.db"


async def refusal(url: str | Path, **more: float) -> str:
    with pytest.raises(StoreError) as refused:
        await open_store(str(url), patience=more.get("patience", 0.2))
    sentence = str(refused.value)
    assert "\n" not in sentence
    assert "sqlalchemy" not in sentence.casefold()
    assert refused.value.__cause__ is None
    return sentence


def made_by(path: Path, revision: str) -> None:
    """Make a database as the program of that revision did."""
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        migrate(connection, revision)
    engine.dispose()


def schema_of(path: Path) -> list[tuple[str, str]]:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    connection.close()
    return [(name, re.sub(r"\s+", "", sql or "")) for name, sql in rows]


@pytest.mark.parametrize("revision", KNOWN)
async def test_a_database_of_an_earlier_release_opens_with_its_data(path: Path, revision: str) -> None:
    made_by(path, revision)
    for _ in range(2):
        store = await open_store(str(path))
        talk = Talk(store, said=(await store.stats()).turns)
        await talk.says("hello")
        await store.aclose()
    store = await open_store(str(path))
    assert len((await store.load(PRIVATE_CHAT)).turns) == 2
    assert await store.verify() == []
    await store.aclose()


async def test_migrating_twice_is_harmless(path: Path) -> None:
    made_by(path, "head")
    before = schema_of(path)
    made_by(path, "head")
    assert schema_of(path) == before


async def test_a_fresh_database_is_what_all_migrations_make(path: Path, tmp_path: Path) -> None:
    await (await open_store(str(path))).aclose()
    made_by(tmp_path / "migrated.db", "head")
    assert schema_of(path) == schema_of(tmp_path / "migrated.db")


def test_every_migration_is_known() -> None:
    files = sorted(file.name.split("_")[0] for file in (MIGRATIONS / "versions").glob("*.py"))
    assert tuple(files) == KNOWN
    assert KNOWN[-1] == TARGET


async def test_platform_ids_are_never_cut_by_a_column(path: Path) -> None:
    await (await open_store(str(path))).aclose()
    connection = sqlite3.connect(path)
    columns = {
        (table, name): kind
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({table})")
    }
    connection.close()
    for table, name in (("chat", "key"), ("inbox", "chat"), ("inbox", "message"), ("turn", "sender"), ("turn", "chat")):
        assert columns[table, name] == "VARCHAR"
    for table, name in (("turn", "parent"), ("segment", "last"), ("chat", "head"), ("source", "turn")):
        assert columns[table, name] == "BIGINT"


async def test_the_schema_can_be_asked_for_without_touching_anything(path: Path) -> None:
    assert await read_schema(str(path)) == Schema(None)
    assert not path.exists()
    await (await open_store(str(path))).aclose()
    assert await read_schema(f"sqlite:///{path}") == Schema(TARGET, TARGET)


def test_alembic_is_not_imported_when_nothing_is_to_be_done(path: Path) -> None:
    program = (
        "import asyncio, sys; from adapters.sql import open_store\n"
        f"async def main(): await (await open_store({str(path)!r})).aclose()\n"
        "asyncio.run(main()); asyncio.run(main()); sys.exit('alembic' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


async def test_a_newer_schema_is_refused(path: Path) -> None:
    await (await open_store(str(path))).aclose()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE keepmind_version SET version_num = '9999'")
    connection.commit()
    connection.close()
    assert "made by a newer Keepmind (schema 9999); upgrade Keepmind" in await refusal(path)
    with pytest.raises(StoreError, match="newer Keepmind"):
        await read_schema(str(path))


async def test_a_database_of_another_program_is_refused_and_untouched(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (id INTEGER)")
    connection.close()
    before = path.read_bytes()
    assert f"{path} belongs to another program and was left as it is" in await refusal(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


async def test_a_file_that_is_no_database_is_refused_and_untouched(path: Path) -> None:
    path.write_bytes(b"these are my notes\n" * 1000)
    before = path.read_bytes()
    assert f"The database {path} is not a SQLite database and was left as it is" in await refusal(path)
    assert path.read_bytes() == before


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    sentence = await refusal(tmp_path / "nowhere" / "keepmind.db")
    assert f"The folder {tmp_path}/nowhere does not exist; create it" in sentence


async def test_a_folder_in_place_of_a_file_is_told(tmp_path: Path) -> None:
    assert f"The database {tmp_path} is a folder; set KEEPMIND_DATABASE_URL to a file in it." == await refusal(tmp_path)
    with pytest.raises(StoreError, match="is a folder"):
        await read_schema(str(tmp_path))


@pytest.mark.parametrize("url", ["~/keepmind.db", "sqlite:///~/keepmind.db"])
async def test_a_tilde_stands_for_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    await (await open_store(url)).aclose()
    assert await back_up(url, tmp_path / "copy.db") == ""
    assert {"keepmind.db", "copy.db"} <= set(os.listdir(tmp_path))


@pytest.mark.parametrize("url", ["mysql://localhost/keepmind", "no sense://", "postgresql://host:port/name"])
async def test_another_kind_of_database_is_refused(url: str) -> None:
    assert "KEEPMIND_DATABASE_URL" in await refusal(url)


async def test_a_database_in_memory_can_be_opened() -> None:
    for url in (":memory:", "sqlite://"):
        store = await open_store(url)
        await Talk(store).says("hello")
        assert (await store.stats()).turns == 1
        await store.aclose()


async def failure(store: SqlStore, text: str = "a secret") -> str:
    with pytest.raises(StoreError) as failed:
        await Talk(store).says(text)
    sentence = str(failed.value)
    assert "secret" not in sentence
    assert "\n" not in sentence
    return sentence


async def test_a_read_only_database_is_told(path: Path) -> None:
    await (await open_store(str(path))).aclose()
    store = await open_store(f"sqlite:///file:{path}?mode=ro&uri=true")
    assert await store.waiting() == []
    sentence = await failure(store)
    assert "is read-only; make it writable or set KEEPMIND_DATABASE_URL to another." in sentence
    await store.aclose()


async def test_a_full_disk_is_told_and_nothing_is_half_stored(path: Path) -> None:
    store = await open_store(str(path))
    await store._database.write(lambda tx: tx.sql("PRAGMA max_page_count = 60"))
    sentence = await failure(store, "secret " * 100_000)
    assert "its disk is full; free some space" in sentence
    assert (await store.stats()).turns == 0
    await Talk(store, said=9).says("short")
    assert await store.verify() == []
    await store.aclose()


async def test_a_lock_that_lasts_is_told_and_one_that_passes_is_waited_for(path: Path) -> None:
    store = await open_store(str(path), patience=0.2)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    assert "is locked by another program" in await failure(store)
    saying = Talk(store, said=5).says("later")
    holder.execute("ROLLBACK")
    assert (await saying).message.text == "later"
    holder.close()
    await store.aclose()


async def damage(path: Path) -> bytes:
    """Make a database and damage its file; give its bytes from then on."""
    store = await open_store(str(path))
    talk = Talk(store)
    for n in range(60):
        await talk.says(f"turn {n} " + "x" * 2000)
    await store.apply(ANN, PRIVATE, [change("1", fact("name", "Ann"))])
    await store.aclose()
    whole = path.read_bytes()
    sound = len(whole) * 3 // 4
    return whole[:sound] + b"\xa5" * (len(whole) - sound)


async def test_a_damaged_database_is_told_at_the_start_and_not_overwritten(path: Path) -> None:
    damaged = await damage(path)
    path.write_bytes(damaged)
    assert "is damaged and was left as it is; bring back a copy" in await refusal(path)
    assert path.read_bytes() == damaged


@pytest.mark.parametrize(("kept", "log"), [(1, b""), (50, b""), (-1, b""), (-100, b""), (0, b"what was said last")])
async def test_a_database_cut_off_anywhere_is_told_and_left_as_it_is(path: Path, kept: int, log: bytes) -> None:
    store = await open_store(str(path))
    await Talk(store).says("hello")
    await store.aclose()
    cut, beside = path.read_bytes()[:kept], path.with_name(f"{path.name}-wal")
    path.write_bytes(cut)
    if log:
        beside.write_bytes(log)
    assert "is damaged and was left as it is; bring back a copy" in await refusal(path)
    assert path.read_bytes() == cut
    assert not log or beside.read_bytes() == log


async def test_a_database_damaged_while_it_is_open_is_told(path: Path) -> None:
    damaged = await damage(path)
    store = await open_store(str(path))
    await store._database.read(lambda tx: tx.sql("PRAGMA shrink_memory"))  # or what was read is remembered
    path.write_bytes(damaged)
    with pytest.raises(StoreError, match="is damaged and was left as it is; bring back a copy"):
        await store.load(PRIVATE_CHAT, ANN)
    await store.aclose()
    assert path.read_bytes() == damaged


async def test_a_body_that_cannot_be_read_is_told_without_its_contents(path: Path) -> None:
    store = await open_store(str(path))
    await Talk(store).says("hello")
    connection = sqlite3.connect(path)
    connection.execute("""UPDATE turn SET messages = '[{"text":"a secret"}]'""")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="can't be read; run `keepmind memory verify`") as failed:
        await store.load(PRIVATE_CHAT)
    assert "secret" not in str(failed.value)
    assert "Turn 1" in (await store.verify())[0]
    await store.aclose()


async def test_a_closed_store_says_so(path: Path) -> None:
    store = await open_store(str(path))
    await store.aclose()
    with pytest.raises(StoreError, match="closed"):
        await store.waiting()
    with pytest.raises(StoreError, match="closed"):
        await Talk(store).says("hello")
