"""The archive: the terms of every turn, kept as it is said, and the line of one chat that is searched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, delete, select, update

from adapters.sql import chats, entities, pieces, vectors
from adapters.sql.database import Row, Transaction
from adapters.sql.rows import TURN_COLUMNS, chat_key, to_micros, to_turn
from adapters.sql.statement import Statement, insert
from adapters.sql.tables import ARCHIVE, TURN
from core.conversation import Turn
from core.kept import storable
from core.messages import ChatKey
from core.search.postings import FIRST, Entry, Line, Postings, posted
from core.search.query import terms_replied, terms_said, turn_terms
from core.search.terms import Terms

_this = (ARCHIVE.c.chat == bindparam("of_chat")) & (ARCHIVE.c.turn == bindparam("of_turn"))
_ADDED = insert(ARCHIVE).values({c: bindparam(c.name) for c in ARCHIVE.c})
ADD = Statement(
    _ADDED.on_conflict_do_update(
        index_elements=[ARCHIVE.c.chat, ARCHIVE.c.turn], set_={"replied": _ADDED.excluded.replied}
    )
)
REWORD = Statement(
    _ADDED.on_conflict_do_update(index_elements=[ARCHIVE.c.chat, ARCHIVE.c.turn], set_={"said": _ADDED.excluded.said})
)
REPARENT = Statement(update(ARCHIVE).where(_this).values(parent=bindparam("parent")))
MOVE = Statement(update(ARCHIVE).where(ARCHIVE.c.chat == bindparam("of_chat")).values(chat=bindparam("to")))
DELETE = Statement(delete(ARCHIVE).where(_this))
ENTRIES = Statement(
    select(ARCHIVE.c.turn, ARCHIVE.c.parent, ARCHIVE.c.at, ARCHIVE.c.said.concat(ARCHIVE.c.replied))
    .where(ARCHIVE.c.chat == bindparam("chat"))
    .order_by(ARCHIVE.c.turn)
)
PLACE = Statement(select(TURN.c.parent).where(TURN.c.id == bindparam("turn")))
BY_ID = Statement(select(*TURN_COLUMNS).where(TURN.c.id == bindparam("turn"), TURN.c.chat == bindparam("chat")))
KEPT = Statement(select(ARCHIVE.c.turn, ARCHIVE.c.parent).where(ARCHIVE.c.chat == bindparam("chat")))
ALL_TOLD = Statement(select(TURN.c.id).where(TURN.c.chat == bindparam("chat"), entities.TOLD))
DONE = Statement(
    select(ARCHIVE.c.turn, ARCHIVE.c.parent, ARCHIVE.c.at, ARCHIVE.c.said.concat(ARCHIVE.c.replied))
    .join(TURN, TURN.c.id == ARCHIVE.c.turn)
    .where(ARCHIVE.c.chat == bindparam("chat"), TURN.c.state != "received", TURN.c.state != "answered")
    .order_by(ARCHIVE.c.turn)
)
SAYS = Statement(select(ARCHIVE.c.turn, ARCHIVE.c.said.concat(ARCHIVE.c.replied)))
ANY = Statement(select(*TURN_COLUMNS).where(TURN.c.id == bindparam("turn")))
THERE = Statement(select(TURN.c.id).where(TURN.c.chat == bindparam("chat")))
LOST = Statement(
    select(ARCHIVE.c.chat, ARCHIVE.c.turn)
    .outerjoin(TURN, (TURN.c.id == ARCHIVE.c.turn) & (TURN.c.chat == ARCHIVE.c.chat))
    .where(TURN.c.id.is_(None))
)


def add(tx: Transaction, chat: str, turn: Turn, terms: Terms | None) -> None:
    """Keep the terms of a turn; where an edit has left those of what was said, only those of the answer.

    Without `terms` they are made when something is first looked for in the chat.
    """
    if terms is not None:
        tx.run(ADD, **_row(chat, turn, terms))


def reword(tx: Transaction, chat: str, turn: Turn, terms: Terms | None) -> None:
    """Keep the terms of what was said in a turn that was edited, answered or not."""
    if terms is None:
        tx.run(DELETE, of_chat=chat, of_turn=turn.id)
    else:
        tx.run(REWORD, **_row(chat, turn, terms))
    pieces.mend(tx, chat, {turn.id}, {})
    entities.forget(tx, chat, [turn.id])
    vectors.forget(tx, chat, [turn.id])


def behind(tx: Transaction, chat: ChatKey) -> list[int]:
    """Name the turns of a chat that were told while no terms were kept."""
    key = chat_key(chat)
    kept = {turn for turn, _ in tx.rows(KEPT, chat=key)}.union(*(piece.turns for piece in pieces.places(tx, key)))
    return [turn for (turn,) in tx.rows(ALL_TOLD, chat=key) if turn not in kept]


def catch_up(tx: Transaction, chat: ChatKey, turns: Sequence[int], terms: Terms) -> None:
    """Keep the terms of turns that have none yet."""
    key = chat_key(chat)
    for turn in read(tx, chat, turns):
        add(tx, key, turn, terms)


def put_together(tx: Transaction, chat: ChatKey) -> None:
    """Put the terms of turns that are done into postings, which a search reads fast."""
    key = chat_key(chat)
    tx.hold(key)
    done = [_to_entry(row) for row in tx.rows(DONE, chat=key)]
    tx.many(DELETE, [{"of_chat": key, "of_turn": entry.turn} for entry in done])
    pieces.put_together(tx, key, done)


def _to_entry(row: Row) -> Entry:
    turn, parent, at, terms = row
    return Entry(turn, parent, at / 1e6, terms)


def _row(chat: str, turn: Turn, terms: Terms) -> dict[str, Any]:
    said, replied = terms_said(turn.messages, terms), terms_replied(turn, terms)
    row = {"chat": chat, "turn": turn.id, "parent": turn.parent, "at": to_micros(turn.at)}
    return row | {"said": said, "replied": replied}


def cut_out(tx: Transaction, chat: str, turns: Collection[int], parents: Mapping[int, int | None]) -> None:
    """Forget turns, and note the new parents of those that lost theirs."""
    tx.many(DELETE, [{"of_chat": chat, "of_turn": turn} for turn in turns])
    entities.forget(tx, chat, turns)
    vectors.forget(tx, chat, turns)
    pieces.mend(tx, chat, turns, {})
    _reparent(tx, chat, parents)


def move(tx: Transaction, old: str, new: str, parents: Mapping[int, int | None]) -> None:
    """Give all of one chat to another, whose turns then have new parents."""
    tx.run(MOVE, of_chat=old, to=new)
    pieces.move(tx, old, new)
    entities.move(tx, old, new)
    vectors.move(tx, old, new)
    _reparent(tx, new, parents)


def _reparent(tx: Transaction, chat: str, parents: Mapping[int, int | None]) -> None:
    tx.many(REPARENT, [{"of_chat": chat, "of_turn": turn, "parent": parent} for turn, parent in parents.items()])
    pieces.mend(tx, chat, (), parents)


def line(tx: Transaction, chat: ChatKey) -> tuple[Line, int]:
    """Read the line of turns that leads to the head of a chat; how many of them are not put together yet."""
    key = chat_key(chat)
    single = [_to_entry(row) for row in tx.rows(ENTRIES, chat=key)]
    return _line(tx, key, [*pieces.read(tx, key), posted(single)]), len(single)


def path(tx: Transaction, chat: str) -> set[int]:
    """Read the turns that lead to the head of a chat."""
    single = [Entry(turn, parent, 0, "") for turn, parent in tx.rows(KEPT, chat=chat)]
    return set(_line(tx, chat, [*pieces.places(tx, chat), posted(single)]).turns)


def _line(tx: Transaction, chat: str, known: Sequence[Postings]) -> Line:
    head = chats.state_of(tx, chat, "").head
    return Line(known, head, lambda turn: tx.value(PLACE, turn=turn))


def read(tx: Transaction, chat: ChatKey, turns: Sequence[int]) -> list[Turn]:
    """Read turns of a chat, in the order given; what has gone meanwhile, or is said incognito, is left out."""
    rows = (row for turn in turns for row in tx.rows(BY_ID, turn=turn, chat=chat_key(chat)))
    return [turn for turn in map(to_turn, rows) if not turn.incognito]


def faults(tx: Transaction, chat: str, parents: Mapping[int, int | None]) -> Iterator[str]:
    """Check that the archive of a chat knows each turn once, and by its parent."""
    kept: list[tuple[int, int | None]] = list(tx.rows(KEPT, chat=chat))
    for piece in pieces.places(tx, chat):
        kept += zip(piece.turns, (parent or None for parent in piece.parents), strict=True)
    for turn, parent in kept:
        if turn in parents and parents[turn] != parent:
            yield f"The archive of {chat} does not know the place of turn {turn}."
    for turn, times in Counter(turn for turn, _ in kept).items():
        if times > 1:
            yield f"The archive of {chat} knows turn {turn} {times} times."


def strays(tx: Transaction) -> Iterator[str]:
    """Check that the archive knows no turn that does not exist."""
    lost = list(tx.rows(LOST))
    for (chat,) in tx.rows(pieces.CHATS):
        there = {turn for (turn,) in tx.rows(THERE, chat=chat)}
        lost += [(chat, turn) for piece in pieces.places(tx, chat) for turn in piece.turns if turn not in there]
    for chat, turn in lost:
        yield f"The archive of {chat} still knows turn {turn}, which does not exist there."


def leaks(tx: Transaction, text: str, terms: Terms) -> set[str]:
    """Name the tables by which a turn is found by a text, whatever its form, that the turn no longer says."""
    wanted = set(terms.of(storable(text)))
    suspected = {("postings", turn) for (chat,) in tx.rows(pieces.CHATS) for turn in _saying(tx, chat, wanted)}
    suspected |= {("archive", turn) for turn, said in tx.rows(SAYS) if wanted <= set(said.split())}
    return {table for table, turn in suspected if wanted and not wanted <= _terms_of(tx, turn, terms)}


def _saying(tx: Transaction, chat: str, wanted: Collection[str]) -> Iterator[int]:
    for piece in pieces.read(tx, chat) if wanted else ():
        for mark in set.intersection(*(set(piece.by_term.get(term, "")) for term in wanted)):
            yield piece.turns[ord(mark) - FIRST]


def _terms_of(tx: Transaction, turn: int, terms: Terms) -> set[str]:
    rows = tx.rows(ANY, turn=turn)
    return set(turn_terms(to_turn(rows[0]), terms).split()) if rows else set()
