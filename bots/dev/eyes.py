"""What is new to who looks at a platform's test server: each thing is told once, and again when it has changed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable


class News:
    """Remembers what was told of each thing."""

    def __init__(self) -> None:
        self._told: dict[Hashable, str] = {}

    def told(self, key: Hashable, who: str, lines: Iterable[str]) -> str:
        """Tell a thing in these lines; empty when nothing is new about it."""
        text = "\n".join(lines)
        before, self._told[key] = self._told.get(key), text
        return "" if text == before else f"{who}{' (edited)' if before else ''}: {text}"

    def knows(self, key: Hashable) -> bool:
        """Tell whether a thing was told."""
        return key in self._told
