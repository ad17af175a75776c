"""What is particular to the store in PostgreSQL: opening it, other programs beside it, and lost connections."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import create_engine, make_url

from adapters.sql import Schema, SqlStore, open_store, read_schema
from adapters.sql.upgrade import TARGET, migrate
from core.errors import StoreError
from core.messages import PRIVATE, ChatKey, Person
from core.records import Job
from tests.contract.talk import ANN, PRIVATE_CHAT, START, Talk, change, fact
from tests.driving import hold, until
from tests.fakes import World
from tests.postgresql import Server

SCHEMA = """
SELECT table_name, column_name, data_type, collation_name, is_nullable FROM information_schema.columns
WHERE table_schema = 'public'
UNION SELECT tablename, indexname, indexdef, '', '' FROM pg_indexes WHERE schemaname = 'public'
UNION SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), '', '' FROM pg_constraint
WHERE connamespace = 'public'::regnamespace
"""
OURS = "application_name = 'keepmind' AND pid <> pg_backend_pid()"


@pytest.fixture
async def store(postgresql: Server) -> AsyncIterator[SqlStore]:
    opened = await open_store(postgresql.cleared(), patience=10)
    yield opened
    await opened.aclose()


@pytest.fixture
async def other(store: SqlStore, postgresql: Server) -> AsyncIterator[SqlStore]:
    """A second program on the same database."""
    opened = await open_store(postgresql.cleared())
    yield opened
    await opened.aclose()


async def refusal(url: str) -> str:
    with pytest.raises(StoreError) as refused:
        await open_store(url, patience=2)
    sentence = str(refused.value)
    assert "\n" not in sentence
    assert "s3cret" not in sentence
    assert refused.value.__cause__ is None
    return sentence


def changed(url: str, **parts: object) -> str:
    return make_url(url).set(**parts).render_as_string(hide_password=False)  # type: ignore[arg-type]


async def test_a_fresh_database_is_what_all_migrations_make_and_opens_again(postgresql: Server) -> None:
    fresh, migrated = postgresql.fresh(), postgresql.fresh()
    assert await read_schema(fresh) == Schema(None)
    for _ in range(2):
        await (await open_store(fresh)).aclose()
    assert await read_schema(fresh) == Schema(TARGET)
    engine = create_engine(migrated.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        migrate(connection)
    engine.dispose()
    assert sorted(map(str, postgresql.run(SCHEMA, url=fresh))) == sorted(map(str, postgresql.run(SCHEMA, url=migrated)))


async def test_many_that_open_a_fresh_database_at_once_make_it_once(postgresql: Server) -> None:
    url = postgresql.fresh()
    for store in await asyncio.gather(*(open_store(url) for _ in range(4))):
        await store.aclose()
    assert postgresql.run("SELECT count(*) FROM keepmind_version", url=url) == [(1,)]


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
async def test_every_way_to_write_the_address_is_read(postgresql: Server, scheme: str) -> None:
    store = await open_store(postgresql.cleared().replace("postgresql:", f"{scheme}:"))
    await Talk(store).says("hello")
    await store.aclose()


async def test_a_newer_schema_is_refused(postgresql: Server) -> None:
    url = postgresql.fresh()
    await (await open_store(url)).aclose()
    postgresql.run("UPDATE keepmind_version SET version_num = '9999'", url=url)
    assert "made by a newer Keepmind (schema 9999); upgrade Keepmind" in await refusal(url)


async def test_a_database_of_another_program_is_refused_and_untouched(postgresql: Server) -> None:
    url = postgresql.fresh()
    postgresql.run("CREATE TABLE theirs (id integer)", url=url)
    assert "belongs to another program and was left as it is" in await refusal(url)
    assert postgresql.run("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", url=url) == [("theirs",)]


async def test_a_database_that_cannot_take_every_text_is_refused(postgresql: Server) -> None:
    postgresql.run("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    assert "create it with the encoding UTF8" in await refusal(postgresql.url("latin"))


@pytest.fixture
def by_password(postgresql: Server) -> Iterator[str]:
    """Give the address of a server that asks its user for a password."""
    path = Path(str(postgresql.process.pgdata)) / "pg_hba.conf"
    before = path.read_text()
    postgresql.run("CREATE ROLE guarded LOGIN PASSWORD 'rightone'")
    path.write_text(f"local all guarded scram-sha-256\n{before}")
    postgresql.run("SELECT pg_reload_conf()")
    yield changed(postgresql.fresh(), username="guarded", password="rightone")
    path.write_text(before)
    postgresql.run("SELECT pg_reload_conf()")


async def test_a_wrong_password_and_missing_rights_are_one_sentence(by_password: str) -> None:
    wrong = await refusal(changed(by_password, password="s3cret"))
    assert re.search(r"postgresql://guarded@.*/fresh_\d+.* refuses the user or the password", wrong)
    assert "does not let its user make or change its tables" in await refusal(by_password)


async def test_what_can_not_be_reached_is_one_sentence(postgresql: Server) -> None:
    url = postgresql.url()
    for wrong, told in (
        (changed(url, database="nowhere", password="s3cret"), "does not exist on its server; create it"),
        (changed(url, username="nobody", password="s3cret"), "refuses the user"),
        ("postgresql://u:s3cret@127.0.0.1:1/x", "can't be reached; check that its server runs"),
        ("postgresql://u:s3cret@nowhere.invalid/x", "its host is not known"),
        ("postgresql://u:s3cret@[/x", "can't be read"),
    ):
        assert told in await refusal(wrong)
        assert "KEEPMIND_DATABASE_URL" in await refusal(wrong)


async def test_connections_that_are_cut_are_made_again_and_nobody_notices(store: SqlStore, postgresql: Server) -> None:
    async def live(n: int) -> None:
        talk = Talk(store, ChatKey("telegram", str(n)))
        for text in ("one", "two", "three"):
            await talk.says(text, Person("telegram", str(n)))

    living = asyncio.gather(*(live(n) for n in range(20)))
    while not living.done():
        postgresql.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {OURS}")
        await asyncio.wait([living], timeout=0.15)
    await living
    assert (await store.stats()).turns == 60
    assert await store.verify() == []


async def test_more_work_than_connections_waits(postgresql: Server) -> None:
    store = await open_store(postgresql.cleared(), connections=2)
    talks = [Talk(store, ChatKey("telegram", str(n))) for n in range(40)]
    await asyncio.gather(*(talk.says("hello") for talk in talks))
    assert (await store.stats()).turns == 40
    ((count,),) = postgresql.run(f"SELECT count(*) FROM pg_stat_activity WHERE {OURS}")
    assert count == 2
    await store.aclose()


async def test_one_connection_serves_twenty_chats_whose_answers_are_thought_about(postgresql: Server) -> None:
    store = await open_store(postgresql.cleared(), connections=1)
    world = World(store=store)
    gate = hold(world)
    saying = [asyncio.create_task(world.said(f"hello {n}", who=f"p{n}")) for n in range(20)]
    await until(lambda: gate.waiting == 20)
    assert (await store.stats()).open_turns == 20
    gate.set()
    assert await asyncio.gather(*saying) == [f"You said: hello {n}" for n in range(20)]
    await world.engine.aclose()
    await store.aclose()


async def test_a_server_without_a_connection_left_is_told(postgresql: Server) -> None:
    url = postgresql.fresh()
    postgresql.run("CREATE ROLE crowded LOGIN CONNECTION LIMIT 1")
    crowded = changed(url, username="crowded")
    with psycopg.connect(crowded):
        assert "has no connection left for the bot" in await refusal(crowded)


async def test_what_another_program_holds_for_long_is_told_and_what_it_lets_go_is_waited_for(
    postgresql: Server,
) -> None:
    url = postgresql.cleared()
    store = await open_store(url, patience=0.3)
    with psycopg.connect(url) as holder:
        holder.execute("LOCK TABLE turn IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(StoreError, match="is held by another program"):
            await Talk(store).says("hello")
        saying = asyncio.create_task(Talk(store, said=5).says("later"))
        await asyncio.wait([saying], timeout=0.1)
    assert (await saying).message.text == "later"
    await store.aclose()


async def test_fifty_writers_in_two_programs_see_no_error_and_lose_nothing(store: SqlStore, other: SqlStore) -> None:
    async def live(n: int) -> None:
        talk = Talk(other if n % 2 else store, ChatKey("telegram", str(n // 2)), said=n % 2 * 100)
        for text in ("one", "two"):
            await talk.says(text, Person("telegram", str(n // 2)))

    await asyncio.gather(*(live(n) for n in range(50)))
    assert (await store.stats()).turns == 100
    assert await other.verify() == []
    for n in range(25):
        assert len((await other.load(ChatKey("telegram", str(n)))).turns) == 4, "two programs made one line of turns"


async def test_a_job_is_claimed_by_one_of_two_programs(store: SqlStore, other: SqlStore) -> None:
    for n in range(20):
        await store.enqueue(Job("fold", str(n), START))
    claims = await asyncio.gather(*(s.claim(f"{n}", START, lease=9, limit=5) for n, s in enumerate([store, other] * 4)))
    claimed = [job.key for jobs in claims for job in jobs]
    assert len(claimed) == len(set(claimed))


async def test_a_body_that_cannot_be_read_is_told_without_its_contents(store: SqlStore, postgresql: Server) -> None:
    await Talk(store).says("hello")
    postgresql.run("""UPDATE turn SET messages = '[{"text":"a secret"}]'""", url=postgresql._shared)
    with pytest.raises(StoreError, match="can't be read; run `keepmind memory verify`") as failed:
        await store.load(PRIVATE_CHAT)
    assert "secret" not in str(failed.value)
    assert "can't be read" in (await store.verify())[0]


async def test_a_closed_store_says_so(postgresql: Server) -> None:
    store = await open_store(postgresql.cleared())
    await store.aclose()
    await store.aclose()
    with pytest.raises(StoreError, match="closed"):
        await store.apply(ANN, PRIVATE, [change("1", fact("name", "Ann"))])
