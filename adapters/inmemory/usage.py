"""What requests to the model took, added up."""
# ruff: noqa: D102 - what each method promises is said once, at the port

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Literal

from adapters.inmemory.state import Rows
from core.kept import storable
from core.messages import ChatKey, Person
from core.usage import Spent, merged, whole


class Usage(Rows):
    """Entries, one for each day, person, chat, model and purpose."""

    async def spend(self, spent: Sequence[Spent]) -> None:
        await asyncio.sleep(0)
        self._spend(spent)

    def _spend(self, spent: Sequence[Spent]) -> None:
        self._usage = list(merged([*self._usage, *storable(tuple(spent))]))

    async def spent(self, since: date, *, person: Person | None = None, chat: ChatKey | None = None) -> Sequence[Spent]:
        await asyncio.sleep(0)
        person, chat = storable((person, chat))
        where = None if chat is None else whole(chat)
        found = [one for one in self._usage if one.day >= since]
        found = [one for one in found if person in (None, one.person) and where in (None, one.chat)]
        return sorted(merged([one.nameless for one in found]), key=lambda one: (one.day, one.model, one.purpose))

    async def spenders(self, since: date, of: Literal["person", "chat"], *, limit: int) -> Sequence[tuple[str, int]]:
        await asyncio.sleep(0)
        totals: Counter[str] = Counter()
        for one in self._usage:
            key = getattr(one, of)
            if one.day >= since and key is not None:
                totals[str(key)] += one.tokens
        return sorted(totals.items(), key=lambda total: (-total[1], total[0]))[:limit]

    def _usage_of(self, person: Person) -> list[Spent]:
        own = [one for one in self._usage if one.person == person]
        return sorted(own, key=lambda one: (one.day, str(one.chat or ""), one.model, one.purpose))

    def _disown(self, person: Person) -> int:
        own = self._usage_of(person)
        self._usage = [one for one in self._usage if one.person != person]
        self._spend([one.nameless for one in own])
        return len(own)

    def _move_usage(self, old: ChatKey, new: ChatKey) -> None:
        self._usage = list(merged([one.moved(new) if one.chat == old else one for one in self._usage]))
