"""The vectors of turns: made after they were told, kept beside the archive, and gone with what they were made of."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from sqlalchemy import bindparam, delete, select, update

from adapters.sql.database import Transaction
from adapters.sql.entities import TOLD
from adapters.sql.rows import TURN_COLUMNS, chat_key, to_turn
from adapters.sql.statement import Statement, insert
from adapters.sql.tables import TURN, VECTOR
from core.conversation import Turn
from core.kept import storable, tells_the_same
from core.messages import ChatKey
from core.search.vectors import Vector

_in_chat = VECTOR.c.chat == bindparam("in_chat")
_turn = TURN.alias("of_chat")
_has_one = select(VECTOR.c.turn).where(
    VECTOR.c.chat == _turn.c.chat, VECTOR.c.turn == _turn.c.id, VECTOR.c.model == bindparam("model")
)
_without = select(_turn.c.id).where(_turn.c.chat == bindparam("in_chat"), ~_has_one.exists())
UNEMBEDDED = Statement(
    select(*TURN_COLUMNS).where(TURN.c.id.in_(_without), TOLD).order_by(TURN.c.id.desc()).limit(bindparam("limit"))
)
TURN_OF = Statement(select(*TURN_COLUMNS).where(TURN.c.id == bindparam("of_turn"), TURN.c.chat == bindparam("in_chat")))
_added = insert(VECTOR).values({c: bindparam(c.name) for c in VECTOR.c})
KEEP = Statement(
    _added.on_conflict_do_update(
        index_elements=[VECTOR.c.chat, VECTOR.c.turn],
        set_={"model": _added.excluded.model, "body": _added.excluded.body},
    )
)
OF_CHAT = Statement(select(VECTOR.c.turn, VECTOR.c.body).where(_in_chat, VECTOR.c.model == bindparam("model")))
FORGET = Statement(delete(VECTOR).where(_in_chat, VECTOR.c.turn == bindparam("of_turn")))
MOVE = Statement(update(VECTOR).where(_in_chat).values(chat=bindparam("to")))
LOST = Statement(
    select(VECTOR.c.chat, VECTOR.c.turn)
    .outerjoin(TURN, (TURN.c.id == VECTOR.c.turn) & (TURN.c.chat == VECTOR.c.chat))
    .where(TURN.c.id.is_(None))
)


def unembedded(tx: Transaction, chat: ChatKey, model: str, limit: int) -> list[Turn]:
    """Read turns that have no vector of a model."""
    rows = tx.rows(UNEMBEDDED, in_chat=chat_key(chat), model=storable(model), limit=limit)
    return [turn for turn in map(to_turn, rows) if not turn.incognito]


def embed(tx: Transaction, chat: ChatKey, model: str, vectors: Sequence[tuple[Turn, Vector]]) -> None:
    """Keep the vectors of turns that are still as they were."""
    key = chat_key(chat)
    tx.hold(key)
    for turn, vector in vectors:
        row = tx.row(TURN_OF, of_turn=turn.id, in_chat=key)
        if row is not None and tells_the_same(to_turn(row), turn):
            tx.run(KEEP, chat=key, turn=turn.id, model=storable(model), body=vector)


def of_chat(tx: Transaction, chat: ChatKey, model: str) -> dict[int, Vector]:
    """Read the vectors of a chat that are of a model."""
    return dict(tx.rows(OF_CHAT, in_chat=chat_key(chat), model=storable(model)))


def forget(tx: Transaction, chat: str, turns: Collection[int]) -> None:
    """Forget the vectors of turns; of those that are still there, others are made."""
    tx.many(FORGET, [{"in_chat": chat, "of_turn": turn} for turn in turns])


def move(tx: Transaction, old: str, new: str) -> None:
    """Give all of one chat to another."""
    tx.run(MOVE, in_chat=old, to=new)


def strays(tx: Transaction) -> Iterator[str]:
    """Check that no vector is of a turn that does not exist."""
    for chat, turn in tx.rows(LOST):
        yield f"There is a vector of turn {turn} of {chat}, which does not exist there."
