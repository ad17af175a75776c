"""What a person brings along from elsewhere: facts, their history, settings, and a talk."""

from __future__ import annotations

import json
from collections.abc import Mapping

from adapters.sql import branches, chats, facts, notes
from adapters.sql.database import Transaction
from adapters.sql.erasure import PARENTS
from adapters.sql.path import ADD_SEGMENT, SET_CHECKPOINT
from adapters.sql.rows import chat_key, to_micros
from core.conversation import Segment
from core.errors import StaleBase
from core.kept import storable
from core.messages import Person
from core.records import Brought
from core.search.terms import Terms

Ids = Mapping[int | None, int | None]


def bring_in(tx: Transaction, person: Person, brought: Brought, terms: Terms | None) -> None:
    """Store what a person brings along."""
    tx.hold(chat_key(brought.chat))
    for scope, past in brought.past.items():
        facts.record(tx, person, scope, past)
    for scope, changes in brought.changes.items():
        facts.apply(tx, person, scope, changes)
    for scope, noted in brought.notes.items():
        for note in noted:
            notes.add(tx, person, scope, note)
    if brought.settings is not None:
        facts.set_settings(tx, person, brought.settings)
    if brought.turns:
        _add_talk(tx, brought, terms)


def _add_talk(tx: Transaction, brought: Brought, terms: Terms | None) -> None:
    key = chat_key(brought.chat)
    if tx.rows(PARENTS, chat=key):
        raise StaleBase("The chat has turns of its own.")
    added = branches.add_turns(tx, brought.chat, brought.turns, None, terms)
    ids: Ids = {None: None} | {old.id: new.id for old, new in zip(brought.turns, added, strict=True)}
    for segment in brought.segments:
        _add_segment(tx, key, segment, ids)
    head, asides = ids[brought.head], json.dumps([ids[turn] for turn in brought.asides])
    latest = to_micros(max(turn.at for turn in added))
    tx.run(chats.MOVE_HEAD, of_chat=key, head=head, private=True, at=latest)
    tx.run(chats.SET_ASIDES, of_chat=key, asides=asides)
    tx.cache.clear()


def _add_segment(tx: Transaction, chat: str, segment: Segment, ids: Ids) -> None:
    names = {"before": ids[segment.before], "last": ids[segment.last]}
    about = {"text": storable(segment.text), "tokens": segment.tokens, "turns": segment.turns}
    id_ = tx.insert(ADD_SEGMENT, chat=chat, made_by=segment.made_by, **names, **about)
    tx.run(SET_CHECKPOINT, turn=ids[segment.last], segment=id_)
