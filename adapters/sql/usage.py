"""What requests to the model took: added up by person, day, chat, model and purpose."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Literal

from sqlalchemy import ColumnElement, and_, bindparam, delete, func, select

from adapters.sql.database import Row, Transaction
from adapters.sql.rows import chat_key, person_key
from adapters.sql.statement import Statement, insert
from adapters.sql.tables import USAGE
from core.kept import storable
from core.messages import ChatKey, Person
from core.usage import Spent, whole

KEYS = ("person", "day", "chat", "model", "purpose")
AMOUNTS = ("requests", "prompt", "cached", "completion", "memory")
NOBODY = NOWHERE = ""

_adding = insert(USAGE).values({name: bindparam(name) for name in (*KEYS, *AMOUNTS)})
ADD = Statement(
    _adding.on_conflict_do_update(
        index_elements=[USAGE.c[name] for name in KEYS],
        set_={name: USAGE.c[name] + _adding.excluded[name] for name in AMOUNTS},
    )
)
_sums = [func.sum(USAGE.c[name]) for name in AMOUNTS]
_tokens = func.sum(USAGE.c.prompt + USAGE.c.completion)
_recent = USAGE.c.day >= bindparam("since")
_of_person, _of_chat = USAGE.c.person == bindparam("of_person"), USAGE.c.chat == bindparam("of_chat")
_BY = (USAGE.c.day, USAGE.c.model, USAGE.c.purpose)


def _summed(*wanted: ColumnElement[bool]) -> Statement:
    return Statement(select(*_BY, *_sums).where(and_(_recent, *wanted)).group_by(*_BY).order_by(*_BY))


ALL, OF_PERSON, OF_CHAT = _summed(), _summed(_of_person), _summed(_of_chat)


def _most(column: ColumnElement[str]) -> Statement:
    named = select(column, _tokens).where(_recent, column != "").group_by(column)
    return Statement(named.order_by(_tokens.desc(), column).limit(bindparam("limit")))


MOST = {"person": _most(USAGE.c.person), "chat": _most(USAGE.c.chat)}
_whole = [USAGE.c[name] for name in (*KEYS, *AMOUNTS)]
WHOLE_OF_PERSON = Statement(select(*_whole).where(_of_person).order_by(*(USAGE.c[name] for name in KEYS)))
WHOLE_OF_CHAT = Statement(select(*_whole).where(_of_chat))
EXPIRE = Statement(delete(USAGE).where(USAGE.c.day < bindparam("since")))
DELETE_OF_PERSON = Statement(delete(USAGE).where(_of_person))
DELETE_OF_CHAT = Statement(delete(USAGE).where(_of_chat))


def spend(tx: Transaction, spent: Sequence[Spent]) -> None:
    """Add what was taken; always in the same order, so that no two transactions wait for each other."""
    for one in sorted(spent, key=_order) if len(spent) > 1 else spent:
        person = NOBODY if one.person is None else person_key(one.person)
        chat = NOWHERE if one.chat is None else chat_key(one.chat)
        tx.run(
            ADD,
            person=person,
            day=one.day.isoformat(),
            chat=chat,
            model=storable(one.model),
            purpose=one.purpose,
            requests=one.requests,
            prompt=one.prompt,
            cached=one.cached,
            completion=one.completion,
            memory=one.memory,
        )


def _order(one: Spent) -> tuple[str, ...]:
    return str(one.person), one.day.isoformat(), str(one.chat), one.model, one.purpose


def spent(tx: Transaction, since: date, person: Person | None, chat: ChatKey | None) -> list[Spent]:
    """Add up what was taken from a day on."""
    given = {"since": since.isoformat()}
    if person is not None:
        rows = tx.rows(OF_PERSON, of_person=person_key(person), **given)
    elif chat is not None:
        rows = tx.rows(OF_CHAT, of_chat=chat_key(whole(chat)), **given)
    else:
        rows = tx.rows(ALL, **given)
    return [_to_spent(("", day, "", *rest)) for day, *rest in rows]


def _to_spent(row: Row) -> Spent:
    person, day, chat, model, purpose, *amounts = row
    whose, where = Person.parse(person) if person else None, ChatKey.parse(chat) if chat else None
    return Spent(date.fromisoformat(day), whose, where, model, purpose, *map(int, amounts))


def spenders(tx: Transaction, since: date, of: Literal["person", "chat"], limit: int) -> list[tuple[str, int]]:
    """Read who took most."""
    return [(key, int(tokens)) for key, tokens in tx.rows(MOST[of], since=since.isoformat(), limit=limit)]


def of_person(tx: Transaction, person: str) -> list[Spent]:
    """Read every entry of a person."""
    return [_to_spent(row) for row in tx.rows(WHOLE_OF_PERSON, of_person=person)]


def disown(tx: Transaction, person: str) -> int:
    """Make what a person took nobody's, in no chat; how many entries."""
    spend(tx, [one.nameless for one in of_person(tx, person)])
    return tx.run(DELETE_OF_PERSON, of_person=person)


def move(tx: Transaction, old: str, new: ChatKey) -> None:
    """Let what was taken in a chat count for what it has become."""
    entries = [_to_spent(row) for row in tx.rows(WHOLE_OF_CHAT, of_chat=old)]
    spend(tx, [one.moved(new) for one in entries])
    tx.run(DELETE_OF_CHAT, of_chat=old)


def expire(tx: Transaction, since: date) -> None:
    """Drop what was taken before a day."""
    tx.run(EXPIRE, since=since.isoformat())
