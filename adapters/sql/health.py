"""Looking at a database as it is: how large, how written, whether it takes a write. It changes nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, select, text

from adapters.sql.address import is_postgresql, to_address
from adapters.sql.sqlite import address_of
from adapters.sql.store import see
from adapters.sql.tables import ALLOW
from adapters.sql.upgrade import TARGET, Schema, current
from core.errors import StoreError

MOST_CHECKED = 256 * 2**20
"""Bytes of a SQLite file that are read through to find damage: a second's work."""


@dataclass(frozen=True, slots=True)
class Health:
    """A database that can be used. `log` is how SQLite journals, `checked` says that its pages were looked through."""

    engine: str
    schema: Schema
    bytes: int
    log: str = ""
    checked: bool = False


def place(url: str) -> str:
    """Say where a database is, without a password. Raises StoreError when the address can't be read."""
    return to_address(url).where if is_postgresql(url) else address_of(url)[0]


def file_of(url: str) -> Path | None:
    """Give the file of a SQLite database, None for others. Raises StoreError."""
    if is_postgresql(url):
        return None
    where = place(url)
    return Path(where) if where.startswith("/") else None


async def examine(url: str) -> Health | None:
    """Look at a database; None when there is no file yet. Raises StoreError when it can't be used or is not ours."""
    return await see(url, _postgresql if is_postgresql(url) else _sqlite)


async def allowed(url: str) -> Sequence[str]:
    """Read the allow table, empty where there is none. Raises StoreError."""
    return await see(url, _allowed) or ()


def _allowed(connection: Connection, where: str) -> Sequence[str]:
    if current(connection, where) != TARGET:
        return ()
    return [str(entry) for (entry,) in connection.execute(select(ALLOW.c.entry))]


def _sqlite(connection: Connection, where: str) -> Health:
    schema = Schema(current(connection, where))
    pages, size = (connection.execute(text(f"PRAGMA {name}")).scalar() for name in ("page_count", "page_size"))
    log = str(connection.execute(text("PRAGMA journal_mode")).scalar())
    total = int(pages or 0) * int(size or 0)
    _try_to_write(connection)
    checked = total <= MOST_CHECKED
    if checked and (fault := connection.execute(text("PRAGMA quick_check(1)")).scalar()) != "ok":
        raise StoreError(
            f"The database {where} is damaged ({' '.join(str(fault).split())[:80]}); bring back a copy of it."
        )
    return Health(f"SQLite {sqlite3.sqlite_version}", schema, total, log, checked)


def _try_to_write(connection: Connection) -> None:
    """Take what every write takes, begin to write, and take it back."""
    connection.rollback()
    connection.exec_driver_sql("BEGIN IMMEDIATE")
    version = connection.exec_driver_sql("PRAGMA user_version").scalar()
    connection.exec_driver_sql(f"PRAGMA user_version = {version}")
    connection.exec_driver_sql("ROLLBACK")


def _postgresql(connection: Connection, where: str) -> Health:
    from adapters.sql.postgresql import SPACE  # of a library that need not be there

    schema = Schema(current(connection, where))
    version = str(connection.execute(text("SHOW server_version")).scalar()).split()[0]
    total = int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar() or 0)
    if connection.execute(text("SHOW transaction_read_only")).scalar() == "on":
        raise StoreError(f"The database {where} takes no writes (it is a replica); name the primary server.")
    connection.execute(text(f"SELECT pg_advisory_xact_lock({SPACE}, 0)"))
    connection.rollback()
    return Health(f"PostgreSQL {version}", schema, total)
