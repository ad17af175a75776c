"""Buttons whose commands a platform has no room for."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import bindparam, delete, insert, select

from adapters.sql.database import Transaction
from adapters.sql.rows import is_id, person_key, to_micros
from adapters.sql.statement import Statement
from adapters.sql.tables import BUTTON, TURN
from core.kept import BUTTON_DAYS, storable
from core.messages import Person

ADD = Statement(insert(BUTTON).values({name: bindparam(name) for name in ("owner", "command", "at")}))
BY_ID = Statement(select(BUTTON.c.command, BUTTON.c.owner).where(BUTTON.c.id == bindparam("button")))
DELETE_OWN = Statement(delete(BUTTON).where(BUTTON.c.owner == bindparam("owner")))
_sender = select(TURN.c.sender).where(TURN.c.id == bindparam("of_turn")).scalar_subquery()
DELETE_OF_TURN = Statement(delete(BUTTON).where(BUTTON.c.owner == _sender))
EXPIRE = Statement(delete(BUTTON).where(BUTTON.c.at < bindparam("limit")))


def button(tx: Transaction, command: str, owner: Person, at: datetime) -> int:
    """Keep a button."""
    return tx.insert(ADD, owner=person_key(owner), command=storable(command), at=to_micros(at))


def pressed(tx: Transaction, id_: int) -> tuple[str, Person] | None:
    """Read a button."""
    row = tx.row(BY_ID, button=id_) if is_id(id_) else None
    return None if row is None else (row[0], Person.parse(row[1]))


def expire(tx: Transaction, now: datetime) -> None:
    """Drop the buttons whose time is over."""
    tx.run(EXPIRE, limit=to_micros(now - timedelta(days=BUTTON_DAYS)))
