"""Checking what is known of persons: that each fact can be read, and comes from something that is still there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, TypeVar

from pydantic import TypeAdapter
from sqlalchemy import select

from adapters.sql.database import Transaction
from adapters.sql.rows import CHANGE_JSON, FACT_JSON, SETTINGS_JSON
from adapters.sql.statement import Statement
from adapters.sql.tables import CHANGE, FACT, PERSON, SOURCE, TURN
from core.facts import Change, Fact, Source

T = TypeVar("T")
Place = tuple[int, str]
"""A turn, or 0, and a chat, as they stand in the table of sources."""

FACTS = Statement(select(FACT.c.person, FACT.c.scope, FACT.c.key, FACT.c.body).order_by(FACT.c.id))
HISTORY = Statement(
    select(CHANGE.c.person, CHANGE.c.scope, CHANGE.c.key, CHANGE.c.turn, CHANGE.c.body).order_by(CHANGE.c.id)
)
SOURCES = Statement(select(SOURCE.c.person, SOURCE.c.scope, SOURCE.c.turn, SOURCE.c.chat))
TURNS = Statement(select(TURN.c.id))
SETTINGS = Statement(select(PERSON.c.key, PERSON.c.settings).order_by(PERSON.c.key))


def faults(tx: Transaction) -> Iterator[str]:
    """Check facts, their history, and what persons chose."""
    turns = {turn for (turn,) in tx.rows(TURNS)}
    noted: dict[tuple[str, str], set[Place]] = {}
    for person, scope, turn, chat in tx.rows(SOURCES):
        noted.setdefault((person, scope), set()).add((turn, chat))
    for (person, scope), places in noted.items():
        for turn in sorted({turn for turn, _ in places} - turns - {0}):
            yield f"What is known of {person} in {scope} is said to come from turn {turn}, which does not exist."
    yield from _facts(tx, turns, noted)
    yield from _history(tx, turns, noted)
    for person, body in tx.rows(SETTINGS):
        if _read(SETTINGS_JSON, body) is None:
            yield f"What {person} chose can't be read."


def _facts(tx: Transaction, turns: Collection[int], noted: dict[tuple[str, str], set[Place]]) -> Iterator[str]:
    for person, scope, key, body in tx.rows(FACTS):
        which, fact = f"The fact {key} of {person} in {scope}", _read(FACT_JSON, body)
        if fact is None or not fact.items or fact.key != key:
            yield f"{which} can't be read."
        else:
            yield from _unsourced(which, _sources(fact), turns, noted.get((person, scope), set()))


def _history(tx: Transaction, turns: Collection[int], noted: dict[tuple[str, str], set[Place]]) -> Iterator[str]:
    for person, scope, key, turn, body in tx.rows(HISTORY):
        which, change = f"A change of the fact {key} of {person} in {scope}", _read(CHANGE_JSON, body)
        if change is None or change.key != key:
            yield f"{which} can't be read."
            continue
        if turn is not None and turn not in turns:
            yield f"{which} was made in turn {turn}, which does not exist."
        yield from _unsourced(which, _told_by(change), turns, noted.get((person, scope), set()))


def _unsourced(
    which: str, sources: Iterable[Source], turns: Collection[int], noted: Collection[Place]
) -> Iterator[str]:
    for source in sources:
        if source.turn is not None and source.turn not in turns:
            yield f"{which} comes from turn {source.turn}, which does not exist."
        elif (source.turn or 0, source.chat) not in noted:
            yield f"{which} would outlive what it comes from: its source is not noted."


def _sources(fact: Fact) -> list[Source]:
    return [item.source for item in fact.items]


def _told_by(change: Change) -> list[Source]:
    return [source for fact in (change.before, change.after) if fact for source in _sources(fact)]


def _read(adapter: TypeAdapter[T], body: Any) -> T | None:
    try:
        return adapter.validate_json(body)
    except ValueError:
        return None
