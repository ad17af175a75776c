"""The history that is a tree of topics: what is shown is where we are, what lies before it, and what it lies in."""

from __future__ import annotations

from collections.abc import Sequence

from core.conversation import Conversation, Step
from core.fitting import short_step
from core.llm import TokenCounter
from core.memory.raw import RawHistory, step_cost


class Tree(RawHistory):
    """Shows the turns related to the newest: those that its topics lie in, and those before each of these.

    `/aside` begins a topic inside the newest turn, `/back` leads out of it. At most `tokens` are shown: what the open
    topics lie in comes first, then the newest turns. One larger than all of it is shortened with a mark.
    """

    def __init__(self, tokens: int = 3000) -> None:
        self.tokens = tokens

    def shown(self, conversation: Conversation, counter: TokenCounter) -> Sequence[Step]:
        """Choose the related turns that fit."""
        path = conversation.path
        around = [step for step in reversed(path) if step.last in conversation.asides]
        newest = [step for step in reversed(path) if step.last not in conversation.asides]
        left, kept = self.tokens, set[int]()
        for step in (*around, *newest):
            left -= step_cost(step, conversation, counter)
            if left < 0:
                break
            kept.add(step.last)
        if path and not kept:
            return [short_step(path[-1], self.tokens, counter)]
        return [step for step in path if step.last in kept]
