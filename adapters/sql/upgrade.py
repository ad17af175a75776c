"""The schema of the database: made, brought up to date, or refused. Alembic is imported only when it has work."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, text

from adapters.sql.faults import ELSEWHERE
from adapters.sql.tables import METADATA
from core.errors import StoreError

MIGRATIONS = Path(__file__).parent / "migrations"
VERSION_TABLE = "keepmind_version"
TARGET = "0001"
KNOWN = ("0001",)
"""Every revision, oldest first; the last is the target."""


@dataclass(frozen=True, slots=True)
class Schema:
    """Which revision a database has (None: it is empty), and which one this program needs."""

    current: str | None
    target: str = TARGET


def current(connection: Connection, where: str) -> str | None:
    """Give the revision of a database, None when it is empty. Raises StoreError when it is not ours or too new."""
    tables = _tables(connection)
    if VERSION_TABLE not in tables:
        if tables:
            raise StoreError(f"The database {where} belongs to another program and was left as it is; {ELSEWHERE}.")
        return None
    revision = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    if revision is not None and revision not in KNOWN:
        raise StoreError(
            f"The database {where} was made by a newer Keepmind (schema {revision}); upgrade Keepmind or {ELSEWHERE}."
        )
    return revision


def _tables(connection: Connection) -> set[str]:
    if connection.dialect.name == "sqlite":  # without the half second that reflection takes at its first use
        return {name for (name,) in connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'table'"))}
    own = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
    return {name for (name,) in connection.execute(text(own))}


def upgrade(connection: Connection, where: str) -> None:
    """Bring a database up to date; again is harmless. Raises StoreError, changing nothing, when it is not ours."""
    if _is(connection, where, TARGET):
        return
    _hold(connection)
    try:
        if not _is(connection, where, TARGET):
            _migrate(connection, where)
    except BaseException:  # whatever ended it, the database is left as it was
        connection.rollback()
        raise
    connection.commit()


def _hold(connection: Connection) -> None:
    """Begin a transaction, and let no other program change the schema until it ends."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(1264873040, 0)")


def _is(connection: Connection, where: str, revision: str) -> bool:
    try:
        return current(connection, where) == revision
    except BaseException:  # whatever ended it, the database is left as it was
        connection.rollback()
        raise


def _migrate(connection: Connection, where: str) -> None:
    if current(connection, where) is None:
        create(connection)
    else:
        migrate(connection)


def create(connection: Connection) -> None:
    """Make the tables of an empty database as they are now, which is what all migrations together would make."""
    METADATA.create_all(connection, checkfirst=False)
    connection.execute(
        text(
            f"CREATE TABLE {VERSION_TABLE} "
            f"(version_num VARCHAR(32) NOT NULL, CONSTRAINT {VERSION_TABLE}_pkc PRIMARY KEY (version_num))"
        )
    )
    connection.execute(text(f"INSERT INTO {VERSION_TABLE} VALUES ('{TARGET}')"))


def migrate(connection: Connection, revision: str = "head") -> None:
    """Run the migrations that are missing, up to a revision."""
    from alembic import command  # takes half a second, and is rarely needed
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
