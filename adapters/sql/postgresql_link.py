"""Connections to a PostgreSQL server, which notice soon when the other side is gone."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from psycopg.rows import TupleRow

from adapters.sql.address import Address
from core.errors import StoreError

Connection = psycopg.Connection[TupleRow]


@dataclass(frozen=True, slots=True)
class Link:
    """A connection, and when the server it leads to was started."""

    connection: Connection
    started: str


def connect(address: Address, patience: float) -> Link:
    """Make a connection that notices soon when the other side is gone. Raises psycopg.Error or StoreError."""
    try:
        psycopg.conninfo.conninfo_to_dict(address.url)
    except psycopg.ProgrammingError:
        raise StoreError(f"The address {address.where} can't be read; correct KEEPMIND_DATABASE_URL.") from None
    connection = psycopg.connect(
        address.url,
        autocommit=True,
        connect_timeout=max(2, int(patience)),
        client_encoding="UTF8",
        application_name="keepmind",
        keepalives_idle=5,
        keepalives_interval=2,
        keepalives_count=3,
        tcp_user_timeout=10_000,
    )
    connection.execute(f"SET lock_timeout = {int(patience * 1000)}")
    connection.execute("SET idle_in_transaction_session_timeout = 10000")
    connection.execute("SET default_transaction_isolation = 'read committed'")
    (started,) = connection.execute("SELECT pg_postmaster_start_time()::text").fetchone() or ("",)
    return Link(connection, started)
