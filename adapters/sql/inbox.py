"""The inbox: each message once, waiting until a turn takes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, delete, func, null, select, update

from adapters.sql.database import Transaction
from adapters.sql.rows import MESSAGES_JSON, chat_key, to_body, to_micros
from adapters.sql.statement import Statement, insert
from adapters.sql.tables import INBOX
from core.errors import StaleEpoch
from core.kept import storable
from core.messages import ChatKey, Message

_GIVEN = ("chat", "message", "at", "body")
_next = select(func.coalesce(func.max(INBOX.c.place), 0) + 1).where(INBOX.c.body.is_not(None)).scalar_subquery()
_given: dict[str, Any] = {name: bindparam(name) for name in _GIVEN}
RECEIVE = Statement(insert(INBOX).values({**_given, "place": _next}).on_conflict_do_nothing())
WAITING = Statement(
    select(INBOX.c.chat, INBOX.c.message, INBOX.c.body).where(INBOX.c.body.is_not(None)).order_by(INBOX.c.place)
)
WAITING_KEYS = Statement(select(INBOX.c.chat, INBOX.c.message).where(INBOX.c.body.is_not(None)).order_by(INBOX.c.place))
WAITING_IN = Statement(
    select(INBOX.c.chat, INBOX.c.message, INBOX.c.body)
    .where(INBOX.c.chat == bindparam("in_chat"), INBOX.c.body.is_not(None))
    .order_by(INBOX.c.place)
)
_this = (INBOX.c.chat == bindparam("in_chat")) & (INBOX.c.message == bindparam("of_message"))
FIND = Statement(select(INBOX.c.body, INBOX.c.turn).where(_this))
_take = update(INBOX).where(_this).values(turn=bindparam("turn"), body=null())
TAKE = Statement(_take)
TAKE_UNCHANGED = Statement(_take.where(INBOX.c.body == bindparam("as_body")))
LEAVE = Statement(update(INBOX).where(_this, INBOX.c.body.is_not(None)).values(body=null()))
EXPIRE = Statement(delete(INBOX).where(INBOX.c.body.is_(None), INBOX.c.at < bindparam("limit")))


def receive(tx: Transaction, message: Message, keep: bool) -> bool:
    """Store a message, or with `keep` false its bare key, unless it is there."""
    message, body = body_of(message)
    key, at = chat_key(message.chat), to_micros(message.sent_at)
    given = {"chat": key, "message": message.id, "at": at, "body": body if keep else None}
    is_new = tx.run(RECEIVE, **given) == 1
    if is_new and keep:
        tx.announce()
    return is_new


def waiting(tx: Transaction, chat: ChatKey | None) -> list[Message]:
    """Read what waits, in a chat or in all, in the order received."""
    rows = tx.rows(WAITING) if chat is None else tx.rows(WAITING_IN, in_chat=chat_key(chat))
    return [MESSAGES_JSON.validate_json(body)[0] for _, _, body in rows]


def leave(tx: Transaction, message: Message) -> bool:
    """Leave the bare key of a message that waits."""
    return tx.run(LEAVE, in_chat=chat_key(message.chat), of_message=storable(message.id)) == 1


def take(tx: Transaction, messages: Sequence[Message], bodies: Sequence[str], turn: int) -> tuple[Message, ...]:
    """Let a turn take messages that wait, and give them as they are stored: one may have been edited meanwhile."""
    return tuple(_take_one(tx, message, body, turn) for message, body in zip(messages, bodies, strict=True))


def _take_one(tx: Transaction, message: Message, body: str, turn: int) -> Message:
    this = {"in_chat": chat_key(message.chat), "of_message": message.id}
    if tx.run(TAKE_UNCHANGED, turn=turn, as_body=body, **this):
        return message
    stored = take_stored(tx, message, turn)
    if stored is None:
        raise StaleEpoch("A message no longer waits; it was taken by another turn or erased.")
    return stored


def take_stored(tx: Transaction, message: Message, turn: int) -> Message | None:
    """Let a turn take a message as it is stored; None when it waits no longer."""
    this = {"in_chat": chat_key(message.chat), "of_message": storable(message.id)}
    stored, _ = tx.row(FIND, **this) or (None, None)
    if stored is None:
        return None
    tx.run(TAKE, turn=turn, **this)
    return replace(MESSAGES_JSON.validate_json(stored)[0], incognito=message.incognito)


def body_of(message: Message) -> tuple[Message, str]:
    """Give a message as it can be stored, and the JSON of it alone."""
    messages, body = to_body(MESSAGES_JSON, (message,))
    return messages[0], body


def expire(tx: Transaction, now: datetime, keep_days: float) -> int:
    """Drop old bare keys."""
    return tx.run(EXPIRE, limit=to_micros(now - timedelta(days=keep_days)))
