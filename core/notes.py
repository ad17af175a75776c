"""Notes: what memories of an operator's own keep about a person, where export and erasure reach it."""

from __future__ import annotations

from dataclasses import dataclass

MOST_NOTES = 200
"""How many notes one memory keeps about a person in a scope."""
LONGEST_KEY = 200
"""Most characters of a key."""


@dataclass(frozen=True, slots=True)
class Note:
    """What the memory `memory` (`module:Class`) keeps under a key; `chat` and `turn` are where it was said."""

    memory: str
    key: str
    text: str
    chat: str
    turn: int | None = None
