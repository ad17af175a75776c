"""SQLAlchemy Core statements, compiled to SQL text once, to run on a raw database cursor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any

from sqlalchemy import ClauseElement, Dialect
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.dialects.postgresql.psycopg import dialect as postgresql
from sqlalchemy.dialects.sqlite import dialect as sqlite

__all__ = ["Statement", "insert"]  # PostgreSQL's insert with its `on_conflict`, which SQLite writes the same

SQLITE: Dialect = sqlite(paramstyle="qmark")
POSTGRESQL: Dialect = postgresql(paramstyle="format")  # type: ignore[no-untyped-call] # not hinted in SQLAlchemy


class Statement:
    """A Core statement; its text is made at first use. Running it so skips SQLAlchemy's work at each execution."""

    def __init__(self, clause: ClauseElement, dialect: Dialect = SQLITE) -> None:
        self._clause = clause
        self._dialect = dialect

    @cached_property
    def text(self) -> str:
        """The SQL, with a mark for each value."""
        return str(self._compiled)

    @cached_property
    def values(self) -> Callable[[Mapping[str, Any]], Sequence[Any]]:
        """Puts given values in the order of the marks; raises KeyError when one is missing."""
        binds = [self._compiled.binds[name] for name in self._compiled.positiontup or ()]
        names = [bind.key for bind in binds]
        if len(names) > 1 and all(bind.required for bind in binds):
            return itemgetter(*names)
        return lambda given: [given[bind.key] if bind.required else bind.value for bind in binds]

    @cached_property
    def on_postgresql(self) -> Statement:
        """The same statement as PostgreSQL writes it; an insert gives the id of the new row."""
        return Statement(self._clause, POSTGRESQL)

    @cached_property
    def _compiled(self) -> Any:
        return self._clause.compile(dialect=self._dialect)
