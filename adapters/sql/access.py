"""What admins did, and who may talk to the bot."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, delete, select

from adapters.sql.database import Transaction
from adapters.sql.rows import to_micros, to_time
from adapters.sql.statement import Statement, insert
from adapters.sql.tables import ALLOW, AUDIT, BLOCK
from core.kept import storable
from core.records import AuditEntry

NOTE = Statement(insert(AUDIT).values({c: bindparam(c.name) for c in AUDIT.c if c.name != "id"}))
NOTES = Statement(
    select(AUDIT.c.admin, AUDIT.c.action, AUDIT.c.target, AUDIT.c.at)
    .order_by(AUDIT.c.id.desc())
    .limit(bindparam("limit"))
)
ALLOW_ENTRY = Statement(insert(ALLOW).values({c: bindparam(c.name) for c in ALLOW.c}).on_conflict_do_nothing())
DISALLOW = Statement(delete(ALLOW).where(ALLOW.c.entry == bindparam("of_entry")))
ALLOWED = Statement(select(ALLOW.c.entry).order_by(ALLOW.c.entry))
BLOCK_ENTRY = Statement(insert(BLOCK).values({c: bindparam(c.name) for c in BLOCK.c}).on_conflict_do_nothing())
UNBLOCK = Statement(delete(BLOCK).where(BLOCK.c.entry == bindparam("of_entry")))
BLOCKED = Statement(select(BLOCK.c.entry).order_by(BLOCK.c.entry))


def audit(tx: Transaction, entry: AuditEntry) -> None:
    """Note an admin action."""
    clean = storable(entry)
    tx.run(NOTE, admin=clean.admin, action=clean.action, target=clean.target, at=to_micros(clean.at))


def audited(tx: Transaction, limit: int) -> list[AuditEntry]:
    """Read the latest admin actions."""
    return [AuditEntry(admin, action, target, to_time(at)) for admin, action, target, at in tx.rows(NOTES, limit=limit)]


def allow(tx: Transaction, entry: str, by: str, at: datetime) -> None:
    """Add an entry to the allow table, unless it is there."""
    tx.run(ALLOW_ENTRY, entry=storable(entry), by=storable(by), at=to_micros(at))


def disallow(tx: Transaction, entry: str) -> bool:
    """Take an entry off the allow table."""
    return tx.run(DISALLOW, of_entry=storable(entry)) > 0


def allowed(tx: Transaction) -> list[str]:
    """Read the allow table."""
    return [entry for (entry,) in tx.rows(ALLOWED)]


def block(tx: Transaction, entry: str, by: str, at: datetime) -> None:
    """Add an entry to the block table, unless it is there."""
    tx.run(BLOCK_ENTRY, entry=storable(entry), by=storable(by), at=to_micros(at))


def unblock(tx: Transaction, entry: str) -> bool:
    """Take an entry off the block table."""
    return tx.run(UNBLOCK, of_entry=storable(entry)) > 0


def blocked(tx: Transaction) -> list[str]:
    """Read the block table."""
    return [entry for (entry,) in tx.rows(BLOCKED)]
