"""What a person brings along from elsewhere: facts, their history, settings, and the line of a talk."""
# ruff: noqa: D102 - what each method promises is said once, at the port

from __future__ import annotations

import asyncio
from dataclasses import replace

from adapters.inmemory.facts import Known
from core.errors import StaleBase
from core.kept import storable
from core.messages import Person
from core.store import Brought


class Importing(Known):
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
        self._add_line(brought)

    def _add_line(self, brought: Brought) -> None:
        if not brought.turns:
            return
        chat, ids, head = self._chat(brought.chat), dict[int | None, int | None]({None: None}), None
        for turn in brought.turns:
            added = replace(turn, id=self._next_id(), parent=head, epoch=chat.epoch)
            self._turns[added.id] = added
            head = ids[turn.id] = added.id
        for segment in brought.segments:
            before, last = ids[segment.before], ids[segment.last] or 0
            added_segment = replace(segment, id=self._next_id(), before=before, last=last)
            self._segments[added_segment.id] = (brought.chat, added_segment)
        chat.head, chat.private, chat.rested, chat.active_at = head, True, False, brought.turns[-1].at
