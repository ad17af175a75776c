"""The history that shows all turns."""

from __future__ import annotations

from core.memory.raw import RawHistory


class Buffer(RawHistory):
    """Shows every turn, and is only added to. What a prompt has no room for is left out of it, the oldest first."""
