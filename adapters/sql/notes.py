"""Notes that memories of the operator's own keep about people."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import bindparam, delete, select, update

from adapters.sql.database import Transaction
from adapters.sql.facts import EPOCH
from adapters.sql.rows import chat_key, person_key
from adapters.sql.statement import Statement, insert
from adapters.sql.tables import NOTE, TURN
from core.conversation import Turn
from core.errors import StaleEpoch
from core.kept import storable
from core.messages import Person
from core.notes import Note

_owned = (NOTE.c.person == bindparam("of_person")) & (NOTE.c.scope == bindparam("of_scope"))
_columns = (NOTE.c.memory, NOTE.c.key, NOTE.c.text, NOTE.c.chat, NOTE.c.turn)
_note = insert(NOTE).values({c: bindparam(c.name) for c in NOTE.c if c.name != "id"})
_same = [NOTE.c.person, NOTE.c.scope, NOTE.c.memory, NOTE.c.key]
PUT = Statement(
    _note.on_conflict_do_update(
        index_elements=_same, set_={name: _note.excluded[name] for name in ("text", "chat", "turn")}
    )
)
ADD = Statement(_note.on_conflict_do_nothing())
READ = Statement(select(*_columns).where(_owned).order_by(NOTE.c.id))
ALL = Statement(
    select(NOTE.c.scope, *_columns).where(NOTE.c.person == bindparam("person")).order_by(NOTE.c.scope, NOTE.c.id)
)
DELETE = Statement(delete(NOTE).where(_owned, NOTE.c.memory == bindparam("memory"), NOTE.c.key == bindparam("key")))
DELETE_ALL = Statement(delete(NOTE).where(_owned))
DELETE_OF_PERSON = Statement(delete(NOTE).where(NOTE.c.person == bindparam("of_person")))
DELETE_OF_CHAT = Statement(delete(NOTE).where(NOTE.c.chat == bindparam("of_chat")))
DELETE_OF_TURN = Statement(delete(NOTE).where(NOTE.c.turn == bindparam("of_turn")))
LOST = Statement(
    select(NOTE.c.person, NOTE.c.key, NOTE.c.turn)
    .outerjoin(TURN, TURN.c.id == NOTE.c.turn)
    .where(NOTE.c.turn.is_not(None), TURN.c.id.is_(None))
)
RENAME = Statement(update(NOTE).where(NOTE.c.chat == bindparam("of_chat")).values(chat=bindparam("to")))
_there = NOTE.alias("there")
_is_there = (
    select(_there.c.id)
    .where(_there.c.scope == bindparam("to"))
    .where(*(_there.c[name] == NOTE.c[name] for name in ("person", "memory", "key")))
    .exists()
)
_from = NOTE.c.scope == bindparam("from_scope")
RESCOPE = Statement(update(NOTE).where(_from, ~_is_there).values(scope=bindparam("to")))
DELETE_SCOPE = Statement(delete(NOTE).where(_from))


def note(tx: Transaction, person: Person, scope: str, new: Note, turn: Turn | None) -> None:
    """Put a note in its place, or take away what is there."""
    if turn is not None and tx.value(EPOCH, chat=chat_key(turn.chat)) not in (None, turn.epoch):
        raise StaleEpoch("The chat was stopped or cleared since this was learned.")
    if new.text:
        tx.insert(PUT, **_row(person, scope, new))
    else:
        clean = storable(new)
        tx.run(DELETE, of_person=person_key(person), of_scope=storable(scope), memory=clean.memory, key=clean.key)


def add(tx: Transaction, person: Person, scope: str, new: Note) -> None:
    """Add a note where there is none of its memory and key."""
    tx.insert(ADD, **_row(person, scope, new))


def _row(person: Person, scope: str, new: Note) -> Mapping[str, str | int | None]:
    clean = storable(new)
    owner = {"person": person_key(person), "scope": storable(scope)}
    return {**owner, **{column.name: getattr(clean, column.name) for column in _columns}}


def notes(tx: Transaction, person: Person, scope: str) -> list[Note]:
    """Read the notes about a person in a scope."""
    return [Note(*row) for row in tx.rows(READ, of_person=person_key(person), of_scope=storable(scope))]


def exported(tx: Transaction, person: str) -> list[tuple[str, Note]]:
    """Read all notes about a person, each with its scope."""
    return [(scope, Note(*row)) for scope, *row in tx.rows(ALL, person=person)]


def erase(tx: Transaction, person: Person, scope: str) -> int:
    """Erase the notes about a person in a scope; how many."""
    return tx.run(DELETE_ALL, of_person=person_key(person), of_scope=storable(scope))


def forget(tx: Transaction, turns: Collection[int]) -> int:
    """Erase what was noted of what was said in some turns; how many notes."""
    return tx.many(DELETE_OF_TURN, [{"of_turn": turn} for turn in turns])


def move(tx: Transaction, scope: str, to: str, chats: Mapping[str, str]) -> None:
    """Give the notes of a chat and its topics to what it has become; what stands there already stays."""
    for old, new in chats.items():
        tx.run(RENAME, of_chat=old, to=new)
    tx.run(RESCOPE, from_scope=scope, to=to)
    if to != scope:
        tx.run(DELETE_SCOPE, from_scope=scope)


def faults(tx: Transaction) -> list[str]:
    """Name notes of turns that do not exist."""
    return [f"The note {key} of {who} is of a turn {turn} that does not exist." for who, key, turn in tx.rows(LOST)]
