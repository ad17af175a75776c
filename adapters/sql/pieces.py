"""Pieces of the archive: what single turns were found by, put together in postings, and mended where turns change."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from sqlalchemy import bindparam, delete, insert, select, update

from adapters.sql.database import Transaction
from adapters.sql.statement import Statement
from adapters.sql.tables import POSTINGS
from core.search.postings import MOST, Entry, Postings, merged, posted, reparented, without

N = TypeVar("N", int, float)

_in_chat = POSTINGS.c.chat == bindparam("in_chat")
_this = POSTINGS.c.id == bindparam("piece")
_BODY = ("places", "terms", "says")
ADD = Statement(insert(POSTINGS).values({name: bindparam(name) for name in ("chat", *_BODY)}))
CHANGE = Statement(update(POSTINGS).where(_this).values({POSTINGS.c[name]: bindparam(name) for name in _BODY}))
DELETE = Statement(delete(POSTINGS).where(_this))
MOVE = Statement(update(POSTINGS).where(_in_chat).values(chat=bindparam("to")))
PIECES = Statement(
    select(POSTINGS.c.id, POSTINGS.c.places, POSTINGS.c.terms, POSTINGS.c.says).where(_in_chat).order_by(POSTINGS.c.id)
)
PLACES = Statement(select(POSTINGS.c.id, POSTINGS.c.places).where(_in_chat).order_by(POSTINGS.c.id))
ONE = Statement(select(POSTINGS.c.terms, POSTINGS.c.says).where(_this))
CHATS = Statement(select(POSTINGS.c.chat).distinct().order_by(POSTINGS.c.chat))


def read(tx: Transaction, chat: str) -> list[Postings]:
    """Read all pieces of a chat."""
    return [_to_postings(*body) for _, *body in tx.rows(PIECES, in_chat=chat)]


def places(tx: Transaction, chat: str) -> list[Postings]:
    """Read the turns of all pieces of a chat, without what they say."""
    return [_to_postings(body, "", "") for _, body in tx.rows(PLACES, in_chat=chat)]


def put_together(tx: Transaction, chat: str, entries: Sequence[Entry]) -> None:
    """Add turns, and join the newest pieces while that is cheap: so there are few of them, each seldom written anew."""
    for at in range(0, len(entries), MOST):
        piece, known = posted(entries[at : at + MOST]), tx.rows(PLACES, in_chat=chat)
        while known and _joins(known[-1][1], piece):
            id_, body = known.pop()
            piece = merged(_to_postings(body, *tx.rows(ONE, piece=id_)[0]), piece)
            tx.run(DELETE, piece=id_)
        tx.insert(ADD, chat=chat, **_to_body(piece))


def _joins(places: bytes, newer: Postings) -> bool:
    older = len(places) // _WIDTH
    return older < 2 * len(newer.turns) and older + len(newer.turns) <= MOST


def mend(tx: Transaction, chat: str, gone: Collection[int], parents: Mapping[int, int | None]) -> None:
    """Take turns out of the pieces of a chat, and give others new parents."""
    for id_, body in tx.rows(PLACES, in_chat=chat):
        known = _to_postings(body, "", "").turns
        if not parents.keys().isdisjoint(known) or not set(gone).isdisjoint(known):
            _mend(tx, id_, _to_postings(body, *tx.rows(ONE, piece=id_)[0]), gone, parents)


def _mend(tx: Transaction, id_: int, piece: Postings, gone: Collection[int], parents: Mapping[int, int | None]) -> None:
    left = reparented(without(piece, gone) if gone else piece, parents)
    if left.turns:
        tx.run(CHANGE, piece=id_, **_to_body(left))
    else:
        tx.run(DELETE, piece=id_)


def move(tx: Transaction, old: str, new: str) -> None:
    """Give all pieces of one chat to another."""
    tx.run(MOVE, in_chat=old, to=new)


_WIDTH = 32
"""Bytes that a turn takes in `places`."""


def _to_body(piece: Postings) -> dict[str, bytes | str]:
    whole = (_lowest_first(numbers).tobytes() for numbers in (piece.turns, piece.parents, piece.lengths))
    places = b"".join((*whole, _lowest_first(piece.times).tobytes()))
    return {"places": places, "terms": piece.terms, "says": piece.says}


def _to_postings(places: bytes, terms: str, says: str) -> Postings:
    size = len(places) // 4
    turns, parents, lengths = (_lowest_first(array("q", places[n * size : (n + 1) * size])) for n in range(3))
    times = _lowest_first(array("d", places[3 * size :]))
    return Postings(turns, parents, times, lengths, terms, says)


def _lowest_first(numbers: array[N]) -> array[N]:
    """Give numbers with their bytes in the order of the file, which another machine may read, or back from it."""
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers
