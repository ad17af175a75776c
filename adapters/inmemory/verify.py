"""Checks that what is stored is whole."""
# ruff: noqa: D102 - what each method promises is said once, at the port

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from adapters.inmemory.state import Rows
from core.kept import chain, misplaced


class Verifying(Rows):
    """Faults, in words."""

    async def verify(self) -> Sequence[str]:
        await asyncio.sleep(0)
        return [
            *self._lost_heads(),
            *self._lost_asides(),
            *self._lost_turns(),
            *self._broken_rounds(),
            *self._lost_segments(),
            *self._lost_notes(),
            *self._lost_vectors(),
        ]

    def _lost_vectors(self) -> list[str]:
        lost = self._vectors.keys() - self._turns.keys()
        return [f"There is a vector of turn {turn}, which does not exist." for turn in sorted(lost)]

    def _lost_heads(self) -> list[str]:
        heads = [(key, c.head) for key, c in self._chats.items() if c.head is not None]
        return [f"The head {head} of {key} does not exist." for key, head in heads if head not in self._turns]

    def _lost_asides(self) -> list[str]:
        parents = self._parents()
        wrong = [key for key, c in self._chats.items() if misplaced(c.asides, parents, c.head)]
        return [f"An open aside of {key} was not begun on the way to its head." for key in wrong]

    def _lost_turns(self) -> list[str]:
        return [
            f"The turn {r.turn} that took message {message} of {chat} does not exist."
            for (chat, message), r in self._inbox.items()
            if r.turn is not None and r.turn not in self._turns
        ]

    def _broken_rounds(self) -> list[str]:
        return [
            f"A tool round of turn {t.id} has calls without their results."
            for t in self._turns.values()
            if any([c.id for c in r.calls] != [x.call_id for x in r.results] for r in t.rounds)
        ]

    def _lost_notes(self) -> list[str]:
        return [
            f"The note {note.key} of {person} is of a turn {note.turn} that does not exist."
            for (person, _), notes in self._notes.items()
            for note in notes.values()
            if note.turn is not None and note.turn not in self._turns
        ]

    def _lost_segments(self) -> list[str]:
        parents = self._parents()
        return [
            f"Segment {s.id} of {chat} does not cover the turns it says."
            for chat, s in self._segments.values()
            if sum(1 for _ in chain(parents, s.last, s.before)) != s.turns
        ]
