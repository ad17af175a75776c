"""What a store takes and gives beside turns, segments and facts: jobs, branches, receipts, figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple

from core.conversation import PersonSettings, Segment, Turn
from core.facts import Change
from core.messages import ChatKey
from core.notes import Note


@dataclass(frozen=True, slots=True)
class Job:
    """Durable work to do once `due`. `kind` and `key` together are unique: queueing twice is queueing once.

    `key` is the chat, the person or the turn id that the job is about, so that erasing these finds it; more may
    follow after a `#`.
    """

    kind: str
    key: str
    due: datetime
    attempts: int = 0

    @property
    def subject(self) -> str:
        """What the job is about: its key up to a `#`."""
        return self.key.partition("#")[0]


@dataclass(frozen=True, slots=True)
class ChatInfo:
    """One chat at a glance."""

    chat: ChatKey
    private: bool
    turns: int
    segments: int
    active_at: datetime


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One admin action: who, what, on whom or which chat, when."""

    admin: str
    action: str
    target: str
    at: datetime


class Unfinished(NamedTuple):
    """What is not done yet in a chat: how many turns are open, and the ids of the messages that no turn has taken."""

    turns: int = 0
    waiting: Sequence[str] = ()

    @property
    def total(self) -> int:
        """How many turns and messages."""
        return self.turns + len(self.waiting)


class Branch(NamedTuple):
    """The place of a turn: it follows its parent, or begins what lies `inside` it."""

    turn: int
    parent: int | None
    inside: bool


@dataclass(frozen=True)
class Brought:
    """What a person brings along from elsewhere, checked and made theirs.

    By scope: `past` is for the history of facts alone, `changes` are applied, and `notes` kept where there is none of
    their memory and key. `settings` None leaves those there are.
    `turns` are those of a talk, each after its parent, for a chat that has none; `segments`, `head` (None: before the
    first) and `asides` name them by the ids they have here, and all get new ones.
    """

    chat: ChatKey
    past: Mapping[str, Sequence[Change]] = field(default_factory=dict)
    changes: Mapping[str, Sequence[Change]] = field(default_factory=dict)
    notes: Mapping[str, Sequence[Note]] = field(default_factory=dict)
    settings: PersonSettings | None = None
    turns: Sequence[Turn] = ()
    segments: Sequence[Segment] = ()
    head: int | None = None
    asides: Sequence[int | None] = ()


@dataclass(frozen=True)
class Receipt:
    """What an erasure removed: a count for each kind of thing, zero counts left out.

    The kinds are `turns`, `segments`, `facts` (whole), `items` (of facts that stay), `changes` (of the history),
    `notes`, `messages` (that waited), `settings`, `jobs`, `buttons`, `pairings`, `links` and `usage` (days with what
    they took).
    """

    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many things in all."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Stats:
    """How much is stored, over all chats."""

    chats: int
    people: int
    turns: int
    open_turns: int
    segments: int
    facts: int
    jobs: int


@dataclass(frozen=True, slots=True)
class Day:
    """What is stored of one day of UTC: the turns begun on it, of these answered and failed, whose, how many tokens.

    A turn that its person stopped, or that no budget was left for, has not failed. Tokens are those of the turns
    themselves, without their prompts.
    """

    date: date
    turns: int = 0
    answered: int = 0
    failed: int = 0
    people: int = 0
    tokens: int = 0
