"""A database fails while people talk: who speaks is not answered then, and later all is answered once, in order."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from adapters.sql import SqlStore, open_store
from core import sentences
from core.errors import StoreError
from core.llm import Completion, Request
from core.messages import Message
from tests.contract.talk import Talk
from tests.driving import turns, waits
from tests.fakes import HeldClock, ScriptedLLM, World, echo
from tests.postgresql import Server

Fault = Callable[[Path], AbstractContextManager[None]]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let another program hold the file for longer than is waited for."""
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    yield
    holder.execute("ROLLBACK")
    holder.close()


def by_pragma(broken: str, mended: str) -> Fault:
    """Make a fault of what only the store's own connection can be told."""

    @contextmanager
    def fault(_: Path) -> Iterator[None]:
        _own[0].execute(f"PRAGMA {broken}")
        yield
        _own[0].execute(f"PRAGMA {mended}")

    return fault


_own: list[sqlite3.Connection] = []
FULL = by_pragma("max_page_count = 1", "max_page_count = 1000000")
READ_ONLY = by_pragma("query_only = ON", "query_only = OFF")


async def check_made_up_for(world: World, fault: Callable[[], AbstractContextManager[None]], told: str) -> None:
    """Let a store fail when something is said and, later, while it is answered; each is answered once in the end."""
    assert await world.said("one")
    two = world.message("two")
    with fault(), pytest.raises(StoreError, match=told):
        await world.engine.handle(two)
    assert await world.engine.handle(two), "the platform brings it again"
    with ExitStack() as broken:

        def fail(request: Request) -> Completion:
            broken.enter_context(fault())
            return Completion("It is lost.")

        world.llm.answer = fail
        reply = await world.say("three")
        assert reply is not None
        assert (reply.text, reply.failed) == (sentences.WAITS_FOR_STORE, True)
        world.llm.answer = echo
        await waits(world, 300)
        with pytest.raises(StoreError, match=told):
            await world.say("four")
    await waits(world, 60)
    await check_said(world, "one", "two", "three")
    assert world.adapter.texts().count(sentences.WAITS_FOR_STORE) == 1
    answers = [text.removeprefix("You said: ") for text in world.adapter.texts() if text.startswith("You said: ")]
    assert answers == ["one", "two", "three"]
    assert "It is lost." not in world.adapter.texts()


async def check_said(world: World, *texts: str) -> None:
    assert [turn.message.text.split()[0] for turn in await turns(world)] == list(texts)
    assert await world.store.open_turns() == []
    assert await world.store.waiting() == []
    assert await world.store.verify() == []


@pytest.mark.parametrize(
    ("fault", "told"),
    [(locked, "locked by another program"), (READ_ONLY, "read-only")],
    ids=["locked", "read-only"],
)
async def test_a_sqlite_database_that_fails_loses_and_doubles_nothing(fault: Fault, told: str, tmp_path: Path) -> None:
    path = tmp_path / "keepmind.db"
    store = await open_store(str(path), patience=0.02)
    _own[:] = [store._database._raw]  # type: ignore[attr-defined] # faults that only it can be given
    await check_made_up_for(a_world(store), lambda: fault(path), told)
    await store.aclose()


async def test_a_full_disk_loses_nothing_and_what_fits_is_told(tmp_path: Path) -> None:
    store = await open_store(str(tmp_path / "keepmind.db"))
    _own[:] = [store._database._raw]  # type: ignore[attr-defined] # faults that only it can be given
    world = a_world(store)
    world.llm.answer = lambda request: Completion("long " * 5000)
    large = world.message("two " + "long " * 5000)
    with FULL(tmp_path):
        assert await world.said("one") == sentences.APOLOGY_BUG
        with pytest.raises(StoreError, match="disk is full"):
            await world.engine.handle(large)
    assert await world.engine.handle(large)
    kept = [await world.store.turn(number) for number in (1, 2)]  # the first may have been folded by now
    assert [(t.message.text[:3], t.state.value) for t in kept if t] == [("one", "failed"), ("two", "delivered")]
    assert await store.verify() == []
    await store.aclose()


def a_world(store: SqlStore) -> World:
    return World(store=store, clock=HeldClock(), llm=ScriptedLLM(context=100_000))


@contextmanager
def held(server: Server, url: str) -> Iterator[None]:
    """Let another program hold the tables for longer than is waited for."""
    with psycopg.connect(url) as holder:
        holder.execute("LOCK TABLE turn, inbox IN ACCESS EXCLUSIVE MODE")
        yield


