"""What goes when its time is over."""

from __future__ import annotations

from datetime import date, datetime

from adapters.sql import buttons, inbox, links, pairing, usage
from adapters.sql.database import Transaction


def expire(tx: Transaction, now: datetime, keep_days: float, spent_since: date) -> int:
    """Drop old bare keys and whatever has a term of its own; how many keys."""
    buttons.expire(tx, now)
    pairing.expire(tx, now)
    links.expire(tx, now)
    usage.expire(tx, spent_since)
    return inbox.expire(tx, now, keep_days)
