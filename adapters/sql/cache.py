"""What was read last, kept decoded: paths by chat and facts by person, good until somebody else writes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from core.conversation import PersonSettings, Segment, Step, Turn
from core.facts import Facts

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


@dataclass(frozen=True, slots=True)
class Known:
    """A person's facts in one scope, and their settings."""

    facts: Facts
    settings: PersonSettings


NOTHING = Known(Facts(), PersonSettings())


class Cache:
    """Holds at most so many chats, and as many persons, each with what is known by scope.

    Who writes through this store changes the cache with it. `check` drops it when another program has written.
    """

    def __init__(self, chats: int) -> None:
        self.paths: Recent[str, list[Step]] = Recent(chats)
        self.known: Recent[str, dict[str, Known]] = Recent(chats)
        self._seen: int | None = None

    def check(self, seen: int) -> None:
        """Drop everything unless `seen`, which is another number once somebody else wrote, is as it was."""
        if seen != self._seen:
            self.clear()
            self._seen = seen

    def change(self, chat: str, changed: Callable[[list[Step]], None]) -> None:
        """Carry over to the kept steps of a chat what has been written."""
        steps = self.paths.get(chat)
        if steps is not None:
            changed(steps)

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
