"""Branches of a chat's turns: answering one anew, and going on after another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from adapters.sql import chats, turns
from adapters.sql.database import Transaction
from adapters.sql.path import TURN_CHAT
from adapters.sql.rows import MESSAGES_JSON, chat_key, is_id, person_key, to_body, to_micros
from core.conversation import Conversation, State, Turn
from core.errors import StaleBase


def move_head(tx: Transaction, seen: Conversation, to: int | None, asides: Sequence[int | None]) -> None:
    """Let a chat go on elsewhere."""
    key = chat_key(seen.chat)
    tx.hold(key)
    chats.ensure(tx, key, seen.private)
    if to is not None and (not is_id(to) or tx.value(TURN_CHAT, turn=to) != key):
        raise StaleBase("The turn to go back to is erased.")
    _lead(tx, seen, to, asides)


def _lead(tx: Transaction, seen: Conversation, to: int | None, asides: Sequence[int | None]) -> None:
    key, written = chat_key(seen.chat), json.dumps(list(asides))
    if not tx.run(chats.LEAD, of_chat=key, seen=seen.head, in_epoch=seen.epoch, head=to, asides=written):
        raise StaleBase("Something was said in the chat, or it was cleared, since it was seen.")
    tx.cache.paths.drop(key)


def retry(tx: Transaction, seen: Conversation, turn: Turn, tokens: int, at: datetime) -> Turn:
    """Begin a turn that says what another said, beside it."""
    key = chat_key(seen.chat)
    tx.hold(key)
    stored = turns.turn(tx, turn.id)
    if stored is None or chat_key(stored.chat) != key:
        raise StaleBase("The turn to answer anew is erased.")
    chat = chats.state_of(tx, key, "")
    _lead(tx, seen, stored.parent, chat.open_asides)
    epoch, micros = chat.epoch or 0, to_micros(at)
    anew = Turn(0, stored.parent, stored.chat, State.RECEIVED, stored.messages, tokens=tokens, epoch=epoch, at=at)
    anew = replace(anew, inside=stored.inside, retry_of=stored.retry_of or stored.id)
    given = {name: getattr(anew, name) for name in ("parent", "inside", "retry_of", "epoch", "tokens")}
    given |= {"chat": key, "sender": person_key(anew.sender), "state": anew.state.value, "at": micros, "heavy": False}
    id_ = tx.insert(turns.ADD, messages=to_body(MESSAGES_JSON, anew.messages)[1], **given)
    active_at = max(micros, chat.active_at or 0)
    tx.run(chats.MOVE_HEAD, of_chat=key, head=id_, private=anew.message.private, at=active_at)
    return replace(anew, id=id_)
