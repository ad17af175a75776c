"""What a person brings along from elsewhere: facts, their history, settings, and a talk."""
# ruff: noqa: D102 - what each method promises is said once, at the port

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from adapters.inmemory.facts import Known
from adapters.inmemory.turns import Turns
from core.errors import StaleBase
from core.kept import placed, storable
from core.messages import Person
from core.records import Brought


class Importing(Known, Turns):
    """All of it, or nothing."""

    async def bring_in(self, person: Person, brought: Brought) -> None:
        await asyncio.sleep(0)
        person, brought = storable((person, brought))
        if brought.turns and self._turns_of(brought.chat):
            raise StaleBase("The chat has turns of its own.")
        for scope, past in brought.past.items():
            fresh = [change for change in past if not self._applied(person, scope, change)]
            log = self._changes.setdefault((person, scope), [])
            log += [replace(change, id=self._next_id()) for change in fresh]
        for scope, changes in brought.changes.items():
            for change in changes:
                if not self._applied(person, scope, change):
                    self._apply(person, scope, change)
        for scope, notes in brought.notes.items():
            there = self._notes.setdefault((person, scope), {})
            for note in notes:
                there.setdefault((note.memory, note.key), note)
        if brought.settings is not None:
            self._settings[person] = brought.settings
        self._add_talk(brought)

    def _add_talk(self, brought: Brought) -> None:
        if not brought.turns:
            return
        chat, ids = self._chat(brought.chat), dict[int, int]()
        for turn in brought.turns:
            ids[turn.id] = self._add(brought.chat, turn, *placed(turn, None, ids))
        for segment in brought.segments:
            before, last = _here(segment.before, ids), ids[segment.last]
            added = replace(segment, id=self._next_id(), before=before, last=last)
            self._segments[added.id] = (brought.chat, added)
        chat.head, chat.private, chat.rested = _here(brought.head, ids), True, False
        chat.asides = tuple(_here(turn, ids) for turn in brought.asides)


def _here(turn: int | None, ids: Mapping[int, int]) -> int | None:
    return None if turn is None else ids[turn]
