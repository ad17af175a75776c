"""Rules that every store follows alike: what text is storable, what an erasure takes along, what an export holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from pydantic_core import to_jsonable_python

from core.conversation import PersonSettings, Segment, Turn
from core.facts import Change, Fact, Source
from core.messages import Message, Person

T = TypeVar("T")
Gone = Callable[[Source], bool]
"""Says whether a source is among those that are erased."""

EXPORT_SCHEMA = "keepmind/export/1"

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def storable(value: T) -> T:
    """Give the value with each NUL and lone surrogate in it as U+FFFD, however deep, keys too."""
    return cast(T, _storable(value))


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value) if _UNSTORABLE.search(value) else value
    if isinstance(value, Mapping):
        return {_storable(key): _storable(inner) for key, inner in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(map(_storable, value))
    if is_dataclass(value) and not isinstance(value, type):
        changes = {f.name: _storable(getattr(value, f.name)) for f in fields(value)}
        return replace(value, **changes)
    return value


def bare(message: Message) -> Message:
    """Give the message without the bytes of its attachments."""
    if not any(attachment.data for attachment in message.attachments):
        return message
    return replace(message, attachments=tuple(replace(a, data=b"") for a in message.attachments))


def chain(parents: Mapping[int, int | None], last: int | None, before: int | None) -> Iterator[int]:
    """Walk from `last` towards the root, stopping short of `before`."""
    turn = last
    while turn is not None and turn != before:
        yield turn
        turn = parents.get(turn)


def covering(turns: Collection[int], parents: Mapping[int, int | None], segments: Sequence[Segment]) -> set[int]:
    """Give the ids of the segments whose range holds any of these turns."""
    wanted = set(turns)
    return {s.id for s in segments if not wanted.isdisjoint(chain(parents, s.last, s.before))}


@dataclass(frozen=True)
class Cut:
    """What erasing turns of one chat changes in its tree.

    `parents` and `befores` are the new ones, for the turns and segments that lost theirs; `segments` go.
    """

    head: int | None
    parents: Mapping[int, int | None]
    befores: Mapping[int, int | None]
    segments: Collection[int]


def cut(
    turns: Collection[int], parents: Mapping[int, int | None], segments: Sequence[Segment], head: int | None
) -> Cut:
    """Work out what erasing turns does to the tree `parents` (turn to parent), its segments and its head."""
    erased = set(turns)

    def kept(turn: int | None) -> int | None:
        return next((t for t in chain(parents, turn, None) if t not in erased), None)

    doomed = covering(erased, parents, segments)
    return Cut(
        head=kept(head),
        parents={t: kept(p) for t, p in parents.items() if p in erased and t not in erased},
        befores={s.id: kept(s.before) for s in segments if s.before in erased and s.id not in doomed},
        segments=doomed,
    )


def withdrawn(fact: Fact, gone: Gone) -> Fact | None:
    """Give the fact without the items whose source is gone; None when no item is left."""
    items = tuple(item for item in fact.items if not gone(item.source))
    if not items:
        return None
    return fact if len(items) == len(fact.items) else replace(fact, items=items)


def tells(change: Change, gone: Gone) -> bool:
    """Say whether a change still shows an item whose source is gone."""
    return any(gone(item.source) for fact in (change.before, change.after) if fact for item in fact.items)


def unsaid(turn: Turn) -> Gone:
    """Give what is gone after a turn was edited: sources there whose quote is no longer in the sender's words."""
    words = _plain(turn.own_words)
    return lambda source: source.turn == turn.id and _plain(source.quote) not in words


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def export_of(
    person: Person,
    settings: PersonSettings,
    facts: Mapping[str, Sequence[Fact]],
    changes: Mapping[str, Sequence[Change]],
    waiting: Sequence[Message],
    chats: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Lay out everything kept of a person as plain JSON data."""
    laid_out = {
        "schema": EXPORT_SCHEMA,
        "person": str(person),
        "settings": settings,
        "facts": facts,
        "changes": changes,
        "waiting": waiting,
        "chats": chats,
    }
    return cast(dict[str, Any], to_jsonable_python(laid_out, bytes_mode="base64"))
