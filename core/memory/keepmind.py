"""The default history: a window of raw turns, and segments that stand for the older ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.conversation import Conversation, Segment, Step
from core.memory import folding, summary, window
from core.memory.memory import Compaction, Memory
from core.memory.window import WindowLimits
from core.prompt import Prompt


@dataclass(frozen=True, slots=True)
class SummaryLimits:
    """A segment holds at most `segment_tokens`; segments that cost more than `merge_tokens` together become one."""

    segment_tokens: int = 300
    merge_tokens: int = 2400

    def within(self, budget: int) -> SummaryLimits:
        """Give sizes that suit a prompt of `budget` tokens: the segments take at most a quarter of it."""
        return SummaryLimits(min(self.segment_tokens, budget // 12), min(self.merge_tokens, budget // 4))


class Keepmind(Memory):
    """Shows every turn from the root to the head exactly once: raw, or through its segment."""

    is_history = True

    def __init__(self, limits: WindowLimits = WindowLimits(), sizes: SummaryLimits = SummaryLimits()) -> None:  # noqa: B008 -- frozen
        self.limits = limits
        self.sizes = sizes

    async def recall(self, conversation: Conversation, prompt: Prompt) -> None:
        """Show the path: segments where turns are folded, raw turns where they are not."""
        prompt.show(conversation.path)

    def due(self, conversation: Conversation, budget: int) -> bool:
        """Say whether the window has passed its high-water mark, or a segment waits to be made again."""
        redo = any(s.made_by == "extract" for s in conversation.segments)
        return redo or self._is_over(conversation, budget)

    def _is_over(self, conversation: Conversation, budget: int) -> bool:
        over = window.is_over(conversation.turns, self.limits.within(budget))
        return over or window.has_hole(conversation.path)

    async def compact(self, conversation: Conversation, work: Compaction) -> None:
        """Redo segments made without a model, fold turns down to the low-water mark, merge segments."""
        for segment in conversation.segments:
            if segment.made_by == "extract":
                conversation = await self._redo(conversation, segment, work)
        if self._wanted(conversation, work):
            goal = max((step.last for step in self._foldable(conversation, work)), default=0)
            while (run := self._next_run(conversation, work)) and run[0].last <= goal:
                run = [step for step in run if step.last <= goal]
                text = await self._gist(run, work)
                conversation = await folding.commit(conversation, run, text, "model", work)
        if sum(s.tokens for s in conversation.segments) > self.sizes.within(work.budget).merge_tokens:
            await self._merge(conversation, work)

    def _wanted(self, conversation: Conversation, work: Compaction) -> bool:
        grown = work.idle and len(conversation.turns) > 2 * self.limits.idle_turns
        return grown or work.low or self._is_over(conversation, work.budget)

    def _next_run(self, conversation: Conversation, work: Compaction) -> list[Step]:
        run = self._foldable(conversation, work)
        room = summary.input_budget(work.llm, self._size(work))
        return window.first_part(run, room) if run else []

    def _foldable(self, conversation: Conversation, work: Compaction) -> list[Step]:
        limits, walls = self.limits.within(work.budget), conversation.asides
        turns, tokens = limits.idle_turns if work.idle else limits.low_turns, limits.low_tokens
        return window.foldable(conversation.path, turns=turns, tokens=tokens, newest=work.budget // 2, walls=walls)

    async def _gist(self, turns: Sequence[Step], work: Compaction) -> str:
        texts = summary.transcript(turns)
        return await summary.summarise(texts, work.llm, work.counter, tokens=self._size(work))

    def _size(self, work: Compaction) -> int:
        return self.sizes.within(work.budget).segment_tokens

    async def _redo(self, conversation: Conversation, segment: Segment, work: Compaction) -> Conversation:
        turns = await work.store.covered(segment)
        text = await self._gist(turns, work)
        return await folding.commit(conversation, [segment], text, "model", work)

    async def _merge(self, conversation: Conversation, work: Compaction) -> None:
        if run := folding.mergeable(conversation):
            text = await summary.merge(run, work.llm, work.counter, tokens=2 * self._size(work))
            await folding.commit(conversation, run, text, "model", work)

    async def squeeze(self, conversation: Conversation, work: Compaction, excess: int) -> Conversation:
        """Fold the oldest turns, then merge segments, without a model; a job makes them anew later."""
        return await folding.squeeze(conversation, work, excess, self._size(work))
