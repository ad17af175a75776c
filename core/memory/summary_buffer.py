"""The history that is raw up to a threshold and then folded into one summary of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from core.conversation import Conversation, Segment, Step
from core.memory import folding, progressive, summary, window
from core.memory.memory import Compaction, Memory
from core.memory.progressive import Form, shipped_form
from core.prompt import Prompt


@dataclass(frozen=True, slots=True)
class BufferLimits:
    """The threshold in tokens and in turns (None: any number), whichever is passed first; `keep` turns stay raw."""

    tokens: int = 2000
    turns: int | None = None
    keep: int = 2

    def within(self, budget: int) -> BufferLimits:
        """Give a threshold that suits a prompt of `budget` tokens: the raw turns take at most half of it."""
        return BufferLimits(min(self.tokens, budget // 2), self.turns, self.keep)


class SummaryBuffer(Memory):
    """Shows one summary and the raw turns since. Past the threshold the old summary and the turns become the new one.

    The summary holds at most `size` tokens. `form` is how the model is asked for it; by default in English.
    """

    is_history = True

    def __init__(self, form: Form | None = None, limits: BufferLimits = BufferLimits(), size: int = 600) -> None:
        self.form = form or shipped_form()
        self.limits = limits
        self.size = size

    async def recall(self, conversation: Conversation, prompt: Prompt) -> None:
        """Show the path: the summary where turns are folded, raw turns where they are not."""
        prompt.show(conversation.path)

    def due(self, conversation: Conversation, budget: int) -> bool:
        """Say whether the threshold is passed, or a segment was made without a model."""
        limits, turns = self.limits.within(budget), conversation.turns
        over = limits.turns is not None and len(turns) > limits.turns
        return over or sum(t.tokens for t in turns) > limits.tokens or any(map(_is_extract, conversation.path))

    async def compact(self, conversation: Conversation, work: Compaction) -> None:
        """Fold, as much as goes into one request at a time, until no more than the turns to keep are raw."""
        while (work.low or self.due(conversation, work.budget)) and (covers := self._covers(conversation, work)):
            earlier = covers[0].text if _is_summary(covers[0]) else ""
            lines = await self._lines(covers[1:] if earlier else covers, work)
            size = self._size(work)
            text = await progressive.progress(self.form, earlier, lines, work.llm, work.counter, tokens=size)
            conversation = await folding.commit(conversation, covers, text, "model", work)

    def _covers(self, conversation: Conversation, work: Compaction) -> Sequence[Step]:
        """Choose what becomes the next summary: the old one, and as many of the oldest steps as one request takes."""
        most = progressive.room(self.form, work.llm, work.counter, self._size(work))
        for run in window.parted(self._foldable(conversation, work), conversation.asides):
            old = int(_is_summary(run[0]))
            if len(run) > old:
                return [*run[:old], *window.first_part(run[old:], most)]
        return ()

    def _foldable(self, conversation: Conversation, work: Compaction) -> Sequence[Step]:
        limits = self.limits.within(work.budget)
        run = window.settled(conversation.path)
        newest = work.budget // 2 if limits.keep else 0
        return run[: len(run) - window.staying(run, limits.keep, limits.tokens // 2, newest)]

    async def _lines(self, steps: Sequence[Step], work: Compaction) -> list[str]:
        """Write what is new; what stands in a segment made without a model is taken from its raw turns."""
        lines: list[str] = []
        for step in steps:
            lines += summary.transcript(await work.store.covered(step) if _is_extract(step) else [step])
        return lines

    def _size(self, work: Compaction) -> int:
        return min(self.size, work.budget // 6)

    async def squeeze(self, conversation: Conversation, work: Compaction, excess: int) -> Conversation:
        """Fold the oldest turns without a model; a job makes the summary anew later."""
        return await folding.squeeze(conversation, work, excess, self._size(work) // 2)


def _is_extract(step: Step) -> TypeGuard[Segment]:
    return isinstance(step, Segment) and step.made_by == "extract"


def _is_summary(step: Step) -> TypeGuard[Segment]:
    return isinstance(step, Segment) and step.made_by != "extract"


class Summary(SummaryBuffer):
    """Shows one summary of all that was said: after every turn the old summary and the turn become the new one."""

    def __init__(self, form: Form | None = None, size: int = 600) -> None:
        super().__init__(form, BufferLimits(turns=0, keep=0), size)
