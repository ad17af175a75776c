"""The history that remembers nothing."""

from __future__ import annotations

from collections.abc import Sequence

from core.conversation import Conversation, Step
from core.llm import TokenCounter
from core.memory.raw import RawHistory


class NoHistory(RawHistory):
    """Shows nothing of what was said before. What is said is kept all the same, for another kind to show."""

    def shown(self, conversation: Conversation, counter: TokenCounter) -> Sequence[Step]:  # noqa: ARG002 -- none of it
        """Choose nothing."""
        return ()
