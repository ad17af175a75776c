"""Bringing an export back: it is checked whole before anything is stored, and becomes the memory of who brings it."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from pydantic import ValidationError
from pydantic_core import to_json

from core.conversation import PersonSettings, Segment, State, ToolRound, Turn
from core.draft import FactDraft
from core.errors import CommandError, ToolError
from core.exported import Account, Export, ExportedChat
from core.facts import Change, Fact, Item, Source
from core.kept import bare, misplaced, moved
from core.messages import PRIVATE, ChatKey, Message, Person
from core.notes import LONGEST_KEY, MOST_NOTES, Note
from core.secrets import holds_secret
from core.translation import marked, spoken
from core.zones import zone_of

MOST_BYTES = 20 * 2**20
MOST_QUOTE = 500
MOST_GIST = 20_000
PAST = "import/past/"
"""How the calls of changes begin that happened elsewhere."""
TOO_LARGE = marked("This file is too large to import: I take up to {megabytes} MB.")
NO_EXPORT = marked("I can't import this file: it is no export of mine, or it is damaged ({where}).")
OTHER_VERSION = marked("I can't import this file: I don't know its version, {version}.")
OF_OTHERS = marked("I can't import this file: what somebody else said stands in it as yours.")
REFUSED = marked("I can't import this file: {reason}.")
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_TOOL = re.compile(r"[A-Za-z0-9_.-]{1,128}")


def read(data: bytes) -> Export:
    """Read an export. Raises CommandError in one sentence when it is none; may take its time on a large one."""
    if len(data) > MOST_BYTES:
        raise CommandError(spoken(TOO_LARGE, megabytes=MOST_BYTES // 2**20))
    try:
        return Export.model_validate_json(data)
    except ValidationError as error:
        found = error.errors(include_url=False)
    first = next((one for one in found if one["loc"] == ("schema",)), found[0])
    where = ".".join(map(str, first["loc"]))[:80]
    if where == "schema" and isinstance(first["input"], str):
        raise CommandError(spoken(OTHER_VERSION, version=repr(first["input"][:40])))
    raise CommandError(spoken(NO_EXPORT, where=where or "JSON"))


@dataclass(frozen=True)
class Talk:
    """The turns of a talk, each after its parent, the segments that stand for parts of it, and where it had come to."""

    turns: Sequence[Turn] = ()
    segments: Sequence[Segment] = ()
    head: int | None = None
    asides: Sequence[int | None] = ()


@dataclass(frozen=True)
class Importing:
    """Makes what stands in an export the memory of a person, to be kept under `chat`. Raises CommandError."""

    person: Person
    chat: ChatKey
    export: Export
    now: datetime

    @property
    def scopes(self) -> list[str]:
        """The scopes that make sense here: groups only for the account that was in them."""
        brought = {*self.export.facts, *self.export.changes, *self.export.notes}
        if not all(map(_is_scope, brought)):
            raise _damaged("facts")
        return sorted({PRIVATE, *brought}) if self.export.person == str(self.person) else [PRIVATE]

    def accounts(self, linked: Sequence[Person]) -> list[Account]:
        """Give the accounts whose facts are brought along: those linked with the person here have theirs already."""
        here = set(map(str, linked))
        return [self.export, *(account for account in self.export.linked if account.person not in here)]

    def add_facts(self, accounts: Iterable[Account], scope: str, draft: FactDraft, call: str) -> None:
        """Add the facts of a scope to a draft of those known here."""
        for fact in (fact for account in accounts for fact in account.facts.get(scope, ())):
            with _told():
                draft.bring(f"{call}/{fact.key}/{_digest(fact)}", self._ours(fact))

    def past(self, accounts: Iterable[Account], scope: str, draft: FactDraft) -> list[Change]:
        """Give the changes of a scope that happened elsewhere, as far as the draft's rules allow."""
        return [self._past(c, draft) for account in accounts for c in account.changes.get(scope, ())]

    def _past(self, change: Change, draft: FactDraft) -> Change:
        before, after = (self._ours(fact) if fact else None for fact in (change.before, change.after))
        if change.at.tzinfo is None or {fact.key for fact in (before, after) if fact} != {change.key}:
            raise _damaged("changes")
        for fact in filter(None, (before, after)):
            with _told():
                draft.check(fact)
        call = PAST + _digest((change.action, change.key, before, after, change.at))
        return replace(change, call=call, before=before, after=after, turn=None, by="import", id=0)

    def _ours(self, fact: Fact) -> Fact:
        if not fact.items or (len(fact.items) > 1 and not fact.many):
            raise _damaged("facts")
        return replace(fact, items=tuple(Item(item.value, self._source(item.source)) for item in fact.items))

    def _source(self, source: Source) -> Source:
        """Mark where a value comes from as imported; the day on which it was told stays."""
        if len(source.quote) > MOST_QUOTE or not _is_day(source.day):
            raise _damaged("facts")
        quote = "" if holds_secret(source.quote) else source.quote
        return Source(str(self.chat), None, quote, source.day, "import")

    def notes(self, accounts: Iterable[Account], scope: str, draft: FactDraft) -> list[Note]:
        """Give the notes of a scope, held to the draft's rules."""
        notes = [note for account in accounts for note in account.notes.get(scope, ())]
        if any(count > MOST_NOTES for count in Counter(note.memory for note in notes).values()):
            raise _damaged("notes")
        return [self._note(note, draft) for note in notes]

    def _note(self, note: Note, draft: FactDraft) -> Note:
        if not (0 < len(note.memory) <= LONGEST_KEY and 0 < len(note.key) <= LONGEST_KEY and note.text):
            raise _damaged("notes")
        with _told():
            draft.check_value(note.key, note.key)
            draft.check_value(note.key, note.text)
        return replace(note, chat=str(self.chat), turn=None)

    def talk(self) -> Talk:
        """Give the talk of the account's private chat with its branches, of the longest if there are several."""
        chats = [chat for chat in self.export.chats if chat.private and chat.turns]
        return self._talk(max(chats, key=lambda chat: len(chat.turns))) if chats else Talk()

    def _talk(self, chat: ExportedChat) -> Talk:
        turns = {turn.id: turn for turn in sorted(chat.turns, key=lambda turn: turn.id)}
        parents = {turn.id: turn.parent for turn in turns.values()}
        older = all(parent is None or (parent in turns and parent < turn) for turn, parent in parents.items())
        if len(turns) < len(chat.turns) or not older or chat.head not in {None, *turns}:
            raise _damaged("turns")
        if misplaced(chat.asides, parents, chat.head):
            raise _damaged("asides")
        segments = sorted(chat.segments, key=lambda segment: segment.id)
        if not _stand_for_what_they_say(segments, parents):
            raise _damaged("segments")
        talk = Talk([self._turn(turn, turns) for turn in turns.values()], segments, chat.head, chat.asides)
        if not _said_once(talk.turns):
            raise _damaged("turns")
        return talk

    def _turn(self, turn: Turn, turns: Mapping[int, Turn]) -> Turn:
        if not turn.messages or not all(map(_is_whole, turn.rounds)):
            raise _damaged("turns")
        if any(str(m.sender) != self.export.person or m.anonymous for m in turn.messages):
            raise CommandError(spoken(OF_OTHERS))
        answered = State.DELIVERED if turn.answer else State.FAILED
        state = State.HEARD if turn.state is State.HEARD else answered
        failure = "imported" if state is State.FAILED else ""
        messages = tuple(map(self._message, turn.messages))
        return Turn(
            turn.id,
            turn.parent,
            self.chat,
            state,
            messages,
            turn.rounds,
            turn.answer,
            failure=failure,
            at=self._time(turn.at),
            inside=turn.inside,
            retry_of=_answered_first(turn, turns),
        )

    def _message(self, message: Message) -> Message:
        sent_at = self._time(message.sent_at)
        said = replace(bare(message), sender=self.person, sent_at=sent_at, private=True, incognito=False, pressed="")
        return moved(said, self.chat)

    def _time(self, at: datetime) -> datetime:
        """Give a time as one that has been: no machine can tell of what is long before, or is to come."""
        if at.tzinfo is None:
            raise _damaged("turns")
        return min(max(at, _LONG_AGO), self.now)


