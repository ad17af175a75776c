"""Buttons, what admins did, who may speak, and what expires."""
# ruff: noqa: D102 - what each method promises is said once, at the port

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date, datetime, timedelta

from adapters.inmemory.links import Links
from core.kept import BUTTON_DAYS, MOST_PAIRINGS, storable
from core.messages import Person
from core.records import AuditEntry


class Doors(Links):
    """Who may do what, for how long."""

    async def expire(self, now: datetime, *, keep_days: float, spent_since: date = date.min) -> int:
        await asyncio.sleep(0)
        limit = now - timedelta(days=keep_days)
        old = [key for key, r in self._inbox.items() if r.message is None and r.at < limit]
        for key in old:
            del self._inbox[key]
        self._buttons = {
            id_: button for id_, button in self._buttons.items() if button[2] >= now - timedelta(days=BUTTON_DAYS)
        }
        self._pairings = {person: pairing for person, pairing in self._pairings.items() if pairing[1] > now}
        self._expire_links(now)
        self._usage = [one for one in self._usage if one.day >= spent_since]
        return len(old)

    async def button(self, command: str, owner: Person, at: datetime) -> int:
        await asyncio.sleep(0)
        id_ = self._next_id()
        self._buttons[id_] = (storable(command), storable(owner), at)
        return id_

    async def pressed(self, id: int) -> tuple[str, Person] | None:
        await asyncio.sleep(0)
        button = self._buttons.get(id)
        return button[:2] if button else None

    async def introduce(self, bot: str) -> str:
        await asyncio.sleep(0)
        return self._bots.setdefault(bot.partition(":")[0], bot)

    async def dismiss(self, platform: str) -> bool:
        await asyncio.sleep(0)
        return self._bots.pop(platform, None) is not None

    async def audit(self, entry: AuditEntry) -> None:
        await asyncio.sleep(0)
        self._audit.append(storable(entry))

    async def audited(self, *, limit: int = 50) -> Sequence[AuditEntry]:
        await asyncio.sleep(0)
        return self._audit[::-1][:limit]

    async def allow(self, entry: str, by: str, at: datetime) -> None:
        await asyncio.sleep(0)
        self._allow.setdefault(storable(entry), (storable(by), at))

    async def disallow(self, entry: str) -> bool:
        await asyncio.sleep(0)
        return self._allow.pop(storable(entry), None) is not None

    async def allowed(self) -> Sequence[str]:
        await asyncio.sleep(0)
        return sorted(self._allow)

    async def block(self, entry: str, by: str, at: datetime) -> None:
        await asyncio.sleep(0)
        self._block.setdefault(storable(entry), (storable(by), at))

    async def unblock(self, entry: str) -> bool:
        await asyncio.sleep(0)
        return self._block.pop(storable(entry), None) is not None

    async def blocked(self) -> Sequence[str]:
        await asyncio.sleep(0)
        return sorted(self._block)

    async def pair(self, person: Person, code: str, now: datetime, until: datetime) -> str:
        await asyncio.sleep(0)
        person, good = storable(person), {p: c for p, (c, end) in self._pairings.items() if end > now}
        if person not in good and len(good) < MOST_PAIRINGS:
            good[person] = storable(code)
            self._pairings[person] = (good[person], until)
        return good.get(person, "")

    async def paired(self, code: str, now: datetime) -> Person | None:
        await asyncio.sleep(0)
        wanted = storable(code)
        found = next((p for p, (c, until) in self._pairings.items() if c == wanted and until > now), None)
        if found is not None:
            del self._pairings[found]
        return found
