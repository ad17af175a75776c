"""Checking that what is stored holds together; each fault is one sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic import ValidationError
from sqlalchemy import bindparam, select

from adapters.sql import archive, notes
from adapters.sql.database import Transaction
from adapters.sql.erasure import PARENTS, SEGMENTS
from adapters.sql.rows import FACT_JSON, TURN_COLUMNS, to_segment, to_turn
from adapters.sql.statement import Statement
from adapters.sql.tables import CHAT, FACT, INBOX, TURN
from core.conversation import Segment
from core.kept import chain, misplaced

Parents = dict[int, int | None]

CHATS = Statement(select(CHAT.c.key, CHAT.c.head, CHAT.c.asides).order_by(CHAT.c.key))
CHECKPOINTS = Statement(
    select(TURN.c.id, TURN.c.checkpoint).where(TURN.c.chat == bindparam("chat"), TURN.c.checkpoint.is_not(None))
)
TURNS = Statement(select(*TURN_COLUMNS).where(TURN.c.chat == bindparam("chat")).order_by(TURN.c.id))
LOST_TAKERS = Statement(
    select(INBOX.c.chat, INBOX.c.message, INBOX.c.turn)
    .outerjoin(TURN, TURN.c.id == INBOX.c.turn)
    .where(INBOX.c.turn.is_not(None), TURN.c.id.is_(None))
)
FACTS = Statement(select(FACT.c.person, FACT.c.scope, FACT.c.key, FACT.c.body))


def verify(tx: Transaction) -> list[str]:
    """Check everything."""
    faults = [*tx.damage(), *_lost_takers(tx), *_broken_facts(tx), *archive.strays(tx), *notes.faults(tx)]
    for chat, head, asides in tx.rows(CHATS):
        faults += _faults_of(tx, chat, head, json.loads(asides))
    return faults


def _lost_takers(tx: Transaction) -> Iterator[str]:
    for chat, message, turn in tx.rows(LOST_TAKERS):
        yield f"The turn {turn} that took message {message} of {chat} does not exist."


def _broken_facts(tx: Transaction) -> Iterator[str]:
    for person, scope, key, body in tx.rows(FACTS):
        if not _is_fact(key, body):
            yield f"The fact {key} of {person} in {scope} can't be read."


def _is_fact(key: str, body: str) -> bool:
    try:
        fact = FACT_JSON.validate_json(body)
    except ValidationError:
        return False
    return bool(fact.items) and fact.key == key


def _faults_of(tx: Transaction, chat: str, head: int | None, asides: list[int | None]) -> Iterator[str]:
    parents: Parents = dict(tx.rows(PARENTS, chat=chat))
    segments = [to_segment(row) for row in tx.rows(SEGMENTS, chat=chat)]
    checkpoints: dict[int, int] = dict(tx.rows(CHECKPOINTS, chat=chat))
    lost = [f"Turn {turn} of {chat} has a parent that is not an older turn there." for turn in _lost(parents)]
    yield from lost
    yield from _broken_turns(tx, chat)
    yield from archive.faults(tx, chat, parents)
    if head is not None and head not in parents:
        yield f"The head {head} of {chat} does not exist."
    elif not lost:  # a walk ends only where every parent is older
        broken = list(_broken_segments(chat, parents, segments))
        yield from broken or _uncovered(chat, head, parents, segments, checkpoints)
        if misplaced(asides, parents, head):
            yield f"An open aside of {chat} was not begun on the way to its head."
        yield from _wrong_checkpoints(chat, segments, checkpoints)


def _lost(parents: Parents) -> list[int]:
    return [
        turn for turn, parent in parents.items() if parent is not None and not (parent in parents and parent < turn)
    ]


def _broken_turns(tx: Transaction, chat: str) -> Iterator[str]:
    for row in tx.rows(TURNS, chat=chat):
        try:
            rounds = to_turn(row).rounds
        except (ValidationError, ValueError):
            yield f"Turn {row[0]} of {chat} can't be read."
            continue
        if any([call.id for call in r.calls] != [result.call_id for result in r.results] for r in rounds):
            yield f"A tool round of turn {row[0]} of {chat} has calls without their results."


def _broken_segments(chat: str, parents: Parents, segments: list[Segment]) -> Iterator[str]:
    for s in segments:
        whole = s.before is None or s.before in chain(parents, s.last, None)
        if not whole or sum(1 for _ in chain(parents, s.last, s.before)) != s.turns:
            yield f"Segment {s.id} of {chat} does not cover the turns it says."


def _wrong_checkpoints(chat: str, segments: list[Segment], checkpoints: dict[int, int]) -> Iterator[str]:
    newest = {s.last: s.id for s in sorted(segments, key=lambda s: s.id)}
    for turn in sorted(newest.keys() | checkpoints.keys()):
        if newest.get(turn) != checkpoints.get(turn):
            yield f"The checkpoint of turn {turn} of {chat} is not the newest segment ending there."


def _uncovered(
    chat: str, head: int | None, parents: Parents, segments: list[Segment], checkpoints: dict[int, int]
) -> Iterator[str]:
    by_id = {s.id: s for s in segments}
    shown: list[int] = []
    turn = head
    while turn is not None:
        segment = by_id.get(checkpoints.get(turn, 0))
        before = segment.before if segment else parents[turn]
        shown += chain(parents, turn, before)
        turn = before
    if shown != list(chain(parents, head, None)):
        yield f"Not every turn of {chat} is shown or summarised exactly once."
