"""What the store keeps, and what its parts find in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from core.conversation import PersonSettings, Segment, Step, Turn
from core.duty import Alone
from core.facts import Change, Fact
from core.kept import Tree
from core.messages import ChatKey, Message, Person
from core.notes import Note
from core.records import AuditEntry, Job
from core.search.terms import Stem, Terms
from core.search.vectors import Vector
from core.usage import Spent


@dataclass
class Received:
    """An inbox entry: waiting while it has its message, taken while it has a turn, else the bare key."""

    at: datetime
    message: Message | None
    turn: int | None = None


@dataclass
class Chat:
    """What is kept of a chat beside its turns."""

    private: bool = True
    head: int | None = None
    asides: tuple[int | None, ...] = ()
    epoch: int = 0
    edition: int = 0
    active_at: datetime | None = None
    rested: bool = True


@dataclass
class Queued:
    """A job, and who holds it until when."""

    job: Job
    owner: str = ""
    until: datetime | None = None


class Rows:
    """The rows of all tables, in plain dictionaries."""

    def __init__(self, stem: Stem | None = None) -> None:
        self._duty = Alone()
        self._inbox: dict[tuple[ChatKey, str], Received] = {}
        self._chats: dict[ChatKey, Chat] = {}
        self._turns: dict[int, Turn] = {}
        self._segments: dict[int, tuple[ChatKey, Segment]] = {}
        self._facts: dict[tuple[Person, str], dict[str, Fact]] = {}
        self._changes: dict[tuple[Person, str], list[Change]] = {}
        self._notes: dict[tuple[Person, str], dict[tuple[str, str], Note]] = {}
        self._settings: dict[Person, PersonSettings] = {}
        self._jobs: dict[tuple[str, str], Queued] = {}
        self._bots: dict[str, str] = {}
        self._audit: list[AuditEntry] = []
        self._allow: dict[str, tuple[str, datetime]] = {}
        self._buttons: dict[int, tuple[str, Person, datetime]] = {}
        self._block: dict[str, tuple[str, datetime]] = {}
        self._moves: dict[ChatKey, ChatKey] = {}
        self._links: dict[Person, str] = {}
        self._link_codes: dict[Person, tuple[str, datetime]] = {}
        self._wrong_codes: list[tuple[Person, datetime]] = []
        self._pairings: dict[Person, tuple[str, datetime]] = {}
        self._terms = Terms(stem)
        self._usage: list[Spent] = []
        self._names: dict[int, dict[str, str]] = {}
        self._vectors: dict[int, tuple[str, Vector]] = {}
        self._last_id = 0

    def _chat(self, key: ChatKey) -> Chat:
        return self._chats.setdefault(key, Chat())

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def _tree(self, key: ChatKey) -> Tree:
        chat, turns = self._chat(key), self._turns_of(key)
        parents, inside = {t.id: t.parent for t in turns}, {t.id for t in turns if t.inside}
        return Tree(parents, inside, self._segments_of(key), chat.head, chat.asides)

    def _with_retries(self, turns: Iterable[int]) -> set[int]:
        """Give turns with all that answer what was said there."""
        first = {self._turns[turn].retry_of or turn for turn in turns}
        return {t.id for t in self._turns.values() if (t.retry_of or t.id) in first}

    def _parents(self) -> dict[int, int | None]:
        return {t.id: t.parent for t in self._turns.values()}

    def _turns_of(self, chat: ChatKey) -> list[Turn]:
        return [t for t in self._turns.values() if t.chat == chat]

    def _segments_of(self, chat: ChatKey) -> list[Segment]:
        return [s for key, s in self._segments.values() if key == chat]

    def _leave(self, person: Person) -> int:
        """Take an account out of its view; one account alone is none."""
        view = self._links.pop(person, None)
        left = [p for p, v in self._links.items() if v == view]
        if len(left) == 1:
            del self._links[left[0]]
        return int(view is not None)

    def _spoke_in(self, person: Person) -> set[ChatKey]:
        return {t.chat for t in self._turns.values() if t.sender == person}

    def _path(self, last: int | None, before: int | None = None) -> list[Step]:
        steps: list[Step] = []
        while last is not None and last != before:
            step = self._checkpoint(last) or self._turns[last]
            steps.append(step)
            last = step.before if isinstance(step, Segment) else step.parent
        return steps[::-1]

    def _checkpoint(self, turn: int) -> Segment | None:
        return max((s for _, s in self._segments.values() if s.last == turn), key=lambda s: s.id, default=None)
