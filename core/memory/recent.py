"""The histories that show the newest turns: so many of them, or as many as fit so many tokens."""

from __future__ import annotations

from collections.abc import Sequence

from core.conversation import Conversation, Step
from core.fitting import short_step
from core.llm import TokenCounter
from core.memory.raw import RawHistory, step_cost


class Window(RawHistory):
    """Shows the last `turns` turns."""

    def __init__(self, turns: int = 20) -> None:
        self.turns = turns

    def shown(self, conversation: Conversation, counter: TokenCounter) -> Sequence[Step]:  # noqa: ARG002 -- only counts
        """Choose the last steps."""
        path = conversation.path
        return path[max(len(path) - self.turns, 0) :]


class TokenWindow(RawHistory):
    """Shows the newest turns that cost at most `tokens` together; one larger than that is shortened with a mark."""

    def __init__(self, tokens: int = 3000) -> None:
        self.tokens = tokens

    def shown(self, conversation: Conversation, counter: TokenCounter) -> Sequence[Step]:
        """Choose the newest steps that fit."""
        path = conversation.path
        first, spent = len(path), 0
        while first > 0 and (spent := spent + step_cost(path[first - 1], conversation, counter)) <= self.tokens:
            first -= 1
        if path and first == len(path):
            return [short_step(path[-1], self.tokens, counter)]
        return path[first:]
