"""Writes what is remembered as text for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from core.facts import Action, Change, Fact, Item, Writer
from core.messages import Choice, Reply
from core.store import Receipt
from core.translation import marked, spoken

WRITERS: Mapping[Writer, str] = {
    "model": marked("model"),
    "extraction": marked("extraction"),
    "second look": marked("second look"),
    "person": marked("person"),
    "import": marked("import"),
}
ACTIONS: Mapping[Action, str] = {
    "add": marked("add"),
    "change": marked("change"),
    "remove": marked("remove"),
    "clear": marked("clear"),
    "pin": marked("pin"),
    "undo": marked("undo"),
}
KINDS = (
    marked("turns"),
    marked("segments"),
    marked("facts"),
    marked("items"),
    marked("changes"),
    marked("messages"),
    marked("settings"),
    marked("jobs"),
    marked("buttons"),
    marked("pairings"),
)
"""What a receipt counts."""


def values(fact: Fact | None) -> str:
    """Write what a fact holds."""
    return spoken("nothing") if fact is None else ", ".join(item.value for item in fact.items)


def fact_line(fact: Fact, longest: int = 300) -> str:
    """Write a fact on one line, its values shortened where they are long."""
    line = f"{fact.key}: {clipped(values(fact), longest)}"
    return spoken("{fact} (pinned)", fact=line) if fact.pinned else line


def fact_whole(fact: Fact, longest: int) -> str:
    """Write a fact, its values shortened only where they are very long, with where they come from."""
    told = clipped("; ".join({_told(item): None for item in fact.items}), 300)
    pinned = marked("Told {told}, pinned.") if fact.pinned else marked("Told {told}.")
    return f"{fact.key}: {clipped(values(fact), longest)}\n{spoken(pinned, told=told)}"


def _told(item: Item) -> str:
    day = item.source.day or spoken("some day")
    return spoken("on {day}, written by {writer}", day=day, writer=_writer(item))


def _writer(item: Item) -> str:
    return spoken(WRITERS[item.source.by])


def clipped(text: str, longest: int) -> str:
    """Cut a text that is too long, with a mark."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def because(fact: Fact, item: Item) -> str:
    """Write where one value of a fact comes from."""
    source = item.source
    said = spoken("you said: «{quote}»", quote=source.quote) if source.quote else spoken("you entered it")
    told = spoken("on {day} {said}", day=source.day, said=said) if source.day else said
    return spoken(
        "{key} = {value}: {told} (written by: {writer})",
        key=fact.key,
        value=item.value,
        told=told,
        writer=_writer(item),
    )


def change_line(change: Change) -> str:
    """Write a change of a fact on one line."""
    at, action = f"{change.at:%Y-%m-%d %H:%M}", spoken(ACTIONS[change.action])
    return f"{at} {action} {change.key}: {values(change.before)} → {values(change.after)}"


def receipt(receipts: Sequence[Receipt]) -> str:
    """Write what erasures removed in all."""
    counts: Counter[str] = Counter()
    for one in receipts:
        counts.update(one.counts)
    if not counts:
        return spoken("There was nothing to erase.")
    what = ", ".join(f"{spoken(kind)}: {count}" for kind, count in sorted(counts.items()))
    return spoken("Erased: {what}.", what=what)


def confirmation(what: str, label: str, confirmed: str) -> Reply:
    """Ask whether something is really wanted: a sentence, and the command that says yes."""
    asked = spoken("{what} To confirm, send: {command}", what=what, command=confirmed)
    return Reply(asked, (Choice(label, confirmed),), private=True)
