"""Rules that every store follows alike: what text is storable, what an erasure takes along, what an export holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime
from typing import Any, TypeVar, cast

from pydantic_core import to_jsonable_python

from core.conversation import PersonSettings, Segment, Turn
from core.facts import Change, Fact, Source
from core.messages import ChatKey, Message, Person
from core.notes import Note
from core.text.letters import holds_whole
from core.usage import Spent

T = TypeVar("T")
Gone = Callable[[Source], bool]
"""Says whether a source is among those that are erased."""

FAR = 7200
"""How many seconds ahead no job is put off, nor held beyond its lease."""
BUTTON_DAYS = 30
"""How long a button is kept."""
MOST_PAIRINGS = 1000
"""How many strangers may be waiting to be let in."""
WRONG_CODE_HOURS = 24
"""How long wrong codes are kept."""
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


class Ranges:
    """How long the ways down a tree are, each told at once: a turn is followed by all that comes after it.

    Every parent is there, and older than its child.
    """

    def __init__(self, parents: Mapping[int, int | None]) -> None:
        order: list[int] = sorted(parents)
        self._sizes: dict[int | None, int] = dict.fromkeys((None, *order), 1)
        self._depths: dict[int | None, int] = {None: 0}
        self._numbers: dict[int | None, int] = {None: 0}
        for turn in reversed(order):
            self._sizes[parents[turn]] += self._sizes[turn]
        free: dict[int | None, int] = {None: 1}
        for turn in order:
            above = parents[turn]
            self._depths[turn] = self._depths[above] + 1
            self._numbers[turn] = number = free[above]
            free[above], free[turn] = number + self._sizes[turn], number + 1

    def length(self, before: int | None, last: int) -> int:
        """Count the turns after one, or from the first, up to another; -1 when the one does not lead to the other."""
        first = self._numbers.get(before, 0)
        leads = first <= self._numbers[last] < first + self._sizes.get(before, 0)
        return self._depths[last] - self._depths[before] if leads else -1


def covering(turns: Collection[int], parents: Mapping[int, int | None], segments: Sequence[Segment]) -> set[int]:
    """Give the ids of the segments whose range holds any of these turns.

    A parent is older than its child, and the smaller its id; so one pass finds for each turn the nearest of these.
    """
    wanted, nearest = set(turns), dict[int | None, int]()
    for turn in sorted(parents):
        nearest[turn] = turn if turn in wanted else nearest.get(parents[turn], 0)
    return {s.id for s in segments if nearest.get(s.last, 0) > (s.before or 0)}


@dataclass(frozen=True)
class Cut:
    """What erasing turns of one chat changes in its tree.

    `parents` and `befores` are the new ones, for the turns and segments that lost theirs; of these turns those in
    `inside` lie inside the new parent, as those that did inside the old. `segments` go.
    """

    head: int | None
    parents: Mapping[int, int | None]
    befores: Mapping[int, int | None]
    segments: Collection[int]
    inside: Collection[int] = ()
    asides: Sequence[int | None] = ()


@dataclass(frozen=True)
class Tree:
    """The turns of a chat: turn to parent, those that lie inside theirs, its segments, its head, its open asides."""

    parents: Mapping[int, int | None]
    inside: Set[int]
    segments: Sequence[Segment]
    head: int | None
    asides: Sequence[int | None]


def cut(turns: Collection[int], tree: Tree) -> Cut:
    """Work out what erasing turns does to the tree of their chat."""
    erased, parents = set(turns), tree.parents

    def kept(turn: int | None) -> int | None:
        return next((t for t in chain(parents, turn, None) if t not in erased), None)

    doomed, head = covering(erased, parents, tree.segments), kept(tree.head)
    orphans = {t: kept(p) for t, p in parents.items() if p in erased and t not in erased}
    return Cut(
        head=head,
        parents=orphans,
        befores={s.id: kept(s.before) for s in tree.segments if s.before in erased and s.id not in doomed},
        segments=doomed,
        inside={t for t, to in orphans.items() if not tree.inside.isdisjoint(chain(parents, t, to))},
        asides=[] if head is None else [kept(turn) for turn in tree.asides],
    )


def said_inside(turn: int, parents: Mapping[int, int | None], inside: Set[int]) -> set[int]:
    """Give a turn and all turns inside it; those that follow it are not."""
    found = {turn}
    for other in sorted(t for t in parents if t > turn):  # a parent is older than its child
        parent = parents[other]
        if parent in found and (other in inside or parent != turn):
            found.add(other)
    return found


def placed(turn: Turn, under: int | None, ids: Mapping[int, int]) -> tuple[int | None, int | None]:
    """Give parent and first answer of a turn to be added; `ids` are the new ones of those added before it."""
    parent = under if turn.parent is None else ids.get(turn.parent, under)
    return parent, None if turn.retry_of is None else ids.get(turn.retry_of)


def joined_asides(older: Sequence[int | None], newer: Sequence[int | None]) -> list[int | None]:
    """Give the open asides of two chats whose turns become one line."""
    return sorted({*older, *newer}, key=lambda turn: turn or 0)


def misplaced(asides: Sequence[int | None], parents: Mapping[int, int | None], head: int | None) -> bool:
    """Say whether open asides were not begun on the way to the head, one within the other."""
    line = [None, *reversed(list(chain(parents, head, None)))]
    on_it = {turn: place for place, turn in enumerate(line)}
    places = [on_it.get(turn, -1) for turn in asides]
    return -1 in places or places != sorted(places)


def joined(older: int | None, newer: int | None, parents: Mapping[int, int | None], segments: Sequence[Segment]) -> Cut:
    """Work out how the trees of two chats become one: the turns that lead to either head are one line, by age.

    `parents` and `segments` are those of both. A segment goes where turns of the other chat now stand within its range.
    """
    line = sorted({*chain(parents, older, None), *chain(parents, newer, None)})
    linked = dict(zip(line, [None, *line], strict=False))
    after = {**parents, **linked}
    ranges = {s.id: list(chain(parents, s.last, s.before)) for s in segments}
    befores = {id_: after[covered[-1]] for id_, covered in ranges.items()}
    doomed = {s.id for s in segments if list(chain(after, s.last, befores[s.id])) != ranges[s.id]}
    return Cut(
        head=line[-1] if line else None,
        parents={t: p for t, p in linked.items() if p != parents[t]},
        befores={s.id: befores[s.id] for s in segments if s.id not in doomed and befores[s.id] != s.before},
        segments=doomed,
    )


def destination(chat: ChatKey, old: ChatKey, new: ChatKey) -> ChatKey | None:
    """Tell what a chat is called once `old`, with its topics, has become `new`; None when it is not moved."""
    if chat == old:
        return new
    return replace(new, topic=chat.topic) if old.topic is None and chat.scope == old.scope else None


def latest(heard: Mapping[ChatKey, datetime], platform: str, limit: int) -> dict[ChatKey, datetime]:
    """Choose the chats of a platform where something was said last, the latest first."""
    own = sorted((at, str(chat), chat) for chat, at in heard.items() if chat.platform == platform)
    return {chat: at for at, _, chat in own[::-1][:limit]}


def moved(message: Message, new: ChatKey) -> Message:
    """Give a message as it stands in what its chat has become; its id names the old chat, or it would not be unique."""
    return replace(message, chat=new, id=f"{message.chat}#{message.id}")


def resourced(fact: Fact, chats: Mapping[str, str]) -> Fact:
    """Give a fact whose sources name the chats by their new names."""
    items = tuple(
        replace(i, source=replace(i.source, chat=chats.get(i.source.chat, i.source.chat))) for i in fact.items
    )
    return replace(fact, items=items)


def retold(change: Change, chats: Mapping[str, str]) -> Change:
    """Give a change whose sources name the chats by their new names."""
    before, after = (resourced(fact, chats) if fact else None for fact in (change.before, change.after))
    return replace(change, before=before, after=after)


def merged(older: Fact, newer: Fact | None) -> Fact:
    """Give what two facts of one key hold together: of single values the newer, of lists every item."""
    if newer is None or not (older.many or newer.many):
        return newer or older
    known = {_plain(item.value) for item in older.items}
    items = older.items + tuple(item for item in newer.items if _plain(item.value) not in known)
    return replace(newer, items=items, many=True, pinned=older.pinned or newer.pinned)


def rebased(change: Change, stored: Fact | None) -> Change | None:
    """Give a change as it is of what is stored, if that is no longer what it was made of; None when nothing is left.

    What was erased meanwhile does not come back, and what was added by others stays.
    """
    if stored == change.before:
        return change
    if change.after is None:
        return replace(change, before=stored) if stored else None
    before, after = (fact.items if fact else () for fact in (change.before, change.after))
    added = tuple(item for item in after if item not in before)
    left = tuple(item for item in (stored.items if stored else ()) if item in after or item not in before)
    known = {_plain(item.value) for item in left}
    items = left + tuple(i for i in added if _plain(i.value) not in known) if change.after.many else added or left
    if not items or change.action == "undo":  # what an undo brings back may be what was erased
        return None
    return replace(change, before=stored, after=replace(change.after, items=items))


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
    return lambda source: source.turn == turn.id and not holds_whole(words, _plain(source.quote))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def tells_the_same(turn: Turn, other: Turn) -> bool:
    """Say whether what was said in a turn, and answered, is still what it was."""
    return (turn.messages, turn.answer) == (other.messages, other.answer)


def export_of(
    person: Person,
    settings: PersonSettings,
    facts: Mapping[str, Sequence[Fact]],
    changes: Mapping[str, Sequence[Change]],
    notes: Mapping[str, Sequence[Note]],
    waiting: Sequence[Message],
    chats: Sequence[Mapping[str, Any]],
    spent: Sequence[Spent],
) -> dict[str, Any]:
    """Lay out everything kept of a person as plain JSON data."""
    laid_out = {
        "schema": EXPORT_SCHEMA,
        "person": str(person),
        "settings": settings,
        "facts": facts,
        "changes": changes,
        "notes": notes,
        "waiting": waiting,
        "chats": chats,
        "usage": spent,
    }
    return cast(dict[str, Any], to_jsonable_python(laid_out, bytes_mode="base64"))
