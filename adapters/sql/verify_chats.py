"""Checking chats: that their turns are a tree that is whole, each shown or summarised once on the way to the head."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from sqlalchemy import bindparam, select

from adapters.sql import archive
from adapters.sql.database import Row, Transaction
from adapters.sql.erasure import PARENTS, SEGMENTS
from adapters.sql.rows import TURN_COLUMNS, to_segment, to_turn
from adapters.sql.statement import Statement
from adapters.sql.tables import CHAT, TURN
from core.conversation import Segment, State, Turn
from core.kept import Ranges, chain, misplaced

Parents = dict[int, int | None]

CHATS = Statement(select(CHAT.c.key, CHAT.c.head, CHAT.c.asides, CHAT.c.epoch).order_by(CHAT.c.key))
CHECKPOINTS = Statement(
    select(TURN.c.id, TURN.c.checkpoint).where(TURN.c.chat == bindparam("chat"), TURN.c.checkpoint.is_not(None))
)
TURNS = Statement(select(TURN.c.sender, *TURN_COLUMNS).where(TURN.c.chat == bindparam("chat")).order_by(TURN.c.id))


def faults(tx: Transaction) -> Iterator[str]:
    """Check every chat."""
    for chat, head, asides, epoch in tx.rows(CHATS):
        yield from _faults_of(tx, chat, head, json.loads(asides))
        yield from _turns(tx.rows(TURNS, chat=chat), chat, epoch)


def _faults_of(tx: Transaction, chat: str, head: int | None, asides: list[int | None]) -> Iterator[str]:
    parents: Parents = dict(tx.rows(PARENTS, chat=chat))
    segments = [to_segment(row) for row in tx.rows(SEGMENTS, chat=chat)]
    checkpoints: dict[int, int] = dict(tx.rows(CHECKPOINTS, chat=chat))
    lost = [f"Turn {turn} of {chat} has a parent that is not an older turn there." for turn in _lost(parents)]
    yield from lost
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


def _turns(rows: Iterable[Row], chat: str, epoch: int) -> Iterator[str]:
    """Check what stands in the turns of a chat: each message is in one of them, or in those that answer it anew."""
    answering: dict[str, int] = {}
    known: set[int] = set()
    for sender, *row in rows:
        try:
            turn = to_turn(row)
        except ValueError:
            yield f"Turn {row[0]} of {chat} can't be read."
            continue
        known.add(turn.id)
        if any(str(m.chat) != chat for m in turn.messages):
            yield f"What was said in turn {turn.id} of {chat} was said in another chat."
        first = turn.retry_of or turn.id
        yield from _broken(turn, f"turn {turn.id} of {chat}", sender, epoch)
        if first not in known:
            yield f"Turn {turn.id} of {chat} answers anew what turn {first} said, which does not exist there."
        for message in turn.messages:
            if answering.setdefault(message.id, first) != first:
                yield f"Message {message.id} of {chat} is in the turns {answering[message.id]} and {turn.id}."


def _broken(turn: Turn, which: str, sender: str, epoch: int) -> Iterator[str]:
    if any(str(m.sender) != sender for m in turn.messages):
        yield f"What was said in {which} was said by another person."
    if any([call.id for call in r.calls] != [result.call_id for result in r.results] for r in turn.rounds):
        yield f"A tool round of {which} has calls without their results, or results without calls."
    if turn.answer is None and (turn.state is State.ANSWERED or turn.chunk):
        yield f"There is no answer in {which}, though it was answered."
    if turn.epoch > epoch:
        yield f"The epoch of {which} has not come yet."


def _broken_segments(chat: str, parents: Parents, segments: list[Segment]) -> Iterator[str]:
    covered = Ranges(parents).length
    for s in segments:
        if s.last not in parents or covered(s.before, s.last) != s.turns:
            yield f"Segment {s.id} of {chat} does not cover the turns it says."
        if not s.text.strip():
            yield f"Segment {s.id} of {chat} says nothing of the turns it stands for."


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
