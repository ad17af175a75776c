"""Accounts that are one person's, the codes that link them, and wrong codes entered."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import bindparam, delete, func, select, update

from adapters.sql.database import Transaction
from adapters.sql.rows import person_key, to_micros
from adapters.sql.statement import Statement, insert
from adapters.sql.tables import LINK, LINK_CODE, WRONG_CODE
from core.kept import WRONG_CODE_HOURS, storable
from core.messages import Person

_good = LINK_CODE.c.until > bindparam("now")
_code = insert(LINK_CODE).values({c: bindparam(c.name) for c in LINK_CODE.c})
OFFER = Statement(
    _code.on_conflict_do_update(
        index_elements=[LINK_CODE.c.person], set_={"code": _code.excluded.code, "until": _code.excluded.until}
    )
)
OWNER = Statement(select(LINK_CODE.c.person).where(LINK_CODE.c.code == bindparam("code"), _good))
USE_UP = Statement(
    delete(LINK_CODE).where(LINK_CODE.c.person == bindparam("of_person"), LINK_CODE.c.code == bindparam("of_code"))
)
DELETE_CODE = Statement(delete(LINK_CODE).where(LINK_CODE.c.person == bindparam("of_person")))
EXPIRE_CODES = Statement(delete(LINK_CODE).where(LINK_CODE.c.until <= bindparam("now")))
VIEW = Statement(select(LINK.c.view).where(LINK.c.person == bindparam("person")))
IN_VIEW = Statement(select(LINK.c.person).where(LINK.c.view == bindparam("in_view")).order_by(LINK.c.person))
_own_view = select(LINK.c.view).where(LINK.c.person == bindparam("person")).scalar_subquery()
LINKED = Statement(
    select(LINK.c.person).where(LINK.c.view == _own_view, LINK.c.person != bindparam("person")).order_by(LINK.c.person)
)
_link = insert(LINK).values({c: bindparam(c.name) for c in LINK.c})
JOIN = Statement(_link.on_conflict_do_update(index_elements=[LINK.c.person], set_={"view": _link.excluded.view}))
MOVE = Statement(update(LINK).where(LINK.c.view == bindparam("from_view")).values(view=bindparam("to_view")))
LEAVE = Statement(delete(LINK).where(LINK.c.person == bindparam("of_person")))
END = Statement(delete(LINK).where(LINK.c.view == bindparam("of_view")))
NOTE = Statement(insert(WRONG_CODE).values(person=bindparam("person"), at=bindparam("at")))
COUNT = Statement(
    select(func.count())
    .select_from(WRONG_CODE)
    .where(WRONG_CODE.c.person == bindparam("person"), WRONG_CODE.c.at > bindparam("since"))
)
DELETE_WRONG = Statement(delete(WRONG_CODE).where(WRONG_CODE.c.person == bindparam("of_person")))
EXPIRE_WRONG = Statement(delete(WRONG_CODE).where(WRONG_CODE.c.at < bindparam("limit")))


def offer(tx: Transaction, person: Person, code: str, until: datetime) -> None:
    """Keep a code, in the place of an earlier one."""
    tx.run(OFFER, person=person_key(person), code=storable(code), until=to_micros(until))


def owner(tx: Transaction, code: str, now: datetime) -> Person | None:
    """Find whose code it is, if it is still good."""
    key = tx.value(OWNER, code=storable(code), now=to_micros(now))
    return None if key is None else Person.parse(key)


def link(tx: Transaction, code: str, person: Person, now: datetime) -> Person | None:
    """Join the view of a code's owner, whom it is used up for."""
    found = owner(tx, code, now)
    if found is None or found == storable(person):
        return None
    one, other = person_key(found), person_key(person)
    if not tx.run(USE_UP, of_person=one, of_code=storable(code)):
        return None
    view, joining = tx.value(VIEW, person=one) or storable(code), tx.value(VIEW, person=other)
    if joining is not None:
        tx.run(MOVE, from_view=joining, to_view=view)
    for key in (one, other):
        tx.run(JOIN, person=key, view=view)
    return found


def unlink(tx: Transaction, person: Person) -> bool:
    """Leave a view; one account alone is none."""
    return leave(tx, person_key(person)) > 0


def leave(tx: Transaction, person: str) -> int:
    """Take an account out of its view; how many were taken, of those asked for."""
    view = tx.value(VIEW, person=person)
    left = tx.run(LEAVE, of_person=person)
    if view is not None and len(tx.rows(IN_VIEW, in_view=view)) < 2:
        tx.run(END, of_view=view)
    return left


def linked(tx: Transaction, person: Person) -> list[Person]:
    """Read the other accounts of a view."""
    return [Person.parse(key) for (key,) in tx.rows(LINKED, person=person_key(person))]


def note_wrong(tx: Transaction, person: Person, at: datetime) -> None:
    """Note that somebody entered a wrong code."""
    tx.insert(NOTE, person=person_key(person), at=to_micros(at))


def wrong(tx: Transaction, person: Person, since: datetime) -> int:
    """Count the wrong codes somebody entered."""
    return int(tx.value(COUNT, person=person_key(person), since=to_micros(since)))


def erase(tx: Transaction, person: str) -> int:
    """Erase all of these that is a person's; how many links and codes."""
    tx.run(DELETE_WRONG, of_person=person)
    return leave(tx, person) + tx.run(DELETE_CODE, of_person=person)


def expire(tx: Transaction, now: datetime) -> None:
    """Drop the codes whose time is over, and wrong ones that count no more."""
    tx.run(EXPIRE_CODES, now=to_micros(now))
    tx.run(EXPIRE_WRONG, limit=to_micros(now - timedelta(hours=WRONG_CODE_HOURS)))
