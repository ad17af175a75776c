"""Time zones by their IANA names."""

from __future__ import annotations

from datetime import tzinfo
from zoneinfo import ZoneInfo


def zone_of(name: str) -> tzinfo | None:
    """Give the time zone of an IANA name, None when there is none of that name."""
    try:
        return ZoneInfo(name) if name else None
    except (OSError, ValueError, LookupError):
        return None
