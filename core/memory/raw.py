"""What histories without a summary share: they show some of the path, and write nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.conversation import Conversation, Step, Turn
from core.fitting import LEAST, short_step
from core.llm import TokenCounter
from core.memory.memory import Compaction, Memory
from core.prompt import Prompt, turn_cost


class RawHistory(Memory):
    """Shows turns raw. Where another kind of history has folded some, the segment stands for them, as one step.

    The log is the same for every kind of history: what is not shown is kept, and another kind shows it again.
    """

    is_history = True

    def shown(self, conversation: Conversation, counter: TokenCounter) -> Sequence[Step]:  # noqa: ARG002 -- all of it
        """Choose the steps of the path that are shown, oldest first."""
        return conversation.path

    async def recall(self, conversation: Conversation, prompt: Prompt) -> None:
        """Show the chosen steps."""
        prompt.show(self.shown(conversation, prompt.counter))

    async def squeeze(self, conversation: Conversation, work: Compaction, excess: int) -> Conversation:
        """Leave the oldest steps out of this one prompt; what is left of the last is shortened with a mark."""
        steps = self.shown(conversation, work.counter)
        return replace(conversation, path=tuple(freed(steps, excess, conversation, work.counter)))


def freed(steps: Sequence[Step], excess: int, conversation: Conversation, counter: TokenCounter) -> Sequence[Step]:
    """Give the newest steps, without at least `excess` tokens as far as that goes; the newest is only shortened."""
    for first, step in enumerate(steps):
        if excess <= 0:
            return steps[first:]
        size = step_cost(step, conversation, counter)
        if first == len(steps) - 1:
            return [short_step(step, max(size - excess, LEAST), counter)]
        excess -= size
    return steps


def step_cost(step: Step, conversation: Conversation, counter: TokenCounter) -> int:
    """Count what a step costs in a prompt; where there were edits, turns are counted anew."""
    if conversation.edition and isinstance(step, Turn):
        return turn_cost(step, counter)
    return step.tokens
