"""SQLite's log beside a database's file: moved into it while others write, and searched with it for what was erased."""

from __future__ import annotations

import logging
import sqlite3
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from threading import Lock

logger = logging.getLogger("keepmind.store")

MOVE, EMPTY = "PRAGMA wal_checkpoint(PASSIVE)", "PRAGMA wal_checkpoint(TRUNCATE)"
MOVE_AFTER = 500
"""How many transactions the log holds before it is moved into the file: some megabytes."""
LONGEST_LOG = 4000
"""How many pages the log may hold until nobody may write while the rest of it is moved, so that it begins anew."""
PIECE = 2**20
"""How many bytes of a file are looked through at a time."""


class SqliteLog:
    """Moves the log of a database by a connection and a thread of its own, so that meanwhile others may write.

    SQLite would do it within some commit, and make that wait for the disk. `using` is held by whoever uses the store's
    own connection.
    """

    def __init__(self, where: str, using: Lock) -> None:
        self._where = where
        self._using = using
        self._unmoved = 0
        self._leaves_traces = False
        self._mover = ThreadPoolExecutor(1, "keepmind-sql-log")
        self._moving: Future[None] | None = None

    def grew(self) -> None:
        """Note a transaction; move the log when it has grown, or is still to be emptied."""
        self._unmoved += 1
        wanted = self._leaves_traces or self._unmoved >= MOVE_AFTER
        if wanted and (self._moving is None or self._moving.done()):
            self._unmoved = 0
            with suppress(RuntimeError):  # it is being closed, which moves the log as well
                self._moving = self._mover.submit(self._move)

    def leaves_traces(self) -> None:
        """Note that the log could not be emptied of what was erased: that is tried again with each transaction."""
        logger.warning("the database is read for long; until that ends, its log holds what was erased")
        self._leaves_traces = True

    def close(self) -> None:
        """Wait until it is moved no more."""
        self._mover.shutdown()

    def _move(self) -> None:
        if not Path(self._where).is_absolute():
            return
        address = f"{Path(self._where).as_uri()}?mode=rw"
        with (
            suppress(sqlite3.Error),  # a faulty disk is told to whoever writes next
            closing(sqlite3.connect(address, uri=True, isolation_level=None, timeout=0)) as mover,
        ):
            ((_, pages, _),) = mover.execute(MOVE).fetchall()
            if pages > LONGEST_LOG or self._leaves_traces:
                with self._using:
                    self._leaves_traces = not emptied(mover) and self._leaves_traces


def emptied(connection: sqlite3.Connection) -> bool:
    """Move all of the log, and say whether it is empty now; SQLite does not wait for who is moving it already."""
    ((busy, _, _),) = connection.execute(EMPTY).fetchall()
    return not busy


def files_with(where: str, text: bytes) -> list[str]:
    """Name the files of a database that hold a text: its own, its log, its journal."""
    if not where.startswith("/") or not text:
        return []
    files = [Path(where + ending) for ending in ("", "-wal", "-journal")]
    return [f"the file {file}" for file in files if _is_in(file, text)]


def _is_in(file: Path, text: bytes) -> bool:
    """Say whether a text stands in a file; it is not mapped, since to empty a log meanwhile would end the process."""
    before = b""
    with suppress(FileNotFoundError), file.open("rb") as opened:
        while piece := opened.read(PIECE):
            seen = before + piece
            if text in seen:
                return True
            before = seen[max(0, len(seen) - len(text) + 1) :]
    return False
