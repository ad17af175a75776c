"""Search over all that was said in one chat: what is looked for, and how every store finds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from core.conversation import Turn
from core.messages import Message
from core.search.postings import Line
from core.search.ranking import ranked
from core.search.terms import Terms
from core.search.vectors import Asked, Vector

NO_VECTORS: Mapping[int, Vector] = {}


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for: words in any language, or only what was said from `since` up to before `until`.

    At most `limit` turns are given; those `without` it are passed over. What is `asked` finds other words too.
    """

    text: str
    limit: int = 10
    without: frozenset[int] = frozenset()
    since: datetime | None = None
    until: datetime | None = None
    asked: Asked | None = None

    def allows(self, turn: int, at: float) -> bool:
        """Say whether a turn, said at a time in seconds since 1970, may be given."""
        if turn in self.without or (self.since and at < self.since.timestamp()):
            return False
        return self.until is None or at < self.until.timestamp()


def found(line: Line, query: Query, terms: Terms, vectors: Mapping[int, Vector] = NO_VECTORS) -> list[int]:
    """Give the turns of a line that a query finds, best first. `vectors` are of the model by which it is asked.

    Where nothing but a time is asked for, the latest turns of it are given.
    """

    def allowed(number: int) -> bool:
        return query.allows(line.turns[number], line.times[number])

    wanted = terms.wanted(query.text)
    if wanted or vectors:
        near = query.asked.nearness(line.turns, vectors) if query.asked and vectors else ()
        hits: Iterable[int] = ranked(line, wanted, near, limit=query.limit, allowed=allowed)
    else:
        timed = query.since is not None or query.until is not None
        hits = islice(filter(allowed, reversed(range(len(line.turns)))), query.limit if timed else 0)
    return [line.turns[number] for number in hits]


def turn_terms(turn: Turn, terms: Terms) -> str:
    """Write all terms of a turn."""
    return terms_said(turn.messages, terms) + terms_replied(turn, terms)


def terms_said(messages: Sequence[Message], terms: Terms) -> str:
    """Write the terms of what was said: in a group with the name of whoever said it."""
    first = messages[0]
    if len(messages) == 1 and first.private and not first.attachments:
        return _joined(terms.of(first.text))
    return _joined(terms.of("\n".join(part for message in messages for part in _said(message) if part)))


def _said(message: Message) -> Iterable[str]:
    if not message.private:
        yield message.name
    yield message.text
    for attachment in message.attachments:
        yield f"{attachment.name}\n{attachment.text}"


def terms_replied(turn: Turn, terms: Terms) -> str:
    """Write the terms of a turn's answer."""
    return _joined(terms.of(turn.answer.text)) if turn.answer else ""


def _joined(terms: Iterable[str]) -> str:
    return "".join(f"{term} " for term in terms)
