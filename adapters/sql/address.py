"""Addresses of PostgreSQL databases, and how they are called where a password must not be seen."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from adapters.sql.faults import ELSEWHERE
from core.errors import StoreError

_POSTGRESQL = re.compile(r"postgres(?:ql)?(?:\+\w+)?://")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is. `url` is for the library and holds the password, `where` is for people and does not."""

    url: str
    where: str


def is_postgresql(url: str) -> bool:
    """Say whether an address is one of PostgreSQL's."""
    return _POSTGRESQL.match(url) is not None


def to_address(url: str) -> Address:
    """Read an address of PostgreSQL. Raises StoreError."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise StoreError(
            f"The database address can't be read; {ELSEWHERE}, such as postgresql://user:password@host/name."
        ) from None
    return Address(parsed.set(drivername="postgresql").render_as_string(hide_password=False), _shown(parsed))


def _shown(parsed: URL) -> str:
    host = parsed.host or parsed.query.get("host", "")
    port = f":{parsed.port}" if parsed.port else ""
    return f"postgresql://{parsed.username or ''}@{host}{port}/{parsed.database or ''}"
