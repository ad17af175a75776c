"""What is stored, at a glance and whole: chats, counts, a person's export, and which tables hold a text."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    String,
    Table,
    bindparam,
    distinct,
    func,
    literal_column,
    or_,
    select,
    text,
    union,
)
from sqlmodel import AutoString

from adapters.sql import entities, notes, usage
from adapters.sql.chats import state_of
from adapters.sql.database import Row, Transaction
from adapters.sql.erasure import SEGMENTS, SPOKE_IN
from adapters.sql.facts import settings, to_change
from adapters.sql.inbox import waiting as read_waiting
from adapters.sql.rows import FACT_JSON, TURN_COLUMNS, person_key, to_micros, to_segment, to_time, to_turn
from adapters.sql.statement import Statement
from adapters.sql.tables import CHANGE, CHAT, FACT, INBOX, JOB, METADATA, SEGMENT, TURN
from core.kept import export_of, latest, storable
from core.messages import ChatKey, Person
from core.records import ChatInfo, Day, Stats

T = TypeVar("T")
DAY = 86_400_000_000
"""Microseconds of a day."""

_turns = select(func.count()).where(TURN.c.chat == CHAT.c.key).scalar_subquery()
_segments = select(func.count()).where(SEGMENT.c.chat == CHAT.c.key).scalar_subquery()
CHATS = Statement(
    select(CHAT.c.key, CHAT.c.private, _turns, _segments, CHAT.c.active_at)
    .where(CHAT.c.active_at.is_not(None))
    .order_by(CHAT.c.active_at.desc(), CHAT.c.key)
)
ACTIVE = Statement(select(CHAT.c.key, CHAT.c.active_at).where(CHAT.c.active_at.is_not(None)))
RECEIVED = Statement(select(INBOX.c.chat, func.max(INBOX.c.at)).group_by(INBOX.c.chat))
_people = union(select(TURN.c.sender), select(FACT.c.person)).subquery("people")
_open = text("state IN ('received', 'answered')")
STATS = Statement(
    select(
        select(func.count()).where(CHAT.c.active_at.is_not(None)).scalar_subquery(),
        select(func.count()).select_from(_people).scalar_subquery(),
        select(func.count()).select_from(TURN).scalar_subquery(),
        select(func.count()).select_from(TURN).where(_open).scalar_subquery(),
        select(func.count()).select_from(SEGMENT).scalar_subquery(),
        select(func.count()).select_from(FACT).scalar_subquery(),
        select(func.count()).select_from(JOB).scalar_subquery(),
    )
)
_BADLY = "state = 'failed' AND failure NOT IN ('stopped', 'budget')"
_day: ColumnElement[int] = TURN.c.at // literal_column(str(DAY), BigInteger)
_well, _badly = text("state IN ('answered', 'delivered')"), text(_BADLY)
DAYS = Statement(
    select(
        _day,
        func.count(),
        func.count().filter(_well),
        func.count().filter(_badly),
        func.count(distinct(TURN.c.sender)),
        func.sum(TURN.c.tokens),
    )
    .where(TURN.c.at >= bindparam("since"), TURN.c.at < bindparam("until"))
    .group_by(_day)
)
_person: BindParameter[str] = bindparam("person")
FACTS = Statement(select(FACT.c.scope, FACT.c.body).where(FACT.c.person == _person).order_by(FACT.c.scope, FACT.c.id))
HISTORY = Statement(
    select(CHANGE.c.scope, CHANGE.c.id, CHANGE.c.body)
    .where(CHANGE.c.person == _person)
    .order_by(CHANGE.c.scope, CHANGE.c.id)
)
TURNS = Statement(select(*TURN_COLUMNS).where(TURN.c.chat == bindparam("chat")).order_by(TURN.c.id))


def chats(tx: Transaction) -> list[ChatInfo]:
    """List the chats, the latest active first."""
    return [_chat_info(row) for row in tx.rows(CHATS)]


def _chat_info(row: Row) -> ChatInfo:
    key, private, turns, segments, active_at = row
    return ChatInfo(ChatKey.parse(key), bool(private), turns, segments, to_time(active_at))


def heard(tx: Transaction, platform: str, limit: int) -> dict[ChatKey, datetime]:
    """Find where something was said last; a chat whose inbox keys have expired is known by when it was active."""
    found = [*tx.rows(ACTIVE), *tx.rows(RECEIVED)]
    return latest({ChatKey.parse(chat): to_time(at) for chat, at in found}, platform, limit)


def stats(tx: Transaction) -> Stats:
    """Count what is stored."""
    return Stats(*(tx.row(STATS) or ()))


def days(tx: Transaction, until: datetime, count: int) -> list[Day]:
    """Count what is stored of each of the days up to one."""
    last = to_micros(until) // DAY
    rows = tx.rows(DAYS, since=(last - count + 1) * DAY, until=(last + 1) * DAY)
    found = {int(row[0]): tuple(map(int, row[1:])) for row in rows}
    return [Day(to_time(day * DAY).date(), *found.get(day, ())) for day in range(last - count + 1, last + 1)]


def export(tx: Transaction, person: Person) -> dict[str, Any]:
    """Read everything kept of a person."""
    person, key = storable(person), person_key(person)
    return export_of(
        person,
        settings(tx, person),
        _by_scope([(scope, FACT_JSON.validate_json(body)) for scope, body in tx.rows(FACTS, person=key)]),
        _by_scope([(scope, to_change((id_, body))) for scope, id_, body in tx.rows(HISTORY, person=key)]),
        _by_scope(notes.exported(tx, key)),
        [message for message in read_waiting(tx, None) if message.sender == person],
        [_chat(tx, chat, bool(private), person) for chat, private in tx.rows(SPOKE_IN, person=key)],
        usage.of_person(tx, key),
    )


def _by_scope(found: list[tuple[str, T]]) -> dict[str, list[T]]:
    by_scope: dict[str, list[T]] = {}
    for scope, thing in found:
        by_scope.setdefault(scope, []).append(thing)
    return by_scope


def _chat(tx: Transaction, chat: str, private: bool, person: Person) -> dict[str, Any]:
    turns = [to_turn(row) for row in tx.rows(TURNS, chat=chat)]
    state = state_of(tx, chat, "")
    return {
        "chat": chat,
        "private": private,
        "head": state.head,
        "asides": state.open_asides,
        "turns": [turn for turn in turns if private or turn.sender == person],
        "segments": [to_segment(row) for row in tx.rows(SEGMENTS, chat=chat)] if private else [],
        "entities": entities.exported(tx, chat, {t.id for t in turns if private or t.sender == person}),
    }


def holds(tx: Transaction, wanted: str) -> list[str]:
    """Name the tables that hold a text, as it is or as JSON writes it."""
    plain = storable(wanted)
    if not plain:
        return []
    needles = {"plain": plain, "escaped": json.dumps(plain, ensure_ascii=False)[1:-1]}
    return sorted(t.name for t in METADATA.sorted_tables if tx.value(_search(t), **needles))


def _search(table: Table) -> Statement:
    """Look for a text; taking it out of what holds it changes that, whatever its letters and its length."""
    texts = [column for column in table.columns if isinstance(column.type, (AutoString, String))]
    found = [func.replace(c, bindparam(needle), "") != c for c in texts for needle in ("plain", "escaped")]
    return Statement(select(func.count()).select_from(table).where(or_(*found)))
