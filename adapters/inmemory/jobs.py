"""Durable jobs, and the chats that have gone quiet."""
# ruff: noqa: D102 - what each method promises is said once, at the port

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from adapters.inmemory.state import Queued
from adapters.inmemory.usage import Usage
from core.kept import FAR, storable
from core.messages import ChatKey
from core.records import Job
from core.usage import Spent


class Jobs(Usage):
    """What is to be done, and by whom."""

    async def enqueue(self, job: Job) -> None:
        await asyncio.sleep(0)
        self._enqueue(job)

    def _enqueue(self, job: Job) -> None:
        job = storable(job)
        self._jobs.setdefault((job.kind, job.key), Queued(job))

    async def claim(self, owner: str, now: datetime, *, lease: float, limit: int) -> Sequence[Job]:
        await asyncio.sleep(0)
        far, free_again = now + timedelta(seconds=FAR), now + timedelta(seconds=FAR + lease)
        due = [q for q in self._jobs.values() if not now < q.job.due <= far]
        free = [q for q in due if q.until is None or not now < q.until <= free_again]
        taken = sorted(free, key=lambda q: (q.job.due, q.job.kind, q.job.key))[:limit]
        for queued in taken:
            queued.owner, queued.until = owner, now + timedelta(seconds=lease)
        return [queued.job for queued in taken]

    async def finish(self, job: Job, owner: str, *, spent: Sequence[Spent] = ()) -> None:
        await asyncio.sleep(0)
        queued = self._held(job, owner)
        self._spend(spent if queued else [one.nameless for one in spent])
        if queued:
            del self._jobs[queued.job.kind, queued.job.key]

    async def postpone(self, job: Job, owner: str, due: datetime, *, spent: Sequence[Spent] = ()) -> None:
        await asyncio.sleep(0)
        queued = self._held(job, owner)
        self._spend(spent if queued else [one.nameless for one in spent])
        if queued:
            later = replace(queued.job, due=due, attempts=queued.job.attempts + 1)
            self._jobs[later.kind, later.key] = Queued(later)

    def _held(self, job: Job, owner: str) -> Queued | None:
        queued = self._jobs.get(storable((job.kind, job.key)))
        return queued if queued and queued.until and queued.owner == owner else None

    async def quiet(self, before: datetime, *, limit: int) -> Sequence[ChatKey]:
        await asyncio.sleep(0)
        awake = [(c.active_at, str(k), k) for k, c in self._chats.items() if c.active_at and not c.rested]
        return [key for active_at, _, key in sorted(awake, key=lambda a: a[:2]) if active_at < before][:limit]

    async def rest(self, chat: ChatKey, seen: datetime) -> None:
        await asyncio.sleep(0)
        kept = self._chats.get(storable(chat))
        if kept and kept.active_at and kept.active_at <= seen:
            kept.rested = True
