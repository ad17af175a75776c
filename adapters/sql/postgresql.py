"""A PostgreSQL database: a few threads, each with a connection of its own, on which transactions run side by side."""
# ruff: noqa: D102 - what each method promises is said once, at what the store asks of a database

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import local
from typing import Any

import psycopg
from psycopg.rows import TupleRow
from pydantic import ValidationError
from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from adapters.sql.address import Address
from adapters.sql.cache import Cache
from adapters.sql.database import P, Prepare, R, Row, Transaction, Work
from adapters.sql.faults import unreadable
from adapters.sql.postgresql_duty import CALL, PostgresqlDuty, fence
from adapters.sql.postgresql_faults import may_pass, store_error
from adapters.sql.postgresql_link import Connection, Link, connect
from adapters.sql.statement import Statement
from core.duty import Duty
from core.errors import Relieved, StoreError

logger = logging.getLogger("keepmind.store")

SPACE, CHATS = 1_264_873_038, 1_264_873_039
"""The two spaces of advisory locks: one lock for who writes anything anywhere, and one for each chat."""
READ = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
ALONE = f"BEGIN; SELECT pg_advisory_xact_lock({SPACE}, 0), pg_current_xact_id()::text"
BESIDE = f"BEGIN; SELECT pg_advisory_xact_lock_shared({SPACE}, 0), pg_current_xact_id()::text"
HOLD = f"SELECT pg_advisory_xact_lock({CHATS}, hashtext(%s))"
OUTCOME = "SELECT pg_postmaster_start_time()::text = %s, pg_xact_status(%s::xid8)"
OLDEST = 14
"""The first version that has all that is asked of it."""
UNKNOWN = "was lost in the middle of a commit, and whether that holds is not known"


class PostgresqlTransaction(Transaction):
    """Statements on one of the connections. What it reads is kept decoded only until it ends: others write as well."""

    dialect = "postgresql"

    def __init__(self, connection: Connection, announces: bool) -> None:
        self._cursor = connection.cursor()
        self._announces = announces
        self.cache = Cache(10_000)

    def rows(self, statement: Statement, **given: Any) -> list[Row]:
        return self._execute(statement, given).fetchall()

    def row(self, statement: Statement, **given: Any) -> Row | None:
        return self._execute(statement, given).fetchone()

    def value(self, statement: Statement, **given: Any) -> Any:
        row = self._execute(statement, given).fetchone()
        return row[0] if row else None

    def run(self, statement: Statement, **given: Any) -> int:
        return self._execute(statement, given).rowcount

    def insert(self, statement: Statement, **given: Any) -> int:
        row = self._execute(statement, given).fetchone()
        return int(row[0]) if row else 0

    def many(self, statement: Statement, given: Iterable[Mapping[str, Any]]) -> int:
        written = statement.on_postgresql
        values = [written.values(each) for each in given]
        if values:
            self._cursor.executemany(written.text, values)
        return self._cursor.rowcount if values else 0

    def _execute(self, statement: Statement, given: Mapping[str, Any]) -> psycopg.Cursor[TupleRow]:
        written = statement.on_postgresql
        return self._cursor.execute(written.text, written.values(given))

    def sql(self, text: str) -> list[Row]:
        return self._cursor.execute(text).fetchall()

    def hold(self, key: str) -> None:
        self._cursor.execute(HOLD, (key,))

    def announce(self) -> None:
        if self._announces:
            self._cursor.execute(f"NOTIFY {CALL}")

    def check_cache(self) -> None:
        """Do nothing: nothing is older than the transaction."""

    def damage(self) -> Iterator[str]:
        """Find nothing: the server looks after its files, and keeps rows from pointing to none."""
        return iter(())


