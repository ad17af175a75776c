"""Writes what is remembered as text for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.facts import Change, Fact, Item
from core.messages import Choice, Reply
from core.store import Receipt


def values(fact: Fact | None) -> str:
    """Write what a fact holds."""
    return "nothing" if fact is None else ", ".join(item.value for item in fact.items)


def fact_line(fact: Fact, longest: int = 300) -> str:
    """Write a fact on one line, its values shortened where they are long."""
    return f"{fact.key}: {clipped(values(fact), longest)}{' (pinned)' if fact.pinned else ''}"


def fact_whole(fact: Fact, longest: int) -> str:
    """Write a fact, its values shortened only where they are very long, with where they come from."""
    told = {f"{item.source.day or 'some day'}, written by {item.source.by}": None for item in fact.items}
    pinned = ", pinned" if fact.pinned else ""
    return f"{fact.key}: {clipped(values(fact), longest)}\nTold on {clipped('; on '.join(told), 300)}{pinned}."


def clipped(text: str, longest: int) -> str:
    """Cut a text that is too long, with a mark."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def because(fact: Fact, item: Item) -> str:
    """Write where one value of a fact comes from."""
    source = item.source
    said = f"you said: «{source.quote}»" if source.quote else "you entered it"
    day = f"on {source.day} " if source.day else ""
    return f"{fact.key} = {item.value}: {day}{said} (written by: {source.by})"


def change_line(change: Change) -> str:
    """Write a change of a fact on one line."""
    at = f"{change.at:%Y-%m-%d %H:%M}"
    return f"{at} {change.action} {change.key}: {values(change.before)} → {values(change.after)}"


def counted(count: int, one: str, many: str = "") -> str:
    """Write a number of things."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def receipt(receipts: Sequence[Receipt]) -> str:
    """Write what erasures removed in all."""
    counts: Counter[str] = Counter()
    for one in receipts:
        counts.update(one.counts)
    if not counts:
        return "There was nothing to erase."
    return "Erased: " + ", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items())) + "."


def confirmation(what: str, label: str, confirmed: str) -> Reply:
    """Ask whether something is really wanted: a sentence, and the command that says yes."""
    return Reply(f"{what} To confirm, send: {confirmed}", (Choice(label, confirmed),), private=True)
