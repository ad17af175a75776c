"""How much is stored, and what went on day by day: in words, with small charts."""

from __future__ import annotations

from collections.abc import Sequence

from core.records import Day, Stats
from core.translation import marked, spoken

STORED = {
    "chats": marked("chats"),
    "people": marked("people"),
    "turns": marked("turns"),
    "open_turns": marked("open turns"),
    "segments": marked("segments"),
    "facts": marked("facts"),
    "jobs": marked("jobs"),
}
"""What the fields of Stats count."""
DAILY = {
    "turns": marked("turns"),
    "answered": marked("answers"),
    "failed": marked("failures"),
    "tokens": marked("tokens said"),
    "people": marked("people"),
}
"""What the fields of Day count."""
DISTINCT = {"people"}
"""What adds up to no number of its own."""
BY_DAY = marked("{what} by day: {chart} today {today}")
SUMMED = marked("{what} by day: {chart} today {today}, in {days} days {total}")
DAYS = 14
_BLOCKS = "▁▂▃▄▅▆▇█"


def stored(stats: Stats) -> list[str]:
    """Say how much is stored, a line for each thing."""
    return [f"{spoken(what)}: {getattr(stats, name):,}" for name, what in STORED.items()]


def daily(days: Sequence[Day]) -> list[str]:
    """Say what went on, a line with a chart for each thing; nothing where nothing went on."""
    if not any(day.turns for day in days):
        return []
    return [line(what, [getattr(day, name) for day in days], adds=name not in DISTINCT) for name, what in DAILY.items()]


def line(what: str, counts: Sequence[int], *, adds: bool = True) -> str:
    """Say how much of something there was each day up to today, with a chart; and in all, where it adds up."""
    today, total = f"{counts[-1]:,}", f"{sum(counts):,}"
    values = {"what": spoken(what), "chart": chart(counts), "today": today, "days": len(counts), "total": total}
    return spoken(SUMMED if adds else BY_DAY, **values)


def chart(counts: Sequence[int]) -> str:
    """Draw counts as blocks, as high as they are beside the largest; the lowest block is none at all."""
    most = max(counts, default=0)
    return "".join(_BLOCKS[-(-count * (len(_BLOCKS) - 1) // most) if most else 0] for count in counts)
