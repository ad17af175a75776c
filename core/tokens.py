"""A token counter that remembers its recent counts: persona, rules and facts are counted on every turn."""

from __future__ import annotations

from core.llm import TokenCounter


class RecentCounter:
    """Counts as another counter does, remembering the last `size` texts of up to `longest` characters."""

    def __init__(self, counter: TokenCounter, size: int = 1000, longest: int = 20_000) -> None:
        self._counter = counter
        self._size = size
        self._longest = longest
        self._known: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        known = self._known.get(text)
        if known is None:
            known = self._counter.count(text)
            if len(text) <= self._longest:
                self._remember(text, known)
        return known

    def _remember(self, text: str, count: int) -> None:
        if len(self._known) >= self._size:
            del self._known[next(iter(self._known))]
        self._known[text] = count
