"""Strangers who ask to be let in, and the codes that they are let in by."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, delete, func, select

from adapters.sql.database import Transaction
from adapters.sql.rows import person_key, to_micros
from adapters.sql.statement import Statement, insert
from adapters.sql.tables import PAIRING
from core.kept import MOST_PAIRINGS, storable
from core.messages import Person

_good = PAIRING.c.until > bindparam("now")
CODE = Statement(select(PAIRING.c.code).where(PAIRING.c.person == bindparam("person"), _good))
COUNT = Statement(select(func.count()).select_from(PAIRING).where(_good))
_given = insert(PAIRING).values({c: bindparam(c.name) for c in PAIRING.c})
PUT = Statement(
    _given.on_conflict_do_update(
        index_elements=[PAIRING.c.person], set_={"code": _given.excluded.code, "until": _given.excluded.until}
    )
)
PERSON = Statement(select(PAIRING.c.person).where(PAIRING.c.code == bindparam("code"), _good))
DELETE_OWN = Statement(delete(PAIRING).where(PAIRING.c.person == bindparam("of_person")))
EXPIRE = Statement(delete(PAIRING).where(PAIRING.c.until <= bindparam("now")))


def pair(tx: Transaction, person: Person, code: str, now: datetime, until: datetime) -> str:
    """Keep a code for a stranger, unless they have one."""
    key, moment = person_key(person), to_micros(now)
    found = tx.value(CODE, person=key, now=moment)
    if found is None and tx.value(COUNT, now=moment) < MOST_PAIRINGS:
        found = storable(code)
        tx.run(PUT, person=key, code=found, until=to_micros(until))
    return found or ""


def paired(tx: Transaction, code: str, now: datetime) -> Person | None:
    """Use a code up."""
    key = tx.value(PERSON, code=storable(code), now=to_micros(now))
    if key is None:
        return None
    tx.run(DELETE_OWN, of_person=key)
    return Person.parse(key)


def expire(tx: Transaction, now: datetime) -> None:
    """Drop the codes whose time is over."""
    tx.run(EXPIRE, now=to_micros(now))
