"""What is known about people, and what they chose."""
# ruff: noqa: D102 - what each method promises is said once, at the port

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from adapters.inmemory.state import Rows
from core.conversation import Conversation, PersonSettings, Turn
from core.errors import StaleEpoch
from core.facts import Change, Facts
from core.kept import rebased, storable
from core.messages import ChatKey, Person
from core.notes import Note


class Known(Rows):
    """Facts, their changes, notes, settings."""

    async def apply(
        self,
        person: Person,
        scope: str,
        changes: Sequence[Change],
        *,
        turn: Turn | None = None,
        seen: Conversation | None = None,
    ) -> None:
        await asyncio.sleep(0)
        person, scope, changes = storable((person, scope, tuple(changes)))
        self._check_wanted(turn, seen)
        for change in changes:
            if not self._applied(person, scope, change):
                self._apply(person, scope, change)

    def _applied(self, person: Person, scope: str, change: Change) -> bool:
        where = self._changes if change.turn is not None else {(person, scope): self._changes.get((person, scope), [])}
        return any((c.turn, c.call) == (change.turn, change.call) for log in where.values() for c in log)

    def _apply(self, person: Person, scope: str, wanted: Change) -> None:
        change = rebased(wanted, self._facts.get((person, scope), {}).get(wanted.key))
        if change is None:
            return
        self._changes.setdefault((person, scope), []).append(replace(change, id=self._next_id()))
        facts = self._facts.setdefault((person, scope), {})
        if change.after is None:
            facts.pop(change.key, None)
        else:
            facts[change.key] = change.after

    async def known(self, person: Person, scope: str) -> Facts:
        await asyncio.sleep(0)
        return Facts(dict(self._facts.get(storable((person, scope)), {})))

    async def changes(self, person: Person, scope: str, *, limit: int = 50) -> Sequence[Change]:
        await asyncio.sleep(0)
        return self._changes.get(storable((person, scope)), [])[::-1][:limit]

    async def note(self, person: Person, scope: str, note: Note, *, turn: Turn | None = None) -> None:
        await asyncio.sleep(0)
        person, scope, note = storable((person, scope, note))
        if turn is not None and self._chat(storable(turn.chat)).epoch != turn.epoch:
            raise StaleEpoch("The chat was stopped or cleared since this was learned.")
        notes = self._notes.setdefault((person, scope), {})
        if note.text:
            notes[note.memory, note.key] = note
        else:
            notes.pop((note.memory, note.key), None)

    async def notes(self, person: Person, scope: str) -> Sequence[Note]:
        await asyncio.sleep(0)
        return list(self._notes.get(storable((person, scope)), {}).values())

    async def settings(self, person: Person) -> PersonSettings:
        await asyncio.sleep(0)
        return self._settings.get(storable(person), PersonSettings())

    async def choose(
        self, person: Person, chosen: Callable[[PersonSettings], PersonSettings], *, turn: Turn | None = None
    ) -> None:
        await asyncio.sleep(0)
        self._check_wanted(turn)
        key = storable(person)
        self._settings[key] = storable(chosen(self._settings.get(key, PersonSettings())))

    def _check_wanted(self, turn: Turn | None, seen: Conversation | None = None) -> None:
        for since in (turn, seen):
            if since is not None and self._chat(storable(since.chat)).epoch != since.epoch:
                raise StaleEpoch("The chat was stopped or cleared since this was learned.")
        if turn is not None and turn.id not in self._turns:
            raise StaleEpoch("The turn that taught this was erased.")

    async def scopes(self, person: Person) -> Sequence[str]:
        await asyncio.sleep(0)
        kept = [*self._facts.items(), *self._notes.items()]
        return sorted({scope for (who, scope), found in kept if who == storable(person) and found})

    async def people(self, chat: ChatKey) -> Sequence[Person]:
        await asyncio.sleep(0)
        return sorted({t.sender for t in self._turns_of(storable(chat))}, key=str)
