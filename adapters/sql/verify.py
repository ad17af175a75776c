"""Checking that what is stored holds together; each fault is one sentence."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import func, select

from adapters.sql import archive, entities, notes, vectors, verify_chats, verify_facts
from adapters.sql.database import Transaction
from adapters.sql.rows import MESSAGES_JSON
from adapters.sql.statement import Statement
from adapters.sql.tables import CHAT, INBOX, JOB, LINK, TURN

RECEIVED = Statement(
    select(INBOX.c.chat, INBOX.c.message, INBOX.c.turn, TURN.c.id, INBOX.c.body)
    .outerjoin(TURN, TURN.c.id == INBOX.c.turn)
    .where(INBOX.c.turn.is_not(None) | INBOX.c.body.is_not(None))
    .order_by(INBOX.c.place)
)
JOBS = Statement(select(JOB.c.kind, JOB.c.key).order_by(JOB.c.kind, JOB.c.key))
CHATS = Statement(select(CHAT.c.key))
TURNS = Statement(select(TURN.c.id))
ALONE = Statement(select(LINK.c.view).group_by(LINK.c.view).having(func.count() == 1).order_by(LINK.c.view))


def verify(tx: Transaction) -> list[str]:
    """Check everything."""
    return [
        *tx.damage(),
        *_inbox(tx),
        *_jobs(tx),
        *verify_facts.faults(tx),
        *archive.strays(tx),
        *entities.strays(tx),
        *vectors.strays(tx),
        *notes.faults(tx),
        *(f"The view {view} links an account with no other." for (view,) in tx.rows(ALONE)),
        *verify_chats.faults(tx),
    ]


def _inbox(tx: Transaction) -> Iterator[str]:
    for chat, message, taken_by, turn, body in tx.rows(RECEIVED):
        if taken_by is not None and turn is None:
            yield f"The turn {taken_by} that took message {message} of {chat} does not exist."
        if taken_by is not None and body is not None:
            yield f"Message {message} of {chat} waits, though the turn {taken_by} has taken it."
        if body is not None and not _is_message(chat, message, body):
            yield f"The waiting message {message} of {chat} can't be read."


def _is_message(chat: str, message: str, body: str) -> bool:
    try:
        (waiting,) = MESSAGES_JSON.validate_json(body)
    except ValueError:
        return False
    return (str(waiting.chat), waiting.id) == (chat, message)


def _jobs(tx: Transaction) -> Iterator[str]:
    chats = {str(chat) for (chat,) in tx.rows(CHATS)}
    subjects = {"compact": chats, "rest": chats, "extract": {str(turn) for (turn,) in tx.rows(TURNS)}}
    for kind, key in tx.rows(JOBS):
        about = key.partition("#")[0]
        if about not in subjects.get(kind, {about}):
            yield f"The job {kind} is about {about}, which does not exist."