def chosen(settings: PersonSettings, here: PersonSettings) -> PersonSettings:
    """Give the settings after an import: those brought along, where the person has chosen nothing here."""
    if here != PersonSettings():
        return here
    zone = settings.zone if zone_of(settings.zone) else ""
    return PersonSettings(settings.memory, settings.language[:16], zone)


def _answered_first(turn: Turn, turns: Mapping[int, Turn]) -> int | None:
    """Give the turn that said the same and was answered first."""
    first = turns.get(turn.retry_of or 0)
    fits = first is not None and first.id < turn.id and first.retry_of is None and first.messages == turn.messages
    return turn.retry_of if fits else None


def _said_once(turns: Iterable[Turn]) -> bool:
    """Say whether each message is in one turn, or in those that answer that one anew."""
    first: dict[str, int] = {}
    return all(first.setdefault(m.id, t.retry_of or t.id) == (t.retry_of or t.id) for t in turns for m in t.messages)


def _stand_for_what_they_say(segments: Iterable[Segment], parents: Mapping[int, int | None]) -> bool:
    """Say whether each segment is of a range of that many turns, one after the other."""
    depths, spans = dict[int | None, int]({None: 0}), _spans(parents)
    for turn in sorted(parents):  # a parent is older than its child
        depths[turn] = depths[parents[turn]] + 1
    return all(_stands(segment, depths, spans) for segment in segments)


