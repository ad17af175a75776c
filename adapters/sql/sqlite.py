"""One thread that owns the connection to a SQLite database and runs transactions on it, one after the other."""
# ruff: noqa: D102 - what each method promises is said once, at what the store asks of a database

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, Literal

from pydantic import ValidationError
from sqlalchemy import Connection, create_engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool

from adapters.sql.cache import Cache
from adapters.sql.database import P, Prepare, R, Row, Transaction, Work
from adapters.sql.faults import DAMAGED, ELSEWHERE, store_error, unreadable
from adapters.sql.sqlite_duty import SqliteDuty
from adapters.sql.sqlite_log import SqliteLog, emptied, files_with
from adapters.sql.statement import Statement
from core.duty import Alone, Duty
from core.errors import StoreError

Synchronous = Literal["OFF", "NORMAL", "FULL", "EXTRA"]

WRITE, READ, NONE = "BEGIN IMMEDIATE", "BEGIN", ""
LAZY = ("OFF", "NORMAL")
"""The values of `synchronous` with which a commit does not wait for the disk."""
MAGIC = b"SQLite format 3\0"
HEADER = 100
"""How many bytes a file of SQLite begins with that say what it is."""
CHECKED = 50_000_000
"""How many bytes a file has at most that is looked through at the start: for more that would take too long."""
MOMENT = 0.002
"""How many seconds a caller waits for a transaction just begun: most are over sooner than one is handed over."""


class SqliteTransaction(Transaction):
    """Statements on the one connection."""

    dialect = "sqlite"

    def __init__(self, connection: sqlite3.Connection, cache: Cache) -> None:
        self._cursor = connection.cursor()
        self.cache = cache

    def rows(self, statement: Statement, **given: Any) -> list[Row]:
        return self._cursor.execute(statement.text, statement.values(given)).fetchall()

    def row(self, statement: Statement, **given: Any) -> Row | None:
        rows = self._cursor.execute(statement.text, statement.values(given)).fetchall()
        return rows[0] if rows else None

    def value(self, statement: Statement, **given: Any) -> Any:
        rows = self._cursor.execute(statement.text, statement.values(given)).fetchall()
        return rows[0][0] if rows else None

    def run(self, statement: Statement, **given: Any) -> int:
        return self._cursor.execute(statement.text, statement.values(given)).rowcount

    def insert(self, statement: Statement, **given: Any) -> int:
        done = self._cursor.execute(statement.text, statement.values(given))
        return done.lastrowid or 0 if done.rowcount else 0

    def many(self, statement: Statement, given: Iterable[Mapping[str, Any]]) -> int:
        return max(0, self._cursor.executemany(statement.text, map(statement.values, given)).rowcount)

    def sql(self, text: str) -> list[Row]:
        return self._cursor.execute(text).fetchall()

    def hold(self, key: str) -> None:
        """Do nothing: who writes here holds the whole file."""

    def announce(self) -> None:
        """Do nothing: no other process serves the bot."""

    def damage(self) -> Iterator[str]:
        for (found,) in self.sql("PRAGMA integrity_check"):
            if found != "ok":
                yield f"The file is damaged: {found}."
        for table, row, parent, _ in self.sql("PRAGMA foreign_key_check"):
            yield f"Row {row} of {table} points to a {parent} that does not exist."

    def close(self) -> None:
        """Let go of the statement run last, without which the connection would stay half open."""
        self._cursor.close()

    def check_cache(self) -> None:
        self.cache.check(self._cursor.execute("PRAGMA data_version").fetchone()[0])


