"""What was read last, kept decoded: paths by chat and facts by person, good until somebody else writes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from core.conversation import PersonSettings, Segment, Step, Turn
from core.facts import Facts

PERSONS = 1000
"""How many persons are kept."""
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """A dictionary that holds at most `limit` entries, and drops the one not used for longest."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._entries: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """Give an entry, which is then the last to be dropped."""
        entry = self._entries.get(key)
        if entry is not None:
            self._entries.move_to_end(key)
        return entry

    def put(self, key: K, entry: V) -> None:
        """Keep an entry."""
        self._entries[key] = entry
        self._entries.move_to_end(key)
        if len(self._entries) > self._limit:
            self._entries.popitem(last=False)

    def drop(self, key: K) -> None:
        """Drop an entry, if it is there."""
        self._entries.pop(key, None)

    def clear(self) -> None:
        """Drop every entry."""
        self._entries.clear()


class Paths:
    """The steps of chats, at most `limit` of them in all; the chats not used for longest are dropped.

    So what is held grows neither with the chats nor with their length.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._paths: OrderedDict[str, list[Step]] = OrderedDict()

    def get(self, chat: str) -> list[Step] | None:
        """Give the steps of a chat, which is then the last to be dropped."""
        steps = self._paths.get(chat)
        if steps is not None:
            self._paths.move_to_end(chat)
        return steps

    def put(self, chat: str, steps: list[Step]) -> None:
        """Keep the steps of a chat."""
        self.drop(chat)
        self._paths[chat] = steps
        self._grow(len(steps))

    def change(self, chat: str, changed: Callable[[list[Step]], None]) -> None:
        """Change the steps of a chat, if they are kept."""
        steps = self.get(chat)
        if steps is not None:
            before = len(steps)
            changed(steps)
            self._grow(len(steps) - before)

    def _grow(self, by: int) -> None:
        self._held += by
        while self._held > self._limit:
            _, steps = self._paths.popitem(last=False)
            self._held -= len(steps)

    def drop(self, chat: str) -> None:
        """Drop the steps of a chat, if they are kept."""
        self._held -= len(self._paths.pop(chat, ()))

    def clear(self) -> None:
        """Drop every step."""
        self._paths.clear()
        self._held = 0


@dataclass(frozen=True, slots=True)
class Known:
    """A person's facts in one scope, and their settings."""

    facts: Facts
    settings: PersonSettings


NOTHING = Known(Facts(), PersonSettings())


class Cache:
    """Holds at most so many steps of chats, and of persons what is known by scope.

    Who writes through this store changes the cache with it. `check` drops it when another program has written.
    """

    def __init__(self, steps: int) -> None:
        self.paths = Paths(steps)
        self.known: Recent[str, dict[str, Known]] = Recent(PERSONS)
        self._seen: int | None = None

    def check(self, seen: int) -> None:
        """Drop everything unless `seen`, which is another number once somebody else wrote, is as it was."""
        if seen != self._seen:
            self.clear()
            self._seen = seen

    def change(self, chat: str, changed: Callable[[list[Step]], None]) -> None:
        """Carry over to the kept steps of a chat what has been written."""
        self.paths.change(chat, changed)

    def clear(self) -> None:
        """Drop everything."""
        self.paths.clear()
        self.known.clear()


def change_turn(turn_id: int, changes: Mapping[str, Any]) -> Callable[[list[Step]], None]:
    """Make the change of one turn in a list of steps; a turn that is not in it is left alone."""

    def change(steps: list[Step]) -> None:
        for index in range(len(steps) - 1, -1, -1):
            step = steps[index]
            if isinstance(step, Turn) and step.id <= turn_id:
                if step.id == turn_id:
                    steps[index] = step.changed(**changes)
                return

    return change


def fold(covers: Sequence[Step], segment: Segment) -> Callable[[list[Step]], None]:
    """Make the change that puts a segment in the place of the steps it covers; other steps are left alone."""

    names = [_name(step) for step in covers]

    def change(steps: list[Step]) -> None:
        first = next((i for i, step in enumerate(steps) if _name(step) == names[0]), len(steps))
        covered = slice(first, first + len(names))
        if [_name(step) for step in steps[covered]] == names:
            steps[covered] = [segment]

    return change


def _name(step: Step) -> tuple[type[Step], int]:
    return type(step), step.id
