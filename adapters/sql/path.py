"""The path of a conversation: walking from the head to the root, from checkpoint to checkpoint, and folding it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import CTE, ColumnElement, Select, and_, bindparam, case, insert, select, update

from adapters.sql.cache import fold
from adapters.sql.database import Row, Transaction
from adapters.sql.rows import SEGMENT_COLUMNS, TURN_COLUMNS, chat_key, to_segment, to_turn
from adapters.sql.statement import Statement
from adapters.sql.tables import CHAT, SEGMENT, TURN
from core.conversation import Segment, Step, Turn
from core.errors import StaleBase
from core.kept import storable
from core.messages import ChatKey


def _walk() -> CTE:
    """Walk from the turn `last` back to `before` (0 for the root), where a checkpoint stands for its whole range.

    A parent is always older than its child; asking for that ends the walk even in a damaged database.
    """
    turn, segment = TURN.alias("t"), SEGMENT.alias("s")
    previous: ColumnElement[Any] = case((segment.c.id.is_not(None), segment.c.before), else_=turn.c.parent)
    step: Select[Any] = select(turn.c.id.label("turn"), segment.c.id.label("segment"), previous.label("previous"))
    step = step.select_from(turn.outerjoin(segment, segment.c.id == turn.c.checkpoint))
    walk = step.where(turn.c.id == bindparam("last")).cte("walk", recursive=True)
    onwards = and_(turn.c.id == walk.c.previous, walk.c.previous < walk.c.turn, turn.c.id != bindparam("before"))
    return walk.union_all(step.join(walk, onwards))


def _chain() -> CTE:
    turn = TURN.alias("t")
    chain = select(turn.c.id, turn.c.parent).where(turn.c.id == bindparam("last")).cte("chain", recursive=True)
    onwards = and_(turn.c.id == chain.c.parent, turn.c.id < chain.c.id, turn.c.id != bindparam("before"))
    return chain.union_all(select(turn.c.id, turn.c.parent).join(chain, onwards))


def _steps(walk: CTE) -> Select[Any]:
    raw = and_(TURN.c.id == walk.c.turn, walk.c.segment.is_(None))
    joined = walk.outerjoin(TURN, raw).outerjoin(SEGMENT, SEGMENT.c.id == walk.c.segment)
    return select(*SEGMENT_COLUMNS, *TURN_COLUMNS).select_from(joined).order_by(walk.c.turn)


def _raw_turns(chain: CTE) -> Select[Any]:
    return select(*TURN_COLUMNS).join(chain, chain.c.id == TURN.c.id).order_by(TURN.c.id)


STEPS = Statement(_steps(_walk()))
RAW_TURNS = Statement(_raw_turns(_chain()))
EDITION = Statement(select(CHAT.c.edition).where(CHAT.c.key == bindparam("chat")))
TURN_CHAT = Statement(select(TURN.c.chat).where(TURN.c.id == bindparam("turn")))
SEGMENT_BY_ID = Statement(select(*SEGMENT_COLUMNS).where(SEGMENT.c.id == bindparam("segment")))
ADD_SEGMENT = Statement(insert(SEGMENT).values({c: bindparam(c.name) for c in SEGMENT.c if c.name != "id"}))
SET_CHECKPOINT = Statement(update(TURN).where(TURN.c.id == bindparam("turn")).values(checkpoint=bindparam("segment")))


def read_steps(tx: Transaction, last: int | None, before: int | None = None) -> list[Step]:
    """Read the steps that lead from after `before` to `last`."""
    if last is None or last == before:
        return []
    return [_step(row) for row in tx.rows(STEPS, last=last, before=before or 0)]


def _step(row: Row) -> Step:
    width = len(SEGMENT_COLUMNS)
    return to_turn(row[width:]) if row[0] is None else to_segment(row[:width])


def steps_of(tx: Transaction, chat: str, head: int | None) -> list[Step]:
    """Give the steps from root to head, from the cache when they are there."""
    steps = tx.cache.paths.get(chat)
    if steps is None:
        steps = read_steps(tx, head)
        tx.cache.paths.put(chat, steps)
    return steps


def covered(tx: Transaction, segment: Segment) -> list[Turn]:
    """Read the raw turns beneath a segment; none when it is gone."""
    row = tx.row(SEGMENT_BY_ID, segment=segment.id)
    if row is None:
        return []
    stored = to_segment(row)
    return [to_turn(turn) for turn in tx.rows(RAW_TURNS, last=stored.last, before=stored.before or 0)]


def add_segment(tx: Transaction, chat: ChatKey, segment: Segment, covers: Sequence[Step], edition: int) -> Segment:
    """Store a segment if what it was made from is still so."""
    key = chat_key(chat)
    if tx.value(EDITION, chat=key) != edition or tx.value(TURN_CHAT, turn=segment.last) != key:
        raise StaleBase("The chat was edited since the summary began.")
    steps = read_steps(tx, segment.last, segment.before)
    if not steps or _names(steps) != _names(covers) or steps[0].before != segment.before:
        raise StaleBase("The chat was folded otherwise since the summary began.")
    return _store(tx, key, storable(segment), steps)


def _store(tx: Transaction, chat: str, segment: Segment, steps: list[Step]) -> Segment:
    turns = sum(step.turns if isinstance(step, Segment) else 1 for step in steps)
    id_ = tx.insert(
        ADD_SEGMENT,
        chat=chat,
        before=segment.before,
        last=segment.last,
        text=segment.text,
        tokens=segment.tokens,
        turns=turns,
        made_by=segment.made_by,
    )
    tx.run(SET_CHECKPOINT, turn=segment.last, segment=id_)
    stored = replace(segment, id=id_, turns=turns)
    tx.cache.change(chat, fold(steps, stored))
    return stored


def _names(steps: Sequence[Step]) -> list[tuple[type[Step], int]]:
    return [(type(step), step.id) for step in steps]
