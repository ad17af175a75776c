"""What the operator is told when the database can't be used: one sentence each, with what to do."""

from __future__ import annotations

import sqlite3

from core.errors import StoreError

ELSEWHERE = "set KEEPMIND_DATABASE_URL to another"

DAMAGED = f"is damaged and was left as it is; bring back a copy of it, or {ELSEWHERE}."

_SENTENCES = {
    sqlite3.SQLITE_BUSY: "is locked by another program; stop that program, or try again later.",
    sqlite3.SQLITE_LOCKED: "is locked by another program; stop that program, or try again later.",
    sqlite3.SQLITE_FULL: "can't grow because its disk is full; free some space.",
    sqlite3.SQLITE_READONLY: f"is read-only; make it writable or {ELSEWHERE}.",
    sqlite3.SQLITE_PERM: f"may not be accessed; give the bot the right to, or {ELSEWHERE}.",
    sqlite3.SQLITE_CANTOPEN: f"can't be opened; check that it and its folder can be read and written, or {ELSEWHERE}.",
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: f"is not a SQLite database and was left as it is; {ELSEWHERE}.",
    sqlite3.SQLITE_IOERR: "can't be read or written because its disk fails; check the disk.",
    sqlite3.SQLITE_TOOBIG: "can't take a text this large.",
}


def store_error(error: Exception, where: str) -> StoreError:
    """Put an error of SQLite into a sentence; nothing that was stored is in it."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return StoreError(f"The database {where} " + _SENTENCES.get(code, f"refused an operation ({name})."))


def unreadable(where: str) -> StoreError:
    """Tell that what is stored can't be read, without showing it."""
    return StoreError(f"The database {where} holds what can't be read; run `keepmind memory verify`.")
