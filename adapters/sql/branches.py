"""Branches of a chat's turns: answering one anew, and going on after another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import bindparam, insert, select

from adapters.sql import archive, chats, turns
from adapters.sql.database import Transaction
from adapters.sql.path import RAW_TURNS, TURN_CHAT
from adapters.sql.rows import (
    ANSWER_JSON,
    MESSAGES_JSON,
    ROUNDS_JSON,
    chat_key,
    is_id,
    person_key,
    to_body,
    to_micros,
    to_turn,
)
from adapters.sql.statement import Statement
from adapters.sql.tables import TURN
from core.conversation import Conversation, State, Turn
from core.errors import StaleBase
from core.kept import placed, storable
from core.messages import ChatKey
from core.records import Branch
from core.search.terms import Terms

PLACES = Statement(
    select(TURN.c.id, TURN.c.parent, TURN.c.inside).where(TURN.c.chat == bindparam("chat")).order_by(TURN.c.id)
)
ADD_WHOLE = Statement(insert(TURN).values({c: bindparam(c.name) for c in TURN.c if c.name not in ("id", "checkpoint")}))


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


def add_turns(
    tx: Transaction, chat: ChatKey, turns: Sequence[Turn], under: int | None, terms: Terms | None
) -> list[Turn]:
    """Store turns that are done, without moving the head."""
    key = chat_key(chat)
    tx.hold(key)
    if under is not None and (not is_id(under) or tx.value(TURN_CHAT, turn=under) != key):
        raise StaleBase("The turn to add others after is erased.")
    if not turns:
        return []
    chats.ensure(tx, key, turns[0].message.private)
    epoch, ids, added = chats.state_of(tx, key, "").epoch or 0, dict[int, int](), list[Turn]()
    for turn in turns:
        parent, first = placed(turn, under, ids)
        added.append(_add(tx, key, turn.changed(chat=chat, parent=parent, retry_of=first, epoch=epoch), terms))
        ids[turn.id] = added[-1].id
    private, latest = turns[0].message.private, to_micros(max(turn.at for turn in turns))
    tx.run(chats.TOUCH, of_chat=key, private=private, at=latest)
    return added


def _add(tx: Transaction, key: str, turn: Turn, terms: Terms | None) -> Turn:
    chat = storable(turn.chat)
    messages, body = to_body(MESSAGES_JSON, tuple(replace(m, chat=chat) for m in turn.messages))
    answer, answer_body = to_body(ANSWER_JSON, turn.answer) if turn.answer else (None, None)
    plain = ("parent", "inside", "retry_of", "epoch", "tokens", "chunk", "preview", "failure")
    given = {name: getattr(turn, name) for name in plain} | {"chat": key, "sender": person_key(messages[0].sender)}
    given |= {"state": turn.state.value, "at": to_micros(turn.at), "heavy": False, "answer": answer_body}
    id_ = tx.insert(ADD_WHOLE, messages=body, rounds=to_body(ROUNDS_JSON, turn.rounds)[1], **given)
    added = turn.changed(id=id_, chat=chat, messages=messages, answer=answer)
    archive.add(tx, key, added, terms)
    return added


def branches(tx: Transaction, chat: ChatKey) -> list[Branch]:
    """Read the places of all turns."""
    return [Branch(turn, parent, bool(inside)) for turn, parent, inside in tx.rows(PLACES, chat=chat_key(chat))]


def line(tx: Transaction, chat: ChatKey, turn_id: int) -> list[Turn]:
    """Read the turns that lead to one."""
    if not is_id(turn_id) or tx.value(TURN_CHAT, turn=turn_id) != chat_key(chat):
        return []
    return [to_turn(row) for row in tx.rows(RAW_TURNS, last=turn_id, before=0)]


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
