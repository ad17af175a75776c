"""What goes when its time is over."""

from __future__ import annotations

from datetime import datetime

from adapters.sql import buttons, inbox, links, pairing
from adapters.sql.database import Transaction


def expire(tx: Transaction, now: datetime, keep_days: float) -> int:
    """Drop old bare keys and whatever has a term of its own; how many keys."""
    buttons.expire(tx, now)
    pairing.expire(tx, now)
    links.expire(tx, now)
    return inbox.expire(tx, now, keep_days)