class SqliteDatabase:
    """A SQLite database at an address, opened by `start`. Nothing is kept open between two transactions.

    Work runs on one thread, one transaction after the other. What is `quick` runs at once in the caller's thread when
    nothing else is going on, or only for a moment: handing it over costs more than such a transaction, which only
    writes to the page cache.
    Whatever might wait (a lock, the disk, much work) is left to the thread.

    `synchronous` is SQLite's: NORMAL may lose the last moments at a power cut (never at a crash of the program), FULL
    does not, and makes every commit wait for the disk. `patience` is how many seconds to wait for another program's
    lock.
    """

    def __init__(self, url: str, *, synchronous: Synchronous, patience: float, cache: Cache) -> None:
        self.where, self._url = address_of(url)
        self._synchronous = synchronous
        self._patience = patience
        self._cache = cache
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._using = Lock()
        self._began = 0.0
        self._log = SqliteLog(self.where, self._using)
        self._closing = ExitStack()
        self._duty = SqliteDuty(self.where) if Path(self.where).is_absolute() else Alone()

    async def start(self, prepare: Prepare[None]) -> None:
        _check_folder(self.where)
        _make_private(self.where)
        self._thread = Thread(target=self._work, name="keepmind-sql", daemon=True)
        self._thread.start()
        try:
            await self._do(lambda: self._connect(prepare))
        except BaseException:  # cancelled or refused: nothing half done stays
            await self.stop()
            raise

    async def stop(self) -> None:
        """Close the connection, end the thread, and serve no bot any more; again is harmless."""
        if isinstance(self._duty, SqliteDuty):
            self._duty.close()
        if self._thread is not None:
            await asyncio.to_thread(self._log.close)
            stopping = self._do(self._closing.close)
            self._thread = None
            await stopping
            self._queue.put(None)

    async def write(self, work: Work[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._do(lambda: self._patiently(WRITE, lambda tx: work(tx, *args, **kwargs)))

    async def read(self, work: Work[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._do(lambda: self._patiently(READ, lambda tx: work(tx, *args, **kwargs)))

    async def quick(self, work: Work[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Do as `write` does, at once when that waits for nothing."""
        return await self._quick(WRITE, lambda tx: work(tx, *args, **kwargs))

    async def single(self, work: Work[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._quick(NONE, lambda tx: work(tx, *args, **kwargs))

    async def _quick(self, begin: str, work: Callable[[Transaction], R]) -> R:
        if self._thread is None or self._synchronous not in LAZY or not self._is_soon_free():
            return await self._do(lambda: self._patiently(begin, work))
        try:
            return self._transact(begin, work)
        except (sqlite3.Error, OverflowError, ValidationError) as error:
            if not _is_busy(error):
                raise explained(error, self.where) from None
        finally:
            self._using.release()
        return await self._do(lambda: self._patiently(begin, work))

    def _is_soon_free(self) -> bool:
        """Take hold of the connection if that is a matter of a moment: what has only just begun is mostly short."""
        just_begun = time.monotonic() - self._began < MOMENT
        return self._using.acquire(timeout=MOMENT) if just_begun else self._using.acquire(blocking=False)

    def duty(self) -> Duty:
        return self._duty

    async def files_with(self, text: str) -> list[str]:
        """Look through the file and what lies beside it: its log, its journal."""
        return await asyncio.to_thread(files_with, self.where, text.encode())

    async def erased(self) -> None:
        """Move all that was written into the file proper, so that nothing erased stays in the log beside it.

        Should another program read for longer than the patience, or be moving the log itself, it is done as soon as
        that has ended, with some later transaction.
        """
        deadline = time.monotonic() + self._patience
        while not await self._do(lambda: emptied(self._raw)):
            if time.monotonic() > deadline:
                self._log.leaves_traces()
                return
            await asyncio.sleep(0.01)

    def _do(self, work: Callable[[], R]) -> asyncio.Future[R]:
        if self._thread is None:
            raise StoreError("The store is closed.")
        loop = asyncio.get_running_loop()
        done: asyncio.Future[R] = loop.create_future()
        self._queue.put(lambda: self._settle(loop, done, work))
        return done

    def _work(self) -> None:
        while task := self._queue.get():
            task()

    def _settle(self, loop: asyncio.AbstractEventLoop, done: asyncio.Future[R], work: Callable[[], R]) -> None:
        if done.cancelled():
            return
        result, error = None, None
        try:
            with self._using:  # let go before the caller is told, whose next work may then be quick
                self._began = time.monotonic()
                result = work()
        except Exception as raised:  # whatever it is, it belongs to the caller
            error = explained(raised, self.where)
        try:
            loop.call_soon_threadsafe(_resolve, done, result, error)
        except RuntimeError:  # the loop was closed meanwhile: nobody waits
            return

    def _patiently(self, begin: str, work: Callable[[Transaction], R]) -> R:
        """Run a transaction, again and again while another program holds the lock; SQLite itself never waits."""
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return self._transact(begin, work)
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
            time.sleep(0.003)

    def _transact(self, begin: str, work: Callable[[Transaction], R]) -> R:
        execute = self._raw.execute
        if begin:
            execute(begin)
        try:
            result = work(self._transaction)
            if begin:
                execute("COMMIT")
        except BaseException:  # cancelled or refused: nothing half done stays
            self._cache.clear()
            if self._raw.in_transaction:
                execute("ROLLBACK")
            raise
        if begin is not READ:
            self._log.grew()
        return result

    def _connect(self, prepare: Prepare[None]) -> None:
        connection = self._closing.enter_context(_connection(self._url, self._patience))
        self._raw = _raw(connection)
        self._transaction = SqliteTransaction(self._raw, self._cache)
        self._closing.callback(self._transaction.close)
        _check_soundness(self._raw, self.where)
        prepare(connection, self.where)
        for pragma in ("journal_mode=WAL", f"synchronous={self._synchronous}", "wal_autocheckpoint=0"):
            self._raw.execute(f"PRAGMA {pragma}")
        self._raw.execute("PRAGMA busy_timeout=0")


async def look(url: str, seen: Prepare[R]) -> R | None:
    """Look at a database that nobody need have opened; None when there is no file. Raises StoreError."""
    where, address = address_of(url)
    return await asyncio.to_thread(_look, where, address, seen)


def _look(where: str, address: str, seen: Prepare[R]) -> R | None:
    if where.startswith("/") and not Path(where).exists():
        return None
    _check_file(where)
    try:
        with _connection(address, patience=5) as connection:
            return seen(connection, where)
    except (sqlite3.Error, DBAPIError) as error:
        raise explained(error, where) from None


def _make_private(where: str) -> None:
    """Make a new database file one that only its owner reads; where that can't be, opening it will say why."""
    if where in ("", ":memory:"):
        return
    with suppress(OSError, ValueError):
        os.close(os.open(where, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _connection(address: str, patience: float) -> Connection:
    arguments = {"timeout": patience, "isolation_level": None, "cached_statements": 256, "check_same_thread": False}
    connection = create_engine(address, poolclass=NullPool, connect_args=arguments).connect()
    for pragma in ("foreign_keys=ON", "secure_delete=ON", "temp_store=MEMORY", "cache_size=-2000"):
        _raw(connection).execute(f"PRAGMA {pragma}")
    return connection


def _raw(connection: Connection) -> sqlite3.Connection:
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    return raw


def _is_busy(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def explained(error: Exception, where: str) -> Exception:
    """Give the sentence for an error of the database, and any other error as it is."""
    if isinstance(error, DBAPIError) and isinstance(error.orig, Exception):
        error = error.orig
    if isinstance(error, ValidationError):  # its own text would show what was stored
        return unreadable(where)
    return store_error(error, where) if isinstance(error, (sqlite3.Error, OverflowError)) else error


def _resolve(done: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(result)
    else:
        done.set_exception(error)


def _check_soundness(connection: sqlite3.Connection, where: str) -> None:
    if Path(where).exists() and Path(where).stat().st_size <= CHECKED:
        ((found,),) = connection.execute("PRAGMA quick_check(1)").fetchall()
        if found != "ok":
            raise StoreError(f"The database {where} {DAMAGED}")


def _is_cut_off(where: str) -> bool:
    """Say whether a file was cut off where SQLite would not see it: it takes one of a byte for new, and drops its log.

    While something lies in the log or the journal, the last page may be half written.
    """
    with suppress(OSError, ValueError), open(where, "rb") as file:
        begin = file.read(HEADER)
        size = file.seek(0, os.SEEK_END)
        log, journal = (_size(f"{where}-{beside}") for beside in ("wal", "journal"))
        if len(begin) < HEADER:
            return bool(begin or log)
        page = int.from_bytes(begin[16:18], "big")
        return begin.startswith(MAGIC) and not log and not journal and size % (65_536 if page == 1 else page or 1) > 0
    return False


def _size(file: str) -> int:
    return os.path.getsize(file) if os.path.exists(file) else 0


def _check_folder(where: str) -> None:
    folder = Path(where).parent
    if where.startswith("/") and not folder.is_dir():
        raise StoreError(f"The folder {folder} does not exist; create it or {ELSEWHERE} path.")
    _check_file(where)


def _check_file(where: str) -> None:
    if Path(where).is_dir():
        raise StoreError(f"The database {where} is a folder; set KEEPMIND_DATABASE_URL to a file in it.")
    if _is_cut_off(where):
        raise StoreError(f"The database {where} {DAMAGED}")


def address_of(url: str) -> tuple[str, str]:
    """Read an address or a path: how it is called in a sentence, and what SQLAlchemy takes. Raises StoreError."""
    if "://" not in url:
        path = url if url == ":memory:" else str(Path(os.path.expanduser(url)).absolute())
        return path, f"sqlite:///{path}"
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise StoreError(f"The database address can't be read; {ELSEWHERE} path or sqlite:/// address.") from None
    if parsed.get_backend_name() != "sqlite":
        raise StoreError(f"{parsed.get_backend_name()} is not supported; {ELSEWHERE}, sqlite:/// or postgresql://.")
    if str(parsed.database).startswith("~"):
        return address_of(str(parsed.database))
    return _shown(parsed.database), url


def _shown(database: str | None) -> str:
    if database in (None, "", ":memory:"):
        return ":memory:"
    path = str(database)
    return path if path.startswith("file:") else str(Path(path).absolute())
