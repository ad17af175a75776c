"""SQLAlchemy Core statements, compiled to SQL text once, to run on a raw database cursor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any

from sqlalchemy import ClauseElement
from sqlalchemy.dialects.sqlite import dialect as sqlite


class Statement:
    """A Core statement; its text is made at first use. Running it so skips SQLAlchemy's work at each execution."""

    def __init__(self, clause: ClauseElement) -> None:
        self._clause = clause

    @cached_property
    def text(self) -> str:
        """The SQL, with a question mark for each value."""
        return str(self._compiled)

    @cached_property
    def values(self) -> Callable[[Mapping[str, Any]], Sequence[Any]]:
        """Puts given values in the order of the question marks; raises KeyError when one is missing."""
        binds = [self._compiled.binds[name] for name in self._compiled.positiontup or ()]
        names = [bind.key for bind in binds]
        if len(names) > 1 and all(bind.required for bind in binds):
            return itemgetter(*names)
        return lambda given: [given[bind.key] if bind.required else bind.value for bind in binds]

    @cached_property
    def _compiled(self) -> Any:
        return self._clause.compile(dialect=sqlite(paramstyle="qmark"))