def _stands(segment: Segment, depths: Mapping[int | None, int], spans: Mapping[int | None, range]) -> bool:
    if segment.last not in spans or segment.before not in spans or len(segment.text) > MOST_GIST:
        return False
    in_line = spans[segment.last].start in spans[segment.before]
    return in_line and depths[segment.last] - depths[segment.before] == segment.turns > 0


def _spans(parents: Mapping[int, int | None]) -> Mapping[int | None, range]:
    """Number the turns so that all that comes after one, on whatever branch, lies within its span."""
    sizes = dict[int | None, int]({None: 1}) | dict.fromkeys(parents, 1)
    for turn in sorted(parents, reverse=True):
        sizes[parents[turn]] += sizes[turn]
    spans, free = dict[int | None, range]({None: range(sizes[None])}), dict[int | None, int]({None: 1})
    for turn in sorted(parents):
        start = free[parents[turn]]
        spans[turn] = range(start, start + sizes[turn])
        free[parents[turn]], free[turn] = start + sizes[turn], start + 1
    return spans


def _is_whole(one: ToolRound) -> bool:
    ids = [call.id for call in one.calls]
    named = all(_TOOL.fullmatch(call.name) and _is_object(call.arguments) for call in one.calls)
    return named and all(ids) and len({*ids}) == len(ids) and ids == [result.call_id for result in one.results]


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments or "{}"), dict)
    except (ValueError, RecursionError):
        return False


def _is_scope(scope: str) -> bool:
    try:
        return scope == PRIVATE or (len(scope) < MOST_QUOTE and ChatKey.parse(scope).scope == scope)
    except ValueError:
        return False


def _is_day(day: str) -> bool:
    try:
        return not day or bool(date.fromisoformat(day))
    except ValueError:
        return False


def _digest(value: object) -> str:
    return hashlib.sha256(to_json(value, bytes_mode="base64")).hexdigest()[:24]


def _damaged(where: str) -> CommandError:
    return CommandError(spoken(NO_EXPORT, where=where))


@contextmanager
def _told() -> Iterator[None]:
    """Tell the person what the rules of facts refuse."""
    try:
        yield
    except ToolError as error:
        raise CommandError(spoken(REFUSED, reason=error.told())) from None
