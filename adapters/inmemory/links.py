"""Accounts that are one person's, the codes that link them, and wrong codes entered."""
# ruff: noqa: D102 - what each method promises is said once, at the port

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from adapters.inmemory.state import Rows
from core.kept import WRONG_CODE_HOURS, storable
from core.messages import Person


class Links(Rows):
    """Who is one with whom."""

    async def offer_link(self, person: Person, code: str, until: datetime) -> None:
        await asyncio.sleep(0)
        self._link_codes[storable(person)] = (storable(code), until)

    async def link_owner(self, code: str, now: datetime) -> Person | None:
        await asyncio.sleep(0)
        return self._owner(storable(code), now)

    def _owner(self, code: str, now: datetime) -> Person | None:
        return next((p for p, (kept, until) in self._link_codes.items() if kept == code and until > now), None)

    async def link(self, code: str, person: Person, now: datetime) -> Person | None:
        await asyncio.sleep(0)
        code, person = storable((code, person))
        owner = self._owner(code, now)
        if owner is None or owner == person:
            return None
        del self._link_codes[owner]
        view, joining = self._links.get(owner, code), self._links.get(person)
        for one in [p for p, v in self._links.items() if joining is not None and v == joining]:
            self._links[one] = view
        self._links |= {owner: view, person: view}
        return owner

    async def unlink(self, person: Person) -> bool:
        await asyncio.sleep(0)
        return self._leave(storable(person)) > 0

    async def linked(self, person: Person) -> Sequence[Person]:
        await asyncio.sleep(0)
        person = storable(person)
        view = self._links.get(person)
        return sorted((p for p, v in self._links.items() if v == view and p != person), key=str)

    async def note_wrong_code(self, person: Person, at: datetime) -> None:
        await asyncio.sleep(0)
        self._wrong_codes.append((storable(person), at))

    async def wrong_codes(self, person: Person, since: datetime) -> int:
        await asyncio.sleep(0)
        return sum(p == storable(person) and at > since for p, at in self._wrong_codes)

    def _expire_links(self, now: datetime) -> None:
        self._link_codes = {p: offered for p, offered in self._link_codes.items() if offered[1] > now}
        limit = now - timedelta(hours=WRONG_CODE_HOURS)
        self._wrong_codes = [(p, at) for p, at in self._wrong_codes if at >= limit]
