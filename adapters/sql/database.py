"""What the store asks of a database, whichever it is: transactions, and statements within one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar

from sqlalchemy import Connection

from adapters.sql.cache import Cache
from adapters.sql.statement import Statement
from core.duty import Duty

P = ParamSpec("P")
R = TypeVar("R")
Row = tuple[Any, ...]
Prepare = Callable[[Connection, str], R]
"""Looks at a database before it is used: a connection, and how the database is called in a sentence."""
Work = Callable[Concatenate["Transaction", P], R]
Dialect = Literal["sqlite", "postgresql"]


class Transaction(ABC):
    """Statements, and the cache beside them, while one method of the store runs.

    `dialect` is for what the two databases do in ways of their own; Core statements are written for both alike.
    """

    dialect: Dialect
    cache: Cache

    @abstractmethod
    def rows(self, statement: Statement, **given: Any) -> list[Row]:
        """Run a statement and give all its rows."""

    @abstractmethod
    def row(self, statement: Statement, **given: Any) -> Row | None:
        """Run a statement and give its only row, None when there is none."""

    @abstractmethod
    def value(self, statement: Statement, **given: Any) -> Any:
        """Run a statement and give the first value of its only row, None when there is none."""

    @abstractmethod
    def run(self, statement: Statement, **given: Any) -> int:
        """Run a statement and give how many rows it changed."""

    @abstractmethod
    def insert(self, statement: Statement, **given: Any) -> int:
        """Run an insert and give the id of the new row, 0 when nothing was inserted."""

    @abstractmethod
    def many(self, statement: Statement, given: Iterable[Mapping[str, Any]]) -> int:
        """Run a statement once for each set of values and give how many rows it changed in all."""

    @abstractmethod
    def sql(self, text: str) -> list[Row]:
        """Run SQL that only this database knows."""

    @abstractmethod
    def hold(self, key: str) -> None:
        """Let no other transaction that holds the same key go on until this one has ended."""

    @abstractmethod
    def announce(self) -> None:
        """Tell the process that serves the bot, if it is another, that something waits once this is kept."""

    @abstractmethod
    def check_cache(self) -> None:
        """Drop the cache if another connection, of whichever program, has written since it was checked last."""

    @abstractmethod
    def damage(self) -> Iterator[str]:
        """Look for damage that the database itself can find; a sentence for each."""


class Database(Protocol):
    """A database, opened. `StoreError` in one sentence is the only error of it that leaves any method."""

    async def start(self, prepare: Prepare[None]) -> None:
        """Open the database, letting `prepare` look at it before anything is written. Raises StoreError."""
        ...

    async def write(self, work: Work[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run work in a transaction that holds whole or not at all, while nobody else writes."""
        ...

    async def quick(self, work: Work[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Do as `write` does, fast, for what a turn needs: work that may run beside its like in other chats.

        It takes hold of its chat before it reads what it then changes.
        """
        ...

    async def single(self, work: Work[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Do as `quick` does for work of one statement, which is a transaction by itself."""
        ...

    async def read(self, work: Work[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run work that only reads, all of it on one snapshot."""
        ...

    async def files_with(self, text: str) -> list[str]:
        """Name the files of this program's in which a text stands as it is, though it be in a part no longer used."""
        ...

    async def erased(self) -> None:
        """Make sure that what was erased is not left in any file of this program's."""
        ...

    def duty(self) -> Duty:
        """Give what this process serves."""
        ...

    async def stop(self) -> None:
        """Close what is open; again is harmless."""
        ...