@contextmanager
def read_only(server: Server, url: str) -> Iterator[None]:
    """Let the server take no writes, as a replica does."""
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("SET default_transaction_read_only = off")
        admin.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        admin.execute("SELECT pg_reload_conf()")
        while server.run("SHOW default_transaction_read_only") != [("on",)]:
            pass
        yield
        admin.execute("ALTER SYSTEM RESET default_transaction_read_only")
        admin.execute("SELECT pg_reload_conf()")
        while server.run("SHOW default_transaction_read_only") != [("off",)]:
            pass


@contextmanager
def away(server: Server, url: str) -> Iterator[None]:
    """Let the database take no connections for a while."""
    name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    server.run(
        f"ALTER DATABASE {name} ALLOW_CONNECTIONS false",
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'",
    )
    try:
        yield
    finally:
        server.run(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")


@pytest.mark.parametrize(
    ("fault", "told"),
    [(held, "held by another program"), (read_only, "read-only"), (away, "takes no connections just now")],
)
async def test_a_postgresql_database_that_fails_loses_and_doubles_nothing(
    fault: Callable[[Server, str], AbstractContextManager[None]], told: str, postgresql: Server
) -> None:
    url = postgresql.cleared()
    store = await open_store(url, patience=0.1)
    await check_made_up_for(a_world(store), lambda: fault(postgresql, url), told)
    await store.aclose()


class Proxy:
    """Stands between the store and its server; cuts the line at the next commit, `before` or `after` it is done."""

    def __init__(self) -> None:
        self.cuts = ""
        self.made = 0
        self._lines: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def beside(self, url: str, folder: Path) -> AsyncIterator[str]:
        """Listen until the block ends; give the address."""
        parts = psycopg.conninfo.conninfo_to_dict(url)
        socket = f".s.PGSQL.{parts.get('port', 5432)}"
        self._server = f"{parts['host']}/{socket}"
        server = await asyncio.start_unix_server(self._serve, folder / socket)
        try:
            yield url.replace(str(parts["host"]), str(folder)).replace(
                str(parts["host"]).replace("/", "%2F"), str(folder).replace("/", "%2F")
            )
        finally:
            server.close()
            await asyncio.gather(*self._lines)

    async def _serve(self, asks: asyncio.StreamReader, tells: asyncio.StreamWriter) -> None:
        line = asyncio.current_task()
        assert line is not None
        self._lines.add(line)
        server_tells, server_asks = await asyncio.open_unix_connection(self._server)
        back = asyncio.create_task(self._pass(server_tells, tells))
        await self._forth(asks, server_asks, server_tells, back)
        back.cancel()
        for side in (tells, server_asks):
            side.close()
            with suppress(ConnectionError):
                await side.wait_closed()

    async def _forth(
        self,
        asks: asyncio.StreamReader,
        server_asks: asyncio.StreamWriter,
        server_tells: asyncio.StreamReader,
        back: asyncio.Task[None],
    ) -> None:
        while data := await asks.read(1 << 16):
            cuts = self.cuts if b"COMMIT" in data else ""
            if cuts:
                self.cuts, self.made = "", self.made + 1
                back.cancel()
                await asyncio.wait([back])
            if cuts != "before":
                server_asks.write(data)
            if cuts == "after":
                await server_tells.read(1)  # it is done, and the client does not hear of it
            if cuts:
                return

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(1 << 16):
            sink.write(data)


@pytest.mark.parametrize("cuts", ["before", "after"])
async def test_a_line_cut_in_the_middle_of_a_commit_loses_and_doubles_nothing(
    cuts: str, postgresql: Server, tmp_path: Path
) -> None:
    proxy = Proxy()
    async with proxy.beside(postgresql.cleared(), tmp_path) as url:
        store = await open_store(url, connections=2)
        talk = Talk(store)
        proxy.cuts = cuts
        arrived: Message = await talk.arrives("one")
        proxy.cuts = cuts
        _, turn = await store.open([arrived], tokens=1, at=arrived.sent_at)
        proxy.cuts = cuts
        await store.save(turn.changed(failure="waits"))
        assert proxy.made == 3
        assert [t.failure for t in (await talk.loaded()).turns] == ["waits"]
        assert not await store.receive(arrived)
        assert await store.verify() == []
        await store.aclose()