class PostgresqlDatabase:
    """A PostgreSQL database at an address, opened by `start`.

    Work runs on `connections` threads; what is more waits. Who writes alone (`write`) waits for those who write beside
    each other (`quick`), and they for it; two of these are kept apart by the chat they hold. A transaction that the
    server gave up, or whose connection was lost, is run again for `patience` seconds; after that it is an error. When a
    connection is lost in the middle of a commit, the server is asked what became of it.
    """

    def __init__(self, address: Address, *, patience: float, connections: int) -> None:
        self.where = address.where
        self._address = address
        self._patience = patience
        self._duty = PostgresqlDuty(address, patience)
        self._own = local()
        self._links: list[Link] = []
        self._threads: ThreadPoolExecutor | None = ThreadPoolExecutor(connections, "keepmind-sql")

    async def start(self, prepare: Prepare[None]) -> None:
        try:
            await self._do(lambda: self._prepare(prepare))
        except BaseException:  # cancelled or refused: nothing half open stays
            await self.stop()
            raise

    async def stop(self) -> None:
        await self._duty.aclose()
        threads, self._threads = self._threads, None
        if threads is not None:
            await asyncio.to_thread(threads.shutdown)
            for link in self._links:
                link.connection.close()

    async def write(self, work: Work[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._do(lambda: self._patiently(ALONE, lambda tx: work(tx, *args, **kwargs)))

    async def quick(self, work: Work[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._do(lambda: self._patiently(BESIDE, lambda tx: work(tx, *args, **kwargs)))

    async def single(self, work: Work[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await self.quick(work, *args, **kwargs)

    async def read(self, work: Work[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._do(lambda: self._patiently(READ, lambda tx: work(tx, *args, **kwargs)))

    async def files_with(self, text: str) -> list[str]:  # noqa: ARG002 -- as the port names it
        """Name none: the files are the server's."""
        return []

    async def erased(self) -> None:
        """Do nothing: what the server's files still hold goes with its vacuum."""

    def duty(self) -> Duty:
        return self._duty

    async def _do(self, work: Callable[[], R]) -> R:
        if self._threads is None:
            raise StoreError("The store is closed.")
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._explained, work)

    def _explained(self, work: Callable[[], R]) -> R:
        try:
            return work()
        except (psycopg.Error, DBAPIError, ValidationError) as error:
            raise explained(error, self.where) from None

    def _patiently(self, begin: str, work: Callable[[Transaction], R]) -> R:
        """Run a transaction, again and again while what hinders it may pass."""
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return self._transact(begin, work, deadline)
            except psycopg.Error as error:
                if not may_pass(error) or time.monotonic() > deadline:
                    raise
            time.sleep(random.uniform(0.01, 0.1))

    def _transact(self, begin: str, work: Callable[[Transaction], R], deadline: float) -> R:
        link = self._link()
        try:
            mark = self._begin(link.connection, begin)
            result = work(PostgresqlTransaction(link.connection, announces=not self._duty.terms))
        except BaseException:  # cancelled or refused: nothing half open stays
            self._give_up(link)
            raise
        try:
            link.connection.execute("COMMIT")
        except psycopg.Error:
            self._give_up(link)
            if not link.connection.closed or not mark or not self._was_kept(link.started, mark, deadline):
                raise
        return result

    def _begin(self, connection: Connection, begin: str) -> str:
        """Begin a transaction; give the mark by which a commit can be found again, empty for one that only reads.

        Raises Relieved when it would write what is no longer this process's to write.
        """
        terms = () if begin is READ else tuple(self._duty.terms.items())
        cursor = connection.execute(begin + fence(terms))
        if not cursor.nextset():
            return ""
        _, mark = cursor.fetchone() or ("", "")
        if terms and cursor.nextset() and len(cursor.fetchall()) < len(terms):
            raise Relieved(f"Another process serves {' and '.join(bot for bot, _ in terms)} now.")
        return str(mark)

    def _was_kept(self, started: str, mark: str, deadline: float) -> bool:
        """Ask what became of a commit that was not answered. Raises StoreError when that can't be known."""
        while time.monotonic() < deadline:
            with suppress(psycopg.Error):
                same, outcome = self._link().connection.execute(OUTCOME, (started, mark)).fetchone() or (False, None)
                if not same or outcome is None:
                    break
                if outcome != "in progress":
                    return bool(outcome == "committed")
            time.sleep(0.05)
        raise StoreError(f"The connection to the database {self.where} {UNKNOWN}.")

    def _give_up(self, link: Link) -> None:
        """Undo what a transaction has done, and let go of a connection that is lost."""
        with suppress(psycopg.Error):
            link.connection.execute("ROLLBACK")
        if link.connection.closed:
            logger.warning("the connection to the database was lost")
            self._links.remove(link)
            del self._own.link

    def _link(self) -> Link:
        """Give this thread's connection, made when there is none."""
        link: Link | None = getattr(self._own, "link", None)
        if link is None:
            link = self._own.link = connect(self._address, self._patience)
            self._links.append(link)
        return link

    def _prepare(self, prepare: Prepare[None]) -> None:
        prepared(self._link(), prepare, self.where)


def prepared(link: Link, seen: Prepare[R], where: str) -> R:
    """Let SQLAlchemy look at a database through a connection, which stays open. Raises StoreError."""
    _check(link.connection, where)
    link.connection.autocommit = False
    engine = create_engine("postgresql+psycopg://", creator=lambda: link.connection, poolclass=StaticPool)
    try:
        with engine.connect() as connection:
            return seen(connection, where)
    finally:
        with suppress(psycopg.Error):
            link.connection.rollback()
            link.connection.autocommit = True


def _check(connection: Connection, where: str) -> None:
    if connection.info.server_version < OLDEST * 10_000:
        raise StoreError(f"The database {where} is on too old a server; Keepmind needs PostgreSQL {OLDEST} or newer.")
    if connection.info.parameter_status("server_encoding") != "UTF8":
        raise StoreError(f"The database {where} can't take every text; create it with the encoding UTF8.")


async def look(address: Address, seen: Prepare[R]) -> R:
    """Look at a database that nobody need have opened. Raises StoreError."""

    def work() -> R:
        try:
            link = connect(address, patience=5)
            with link.connection:
                return prepared(link, seen, address.where)
        except (psycopg.Error, DBAPIError) as error:
            raise explained(error, address.where) from None

    return await asyncio.to_thread(work)


def explained(error: Exception, where: str) -> Exception:
    """Give the sentence for an error of the database, and any other error as it is."""
    if isinstance(error, DBAPIError) and isinstance(error.orig, Exception):
        error = error.orig
    if isinstance(error, ValidationError):  # its own text would show what was stored
        return unreadable(where)
    return store_error(error, where) if isinstance(error, psycopg.Error) else error
