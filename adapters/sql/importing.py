"""What a person brings along from elsewhere: facts, their history, settings, and the line of a talk."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import bindparam, insert

from adapters.sql import archive, chats, facts, notes
from adapters.sql.database import Transaction
from adapters.sql.erasure import PARENTS
from adapters.sql.path import ADD_SEGMENT, SET_CHECKPOINT
from adapters.sql.rows import ANSWER_JSON, MESSAGES_JSON, ROUNDS_JSON, chat_key, person_key, to_body, to_micros
from adapters.sql.statement import Statement
from adapters.sql.tables import TURN
from core.conversation import Segment, State, Turn
from core.errors import StaleBase
from core.kept import storable
from core.messages import Person
from core.store import Brought
from core.terms import Terms

_GIVEN = ("chat", "sender", "parent", "state", "epoch", "at", "tokens", "failure", "messages", "rounds", "answer")
_BLANK = {"inside": False, "retry_of": None, "heavy": False, "chunk": 0, "preview": ""}
ADD = Statement(insert(TURN).values({name: bindparam(name) for name in _GIVEN} | _BLANK))
Ids = dict[int | None, int | None]


def bring_in(tx: Transaction, person: Person, brought: Brought, terms: Terms | None) -> None:
    """Store what a person brings along."""
    tx.hold(chat_key(brought.chat))
    for scope, past in brought.past.items():
        facts.record(tx, person, scope, past)
    for scope, changes in brought.changes.items():
        facts.apply(tx, person, scope, changes, None)
    for scope, noted in brought.notes.items():
        for note in noted:
            notes.add(tx, person, scope, note)
    if brought.settings is not None:
        facts.set_settings(tx, person, brought.settings)
    if brought.turns:
        _add_line(tx, brought, terms)


def _add_line(tx: Transaction, brought: Brought, terms: Terms | None) -> None:
    key = chat_key(brought.chat)
    if tx.rows(PARENTS, chat=key):
        raise StaleBase("The chat has turns of its own.")
    chats.ensure(tx, key)
    epoch, ids, head = chats.state_of(tx, key, "").epoch or 0, Ids({None: None}), None
    for turn in brought.turns:
        head = ids[turn.id] = _add_turn(tx, key, replace(turn, parent=head, epoch=epoch), terms)
    for segment in brought.segments:
        _add_segment(tx, key, segment, ids)
    tx.run(chats.MOVE_HEAD, of_chat=key, head=head, private=True, at=to_micros(brought.turns[-1].at))
    tx.cache.clear()


def _add_turn(tx: Transaction, chat: str, turn: Turn, terms: Terms | None) -> int:
    messages, said = to_body(MESSAGES_JSON, turn.messages)
    rounds, ran = to_body(ROUNDS_JSON, turn.rounds) if turn.rounds else ((), "[]")
    answer, answered = to_body(ANSWER_JSON, turn.answer) if turn.answer else (None, None)
    given = {"chat": chat, "sender": person_key(turn.sender), "parent": turn.parent, "state": turn.state.value}
    given |= {"epoch": turn.epoch, "at": to_micros(turn.at), "tokens": turn.tokens, "failure": turn.failure}
    id_ = tx.insert(ADD, messages=said, rounds=ran, answer=answered, **given)
    if turn.state is State.HEARD or answer is not None:
        archive.add(tx, chat, turn.changed(id=id_, messages=messages, rounds=rounds, answer=answer), terms)
    return id_


def _add_segment(tx: Transaction, chat: str, segment: Segment, ids: Ids) -> None:
    names = {"before": ids[segment.before], "last": ids[segment.last]}
    about = {"text": storable(segment.text), "tokens": segment.tokens, "turns": segment.turns}
    id_ = tx.insert(ADD_SEGMENT, chat=chat, made_by=segment.made_by, **names, **about)
    tx.run(SET_CHECKPOINT, turn=ids[segment.last], segment=id_)
