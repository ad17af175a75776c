"""Names, and the turns that speak of them: noted once for each turn, found by what a message says."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from sqlalchemy import bindparam, delete, or_, select, update

from adapters.sql.database import Transaction
from adapters.sql.rows import TURN_COLUMNS, chat_key, is_id, to_turn
from adapters.sql.statement import Statement, insert
from adapters.sql.tables import ENTITY, TURN
from core.conversation import Turn
from core.kept import storable
from core.messages import ChatKey
from core.search.terms import Terms

LOOKED_AT = ""
"""The key of the row that says of a turn that names were looked for in it."""
_in_chat = ENTITY.c.chat == bindparam("in_chat")
_turn = TURN.alias("of_chat")
_looked_at = select(ENTITY.c.turn).where(
    ENTITY.c.chat == _turn.c.chat, ENTITY.c.key == LOOKED_AT, ENTITY.c.turn == _turn.c.id
)
_not_looked_at = select(_turn.c.id).where(_turn.c.chat == bindparam("in_chat"), ~_looked_at.exists())
TOLD = or_(TURN.c.state != "received", TURN.c.answer.is_not(None))
"""What is looked at: turns that are no longer open, and those that have an answer."""
UNNAMED = Statement(
    select(*TURN_COLUMNS).where(TURN.c.id.in_(_not_looked_at), TOLD).order_by(TURN.c.id).limit(bindparam("limit"))
)
NOTE = Statement(insert(ENTITY).values({c: bindparam(c.name) for c in ENTITY.c}).on_conflict_do_nothing())
IS_THERE = Statement(select(TURN.c.id).where(TURN.c.chat == bindparam("in_chat"), TURN.c.id == bindparam("of")))
ALL = Statement(
    select(ENTITY.c.name, ENTITY.c.turn)
    .where(_in_chat, ENTITY.c.key != LOOKED_AT)
    .order_by(ENTITY.c.key, ENTITY.c.turn)
)
FORGET = Statement(delete(ENTITY).where(_in_chat, ENTITY.c.turn == bindparam("of_turn")))
LOST = Statement(
    select(ENTITY.c.chat, ENTITY.c.turn)
    .outerjoin(TURN, (TURN.c.id == ENTITY.c.turn) & (TURN.c.chat == ENTITY.c.chat))
    .where(TURN.c.id.is_(None))
    .distinct()
    .order_by(ENTITY.c.turn)
)
MOVE = Statement(update(ENTITY).where(_in_chat).values(chat=bindparam("to")))


def unnamed(tx: Transaction, chat: ChatKey, limit: int) -> list[Turn]:
    """Read turns in which names have not been looked for."""
    return [to_turn(row) for row in tx.rows(UNNAMED, in_chat=chat_key(chat), limit=limit)]


def name(tx: Transaction, chat: ChatKey, names: Mapping[int, Sequence[str]], terms: Terms) -> None:
    """Note the names that turns speak of; what is erased meanwhile is passed over."""
    key = chat_key(chat)
    for turn, found in names.items():
        if is_id(turn) and tx.value(IS_THERE, in_chat=key, of=turn) is not None:
            keyed = {terms.key(storable(one)): storable(one) for one in found} | {LOOKED_AT: ""}
            tx.many(NOTE, [{"chat": key, "key": k, "turn": turn, "name": n} for k, n in keyed.items()])


def exported(tx: Transaction, chat: str, turns: Collection[int]) -> dict[str, list[int]]:
    """Read the names that some turns of a chat speak of."""
    found: dict[str, list[int]] = {}
    for known, turn in tx.rows(ALL, in_chat=chat):
        if turn in turns:
            found.setdefault(known, []).append(turn)
    return found


def forget(tx: Transaction, chat: str, turns: Collection[int]) -> None:
    """Forget what turns speak of; if they are still there, names are looked for in them again."""
    tx.many(FORGET, [{"in_chat": chat, "of_turn": turn} for turn in turns])


def move(tx: Transaction, old: str, new: str) -> None:
    """Give all of one chat to another."""
    tx.run(MOVE, in_chat=old, to=new)


def strays(tx: Transaction) -> Iterator[str]:
    """Check that no name leads to a turn that does not exist."""
    for chat, turn in tx.rows(LOST):
        yield f"The names of {chat} still lead to turn {turn}, which does not exist there."
