"""Folds turns into segments: commits a gist made by a model, or makes one without when a prompt can't fit otherwise."""

from __future__ import annotations

from collections.abc import Sequence

from core.conversation import Conversation, MadeBy, Segment, State, Step
from core.errors import StaleBase
from core.memory import summary, window
from core.memory.memory import Compaction
from core.prompt import segment_cost


async def squeeze(conversation: Conversation, work: Compaction, excess: int, size: int) -> Conversation:
    """Fold the oldest turns, then merge segments, without a model; a job makes them anew later.

    A segment holds at most `size` tokens. More is folded than has to be, so that it need not be done again at the next
    turn.
    """
    walls = conversation.asides
    while excess > 0 and (run := window.foldable(conversation.path, turns=0, tokens=0, walls=walls)):
        run = window.enough(run, excess + size + work.budget // 8)
        text = summary.extract(run, work.counter, _extract_size(run, size))
        folded = await commit(conversation, run, text, "extract", work)
        freed = _cost(conversation) - _cost(folded)
        if folded.path == conversation.path:
            break
        excess, conversation = excess - freed, folded
    segments = mergeable(conversation)
    if excess > 0 and segments:
        text = summary.extract_merge(segments, work.counter, size)
        conversation = await commit(conversation, segments, text, "extract", work)
    return conversation


def _extract_size(run: Sequence[Step], most: int) -> int:
    return min(most, max(sum(t.tokens for t in run) // 4, 8))


def mergeable(conversation: Conversation) -> list[Segment]:
    """Give the first of the segments before the first raw turn that can become one; none, or at least two."""
    run: list[Segment] = []
    for step in conversation.path:
        if not isinstance(step, Segment):
            break
        run.append(step)
    return next((part for part in window.parted(run, conversation.asides) if len(part) > 1), [])


def _cost(conversation: Conversation) -> int:
    """What the path costs without the turn being answered, which a snapshot may hold or not."""
    return sum(s.tokens for s in conversation.path if isinstance(s, Segment) or s.state is not State.RECEIVED)


async def commit(
    conversation: Conversation, covers: Sequence[Step], text: str, made_by: MadeBy, work: Compaction
) -> Conversation:
    """Store a segment for steps of a conversation; give the conversation as it is then. Raises StaleBase."""
    segment = Segment(
        0,
        covers[0].before,
        covers[-1].last,
        text,
        segment_cost(text, work.counter),
        sum(s.turns if isinstance(s, Segment) else 1 for s in covers),
        made_by,
    )
    try:
        await work.store.add_segment(conversation.chat, segment, covers=covers, edition=conversation.edition)
    except StaleBase:
        if made_by != "extract":
            raise
    return await work.store.load(conversation.chat, conversation.person, private=conversation.private)
