"""The archive: the terms of every turn, kept with it, and the search over those of one chat."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, delete, or_, select, update

from adapters.sql import chats, entities
from adapters.sql.database import Transaction
from adapters.sql.rows import TURN_COLUMNS, chat_key, to_micros, to_turn
from adapters.sql.statement import Statement, insert
from adapters.sql.tables import ARCHIVE, TURN
from core.conversation import Turn
from core.kept import chain
from core.messages import ChatKey
from core.search import Entry, terms_replied, terms_said
from core.terms import Terms

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
_told = or_(TURN.c.state == "heard", TURN.c.answer.is_not(None))
TOLD = Statement(select(TURN.c.id).where(TURN.c.chat == bindparam("chat"), _told))
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
    entities.forget(tx, chat, [turn.id])


def behind(tx: Transaction, chat: ChatKey) -> list[int]:
    """Name the turns of a chat that were told while no terms were kept."""
    key = chat_key(chat)
    kept = {turn for turn, _ in tx.rows(KEPT, chat=key)}
    return [turn for (turn,) in tx.rows(TOLD, chat=key) if turn not in kept]


def catch_up(tx: Transaction, chat: ChatKey, turns: Sequence[int], terms: Terms) -> None:
    """Keep the terms of turns that have none yet."""
    key = chat_key(chat)
    for turn in read(tx, chat, turns):
        add(tx, key, turn, terms)


def _row(chat: str, turn: Turn, terms: Terms) -> dict[str, Any]:
    said, replied = terms_said(turn.messages, terms), terms_replied(turn, terms)
    row = {"chat": chat, "turn": turn.id, "parent": turn.parent, "at": to_micros(turn.at)}
    return row | {"said": said, "replied": replied}


def cut_out(tx: Transaction, chat: str, turns: Collection[int], parents: Mapping[int, int | None]) -> None:
    """Forget turns, and note the new parents of those that lost theirs."""
    tx.many(DELETE, [{"of_chat": chat, "of_turn": turn} for turn in turns])
    entities.forget(tx, chat, turns)
    _reparent(tx, chat, parents)


def move(tx: Transaction, old: str, new: str, parents: Mapping[int, int | None]) -> None:
    """Give all of one chat to another, whose turns then have new parents."""
    tx.run(MOVE, of_chat=old, to=new)
    entities.move(tx, old, new)
    _reparent(tx, new, parents)


def _reparent(tx: Transaction, chat: str, parents: Mapping[int, int | None]) -> None:
    tx.many(REPARENT, [{"of_chat": chat, "of_turn": turn, "parent": parent} for turn, parent in parents.items()])


def entries(tx: Transaction, chat: ChatKey) -> tuple[dict[int, Entry], int | None]:
    """Read what the archive knows of all turns of a chat, and the chat's head."""
    key = chat_key(chat)
    known = {turn: Entry(turn, parent, at / 1e6, said) for turn, parent, at, said in tx.rows(ENTRIES, chat=key)}
    head = chats.state_of(tx, key, "").head
    _add_open(tx, known, head)
    return known, head


def read(tx: Transaction, chat: ChatKey, turns: Sequence[int]) -> list[Turn]:
    """Read turns of a chat, in the order given; what has gone meanwhile, or is said incognito, is left out."""
    rows = (row for turn in turns for row in tx.rows(BY_ID, turn=turn, chat=chat_key(chat)))
    return [turn for turn in map(to_turn, rows) if not turn.incognito]


def _add_open(tx: Transaction, entries: dict[int, Entry], head: int | None) -> None:
    """Add the places of turns that are still open, so that the way from the head to the root has no gap."""
    named = {head, *(entry.parent for entry in entries.values())}
    while missing := named - entries.keys() - {None}:
        places = {turn: tx.value(PLACE, turn=turn) for turn in missing}
        entries.update({turn: Entry(turn, parent, 0, "") for turn, parent in places.items() if turn is not None})
        named = set(places.values())


def path(tx: Transaction, chat: str) -> set[int]:
    """Read the turns that lead to the head of a chat."""
    entries = {turn: Entry(turn, parent, 0, "") for turn, parent in tx.rows(KEPT, chat=chat)}
    head = chats.state_of(tx, chat, "").head
    _add_open(tx, entries, head)
    return set(chain({turn: entry.parent for turn, entry in entries.items()}, head, None))


def faults(tx: Transaction, chat: str, parents: Mapping[int, int | None]) -> Iterator[str]:
    """Check that the archive of a chat knows each turn by its parent."""
    kept: dict[int, int | None] = dict(tx.rows(KEPT, chat=chat))
    for turn, parent in parents.items():
        if turn in kept and kept[turn] != parent:
            yield f"The archive of {chat} does not know the place of turn {turn}."


def strays(tx: Transaction) -> Iterator[str]:
    """Check that the archive knows no turn that does not exist."""
    for chat, turn in tx.rows(LOST):
        yield f"The archive of {chat} still knows turn {turn}, which does not exist there."
