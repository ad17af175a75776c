"""A token counter that remembers its recent counts: persona, rules and facts are counted on every turn."""

from __future__ import annotations

from core.llm import TokenCounter


class RecentCounter:
    """Counts as another counter does, remembering the counts of the last `size` texts, though not the texts."""

    def __init__(self, counter: TokenCounter, size: int = 2000) -> None:
        self._counter = counter
        self._size = size
        self._known: dict[tuple[int, int], int] = {}

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        key = (hash(text), len(text))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._counter.count(text)
            if len(self._known) > self._size:
                del self._known[next(iter(self._known))]
        return known

    def calibrate(self, estimated: int, reported: int) -> None:
        """Pass on what a server reported when it is more than a tenth off; then nothing counted before holds."""
        if 10 * abs(reported - estimated) > estimated:
            self._counter.calibrate(estimated, reported)
            self._known.clear()
