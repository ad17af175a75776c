"""Time zones by their IANA names."""

from __future__ import annotations

from datetime import UTC, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from core.conversation import Conversation


def zone_of(name: str) -> tzinfo | None:
    """Give the time zone of an IANA name, None when there is none of that name."""
    try:
        return ZoneInfo(name) if name else None
    except (OSError, ValueError, LookupError):
        return None


def zone_here(conversation: Conversation, other: tzinfo = UTC) -> tzinfo:
    """Give the time zone of the asking person: the one they chose, else the one they told, else another."""
    told = str(conversation.profile.get("time_zone", ""))
    return zone_of(conversation.settings.zone) or zone_of(told) or other
