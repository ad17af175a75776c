"""Durable work: jobs held by one owner at a time, and chats that have gone quiet."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import bindparam, delete, null, or_, select, update

from adapters.sql import usage
from adapters.sql.database import Transaction
from adapters.sql.rows import chat_key, to_micros, to_time
from adapters.sql.statement import Statement, insert
from adapters.sql.tables import CHAT, JOB
from core.kept import FAR, storable
from core.messages import ChatKey
from core.records import Job
from core.usage import Spent

_this = (JOB.c.kind == bindparam("of_kind")) & (JOB.c.key == bindparam("of_key"))
_held = _this & (JOB.c.owner == bindparam("held_by"))
_due = or_(JOB.c.due <= bindparam("now"), JOB.c.due > bindparam("far")) & or_(
    JOB.c.until.is_(None), JOB.c.until <= bindparam("now"), JOB.c.until > bindparam("free_again")
)

ENQUEUE = Statement(
    insert(JOB)
    .values(kind=bindparam("kind"), key=bindparam("key"), due=bindparam("due"), attempts=bindparam("attempts"))
    .on_conflict_do_nothing()
)
DUE = Statement(
    select(JOB.c.kind, JOB.c.key, JOB.c.due, JOB.c.attempts)
    .where(_due)
    .order_by(JOB.c.due, JOB.c.kind, JOB.c.key)
    .limit(bindparam("limit"))
)
CLAIM = Statement(update(JOB).where(_this, _due).values(owner=bindparam("owner"), until=bindparam("until")))
FINISH = Statement(delete(JOB).where(_held))
POSTPONE = Statement(
    update(JOB).where(_held).values(due=bindparam("due"), attempts=JOB.c.attempts + 1, owner=null(), until=null())
)
QUIET = Statement(
    select(CHAT.c.key)
    .where(CHAT.c.awake_at < bindparam("before"), CHAT.c.active_at < bindparam("before"))
    .order_by(CHAT.c.active_at, CHAT.c.key)
    .limit(bindparam("limit"))
)
REST = Statement(
    update(CHAT).where(CHAT.c.key == bindparam("chat"), CHAT.c.active_at <= bindparam("seen")).values(awake_at=null())
)


def enqueue(tx: Transaction, job: Job) -> None:
    """Queue a job, once."""
    job = storable(job)
    tx.run(ENQUEUE, kind=job.kind, key=job.key, due=to_micros(job.due), attempts=job.attempts)


def claim(tx: Transaction, owner: str, now: datetime, lease: float, limit: int) -> list[Job]:
    """Take due jobs that nobody holds; each is taken by an update that another process's would make fail."""
    moment, until, far = (to_micros(now + timedelta(seconds=ahead)) for ahead in (0, lease, FAR))
    times = {"now": moment, "far": far, "free_again": far + until - moment}
    found = [Job(kind, key, to_time(due), tries) for kind, key, due, tries in tx.rows(DUE, limit=limit, **times)]
    return [
        job
        for job in found
        if tx.run(CLAIM, of_kind=job.kind, of_key=job.key, **times, owner=storable(owner), until=until)
    ]


def finish(tx: Transaction, job: Job, owner: str, spent: Sequence[Spent]) -> None:
    """Remove a job, if it is still this owner's."""
    _spend(tx, spent, held=tx.run(FINISH, **_holding(job, owner)))


def postpone(tx: Transaction, job: Job, owner: str, due: datetime, spent: Sequence[Spent]) -> None:
    """Give a job back for later, if it is still this owner's."""
    _spend(tx, spent, held=tx.run(POSTPONE, due=to_micros(due), **_holding(job, owner)))


def _spend(tx: Transaction, spent: Sequence[Spent], *, held: int) -> None:
    usage.spend(tx, spent if held else [one.nameless for one in spent])


def _holding(job: Job, owner: str) -> dict[str, str]:
    job = storable(job)
    return {"of_kind": job.kind, "of_key": job.key, "held_by": storable(owner)}


def quiet(tx: Transaction, before: datetime, limit: int) -> list[ChatKey]:
    """Read which chats have been quiet, without loading any turn."""
    return [ChatKey.parse(key) for (key,) in tx.rows(QUIET, before=to_micros(before), limit=limit)]


def rest(tx: Transaction, chat: ChatKey, seen: datetime) -> None:
    """Note that a chat has rested, unless something was said since."""
    tx.run(REST, chat=chat_key(chat), seen=to_micros(seen))
