"""Writes what is remembered as text for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from core.conversation import Conversation, Elsewhere, PersonSettings
from core.facts import Action, Change, Fact, Item, Writer
from core.messages import PRIVATE, Choice, Reply
from core.notes import Note
from core.records import Receipt
from core.translation import counted, marked, spoken

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
    marked("notes"),
    marked("messages"),
    marked("settings"),
    marked("jobs"),
    marked("buttons"),
    marked("pairings"),
    marked("links"),
)
"""What a receipt counts."""
PAGE = 8
"""How many facts a page shows."""
LINE = 120
"""Most characters of one fact's values there, so that a page fits one message everywhere."""
NO_FACTS = marked("I know no facts about you yet.")
MORE = marked(
    "/memory fact KEY opens a fact, /memory why KEY tells where it comes from, /forget KEY erases it, /memory undo "
    "takes the last change back."
)


def values(fact: Fact | None) -> str:
    """Write what a fact holds."""
    return spoken("nothing") if fact is None else ", ".join(item.value for item in fact.items)


def editable(fact: Fact) -> str:
    """Write what a fact holds so that it can be changed and set again: the items of a list on lines of their own."""
    return "\n".join(item.value for item in fact.items)


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


def page_of(here: Conversation, key: str) -> int:
    """Give the page on which a fact stands, or stood."""
    return sum(known < key for known in here.facts) // PAGE + 1


def card(here: Conversation, notes: Sequence[Note], number: int = 1, notice: str = "") -> Reply:
    """Write a page of what is known about a person, each fact to be opened; a notice stands above it.

    On the last page stand the notes of an operator's own memories, and what is known elsewhere.
    """
    facts = [here.facts.by_key[key] for key in sorted(here.facts)]
    pages = max(1, -(-len(facts) // PAGE))
    number = min(max(number, 1), pages)
    shown = facts[(number - 1) * PAGE : number * PAGE]
    lines = [fact_line(fact, LINE) for fact in shown]
    known = [*lines, "", spoken(MORE)] if lines else [spoken(NO_FACTS)]
    state = [spoken(sentence) for sentence, holds in _states(here.settings) if holds]
    also = [*_noted(notes), *(line for place in here.elsewhere for line in _known_at(place, here))]
    known += ["", *also] if also and number == pages else []
    choices = [*map(_opening, shown), *_turning(number, pages)]
    undo = [Choice(spoken("Undo"), "/memory undo", minor=True)] if facts else []
    above = [notice, ""] if notice else []
    return Reply("\n".join([*above, *known, _talk(here), *state]), (*choices, *undo), replaces=True)


def _noted(notes: Sequence[Note]) -> list[str]:
    lines = [clipped(f"{note.key}: {note.text}", LINE) for note in notes[:PAGE]]
    return [spoken("Noted here:"), *lines, *_more(len(notes) - PAGE)] if notes else []


def _more(count: int) -> list[str]:
    return [spoken("… and {count} more", count=count)] if count > 0 else []


def _known_at(place: Elsewhere, here: Conversation) -> list[str]:
    """Write what is known of a person elsewhere, and may be used here: it is changed where it is kept."""
    facts = [place.facts.by_key[key] for key in sorted(place.facts)]
    lines = [fact_line(fact, LINE) for fact in facts[:PAGE]]
    known = spoken("Known from {place}, and used here too:", place=place_name(place, here))
    return [known, *lines, *_more(len(facts) - PAGE)]


def place_name(place: Elsewhere, here: Conversation) -> str:
    """Say where facts are kept."""
    if place.person != here.person:
        return spoken("your account {account}", account=place.person)
    return spoken("our private talk") if place.scope == PRIVATE else spoken("the group {group}", group=place.scope)


def _states(settings: PersonSettings) -> Sequence[tuple[str, bool]]:
    return [
        (marked("Memory is off: I neither learn nor use facts."), settings.memory == "off"),
        (marked("I ask you before I keep a fact."), settings.memory == "ask"),
        (marked("You are incognito: nothing of what you say now is kept."), settings.incognito),
        (marked("What I know from private and from groups is shared between them."), settings.share),
    ]


def _opening(fact: Fact) -> Choice:
    return Choice(clipped(fact.key, 30), f"/memory fact {fact.key}", minor=True, menu=spoken("Open a fact"))


def _turning(number: int, pages: int) -> list[Choice]:
    back = spoken("← Page {number}", number=number - 1)
    on = spoken("Page {number} of {pages} →", number=number + 1, pages=pages)
    to = {back: number - 1, on: number + 1}
    return [Choice(label, f"/memory page {page}") for label, page in to.items() if 1 <= page <= pages]


def _talk(here: Conversation) -> str:
    turns = sum(step.turns for step in here.segments) + len(here.turns)
    if not here.segments:
        return counted("Of this chat I remember {count} turn.", "Of this chat I remember {count} turns.", turns)
    return counted(
        "Of this chat I remember {count} turn ({older}).",
        "Of this chat I remember {count} turns ({older}).",
        turns,
        older=counted("the older ones in {count} summary", "the older ones in {count} summaries", len(here.segments)),
    )


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
