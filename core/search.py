"""Search over all that was said in one chat: what is looked for, and how every store finds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from core.conversation import Turn
from core.kept import chain
from core.messages import Message
from core.ranking import joined, ranked
from core.terms import Terms


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for: words in any language, or only what was said from `since` up to before `until`.

    At most `limit` turns are given; those `without` it are passed over.
    """

    text: str
    limit: int = 10
    without: frozenset[int] = frozenset()
    since: datetime | None = None
    until: datetime | None = None

    def allows(self, entry: Entry) -> bool:
        """Say whether a turn may be given."""
        if entry.turn in self.without or (self.since and entry.at < self.since.timestamp()):
            return False
        return self.until is None or entry.at < self.until.timestamp()


class Entry(NamedTuple):
    """What the archive knows of a turn: its parent, its time in seconds since 1970, and the terms it is found by."""

    turn: int
    parent: int | None
    at: float
    terms: str


def found(entries: Mapping[int, Entry], head: int | None, query: Query, terms: Terms) -> list[int]:
    """Give the turns of one chat that a query finds, best first; of a branch that was left, none.

    Where nothing but a time is asked for, the latest turns of it are given.
    """
    parents = {turn: entry.parent for turn, entry in entries.items()}
    path = [entries[turn] for turn in chain(parents, head, None) if turn in entries][::-1]
    wanted = terms.wanted(query.text)
    if not wanted:
        timed = query.since is not None or query.until is not None
        said = [entry.turn for entry in path if query.allows(entry)] if timed else []
        return said[: -query.limit - 1 : -1]
    hits = ranked([e.terms for e in path], wanted, limit=query.limit, allowed=lambda n: query.allows(path[n]))
    return [path[number].turn for number in hits]


def turn_terms(turn: Turn, terms: Terms) -> str:
    """Write all terms of a turn."""
    return terms_said(turn.messages, terms) + terms_replied(turn, terms)


def terms_said(messages: Sequence[Message], terms: Terms) -> str:
    """Write the terms of what was said: in a group with the name of whoever said it."""
    first = messages[0]
    if len(messages) == 1 and first.private and not first.attachments:
        return joined(terms.of(first.text))
    return joined(terms.of("\n".join(part for message in messages for part in _said(message) if part)))


def _said(message: Message) -> Iterable[str]:
    if not message.private:
        yield message.name
    yield message.text
    for attachment in message.attachments:
        yield f"{attachment.name}\n{attachment.text}"


def terms_replied(turn: Turn, terms: Terms) -> str:
    """Write the terms of a turn's answer."""
    return joined(terms.of(turn.answer.text)) if turn.answer else ""
