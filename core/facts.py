"""Facts about a person: what is known, where each came from, and what changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

Writer = Literal["model", "extraction", "second look", "person", "import"]
Action = Literal["add", "change", "remove", "clear", "pin", "undo"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value comes from: the chat and turn, the person's own words there, the day (ISO date), who wrote it."""

    chat: str
    turn: int | None
    quote: str
    day: str
    by: Writer


@dataclass(frozen=True, slots=True)
class Item:
    """One value of a fact with its source."""

    value: str
    source: Source


@dataclass(frozen=True, slots=True)
class Fact:
    """A normalised key with one text, or (`many`) a list of texts."""

    key: str
    items: tuple[Item, ...]
    many: bool = False
    pinned: bool = False

    @property
    def value(self) -> str | list[str]:
        """The text, or the list of texts."""
        return [item.value for item in self.items] if self.many else self.items[0].value


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one fact. `call` is unique per turn, so that the same call is never applied twice.

    `before` and `after` are the whole fact, None where there is none. `id` is set once stored.
    """

    call: str
    action: Action
    key: str
    before: Fact | None
    after: Fact | None
    at: datetime
    turn: int | None = None
    by: Writer = "model"
    id: int = 0


@dataclass(frozen=True)
class Facts(Mapping[str, "str | list[str]"]):
    """All facts of one person in one scope, read as a JSON dictionary: key to text or list of texts."""

    by_key: Mapping[str, Fact] = field(default_factory=dict)

    def __getitem__(self, key: str) -> str | list[str]:
        return self.by_key[key].value

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_key)

    def __len__(self) -> int:
        return len(self.by_key)
