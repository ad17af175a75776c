"""Turns: begun at the head of their chat, loaded with all that is remembered, saved, delivered. The hot path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, insert, select, text, update

from adapters.sql import archive, chats, inbox, usage
from adapters.sql.cache import NOTHING, change_turn
from adapters.sql.chats import ChatState
from adapters.sql.database import Transaction
from adapters.sql.facts import known
from adapters.sql.inbox import body_of
from adapters.sql.jobs import enqueue
from adapters.sql.path import steps_of
from adapters.sql.rows import (
    ANSWER_JSON,
    MESSAGES_JSON,
    ROUNDS_JSON,
    TURN_COLUMNS,
    chat_key,
    is_id,
    person_key,
    to_body,
    to_micros,
    to_turn,
)
from adapters.sql.statement import Statement
from adapters.sql.tables import CHAT, TURN
from core.conversation import Conversation, State, Turn
from core.errors import StaleEpoch
from core.kept import bare, storable
from core.messages import PRIVATE, ChatKey, Message, Person
from core.records import Job, Unfinished
from core.search.terms import Terms
from core.usage import Spent

_this = TURN.c.id == bindparam("turn")
_BEGUN = ("chat", "sender", "parent", "inside", "retry_of", "state", "epoch", "at", "tokens", "heavy", "messages")
_BLANK = {"chunk": 0, "preview": "", "failure": "", "rounds": "[]"}
ADD = Statement(insert(TURN).values({name: bindparam(name) for name in _BEGUN} | _BLANK))
_SAVED = ("state", "rounds", "answer", "tokens", "chunk", "preview", "failure")
_epoch = select(CHAT.c.epoch).where(CHAT.c.key == TURN.c.chat).scalar_subquery()
SAVE = Statement(
    update(TURN)
    .where(_this, TURN.c.chat == bindparam("of_chat"), _epoch == bindparam("in_epoch"))
    .values({TURN.c[name]: bindparam(name) for name in _SAVED})
    .returning(TURN.c.heavy)
)
MESSAGES = Statement(select(TURN.c.messages).where(_this))
REWORD = Statement(update(TURN).where(_this).values(messages=bindparam("messages"), heavy=bindparam("heavy")))
EXTEND = Statement(
    update(TURN).where(_this).values({TURN.c[name]: bindparam(name) for name in ("messages", "heavy", "tokens")})
)
PROGRESS = Statement(
    update(TURN)
    .where(_this)
    .values({TURN.c[name]: bindparam(name) for name in ("chunk", "preview", "state")})
    .returning(TURN.c.chat)
)
BY_ID = Statement(select(*TURN_COLUMNS).where(_this))
_is_open = text("state IN ('received', 'answered')")
_open = select(*TURN_COLUMNS).where(_is_open).order_by(TURN.c.id)
OPEN, OPEN_IN = Statement(_open), Statement(_open.where(TURN.c.chat == bindparam("in_chat")))
OPEN_CHATS = Statement(select(TURN.c.chat).where(_is_open).order_by(TURN.c.id))


def begin(
    tx: Transaction, messages: Sequence[Message], state: State, tokens: int, at: datetime, terms: Terms | None
) -> Turn:
    """Take waiting messages into a new turn at the head."""
    tx.hold(chat_key(messages[0].chat))
    chat = chats.state_of(tx, chat_key(messages[0].chat), "")
    return _begin(tx, messages, chat, state, tokens, at, terms)


def open_turn(
    tx: Transaction, messages: Sequence[Message], tokens: int, at: datetime, terms: Terms | None
) -> tuple[Conversation, Turn]:
    """Begin a turn and load its conversation."""
    asked = messages[0]
    tx.hold(chat_key(asked.chat))
    tx.check_cache()
    before = chats.state_of(tx, chat_key(asked.chat), person_key(asked.sender))
    turn = _begin(tx, messages, before, State.RECEIVED, tokens, at, terms)
    first = turn.message
    state = ChatState(first.private, turn.id, turn.epoch, before.edition, 0, before.settings, before.asides)
    return _conversation(tx, first.chat, first.sender, state, first.private), turn


def _begin(
    tx: Transaction,
    messages: Sequence[Message],
    chat: ChatState,
    state: State,
    tokens: int,
    at: datetime,
    terms: Terms | None,
) -> Turn:
    clean, bodies = zip(*map(body_of, messages), strict=True)
    first, key, micros = clean[0], chat_key(clean[0].chat), to_micros(at)
    if chat.epoch is None:
        chats.ensure(tx, key, first.private)
    epoch = chat.epoch or 0
    inside = chat.open_asides[-1:] == (chat.head,)
    given = {"chat": key, "sender": person_key(first.sender), "parent": chat.head, "state": state.value, "at": micros}
    given |= {"inside": inside, "retry_of": None, "epoch": epoch, "tokens": tokens, "heavy": _heavy(clean)}
    id_ = tx.insert(ADD, messages=_joined(bodies), **given)
    said = _settled(tx, id_, clean, inbox.take(tx, clean, bodies, id_), state)
    active_at = max(micros, chat.active_at or 0)
    tx.run(chats.MOVE_HEAD, of_chat=key, head=id_, private=first.private, at=active_at)
    turn = Turn(id_, chat.head, first.chat, state, said, tokens=tokens, epoch=epoch, at=at, inside=inside)
    if state is State.HEARD:
        archive.add(tx, key, turn, terms)
    tx.cache.change(key, lambda steps: steps.append(turn))
    return turn


def _joined(bodies: Sequence[str]) -> str:
    return bodies[0] if len(bodies) == 1 else "[" + ",".join(body[1:-1] for body in bodies) + "]"


def _settled(
    tx: Transaction, turn: int, given: tuple[Message, ...], stored: tuple[Message, ...], state: State
) -> tuple[Message, ...]:
    """Correct what the turn was given: an edit made while it waited counts, and who is not answered needs no bytes."""
    said = stored if state is State.RECEIVED else tuple(map(bare, stored))
    if said != given:
        tx.run(REWORD, turn=turn, messages=to_body(MESSAGES_JSON, said)[1], heavy=_heavy(said))
    return said


def join(tx: Transaction, turn: Turn, messages: Sequence[Message], tokens: int, at: datetime) -> Turn | None:
    """Take waiting messages into a turn that is to be answered and is still the last."""
    key = chat_key(turn.chat)
    tx.hold(key)
    tx.check_cache()
    chat, row = chats.state_of(tx, key, ""), tx.row(BY_ID, turn=turn.id)
    if row is None or chat.head != turn.id or chat.open_asides[-1:] == (turn.id,):
        return None
    stored = to_turn(row)
    if stored.state is not State.RECEIVED or stored.retry_of is not None:
        return None
    taken = [m for message in messages if (m := inbox.take_stored(tx, message, turn.id)) is not None]
    said, tokens = (*stored.messages, *taken), stored.tokens + tokens
    tx.run(EXTEND, turn=turn.id, messages=to_body(MESSAGES_JSON, said)[1], heavy=_heavy(said), tokens=tokens)
    tx.run(chats.TOUCH, of_chat=key, private=stored.message.private, at=to_micros(at))
    tx.cache.change(key, change_turn(turn.id, {"messages": said, "tokens": tokens}))
    return stored.changed(messages=said, tokens=tokens)


def _heavy(messages: Sequence[Message]) -> bool:
    return any(a.data for m in messages for a in m.attachments)


def load(tx: Transaction, chat: ChatKey, person: Person | None, private: bool) -> Conversation:
    """Read the conversation of a chat as a person meets it."""
    tx.check_cache()
    state = chats.state_of(tx, chat_key(chat), "" if person is None else person_key(person))
    return _conversation(tx, storable(chat), storable(person), state, private)


def _conversation(
    tx: Transaction, chat: ChatKey, person: Person | None, state: ChatState, private: bool
) -> Conversation:
    private = private if state.active_at is None else bool(state.private)
    scope = PRIVATE if private else chat.scope
    about = NOTHING if person is None else known(tx, person_key(person), scope, state.settings)
    return Conversation(
        chat,
        tuple(steps_of(tx, chat_key(chat), state.head)),
        state.head,
        state.epoch or 0,
        state.edition or 0,
        private,
        person,
        scope,
        about.facts,
        about.settings,
        state.open_asides,
    )


def save(tx: Transaction, turn: Turn, jobs: Sequence[Job], spent: Sequence[Spent], terms: Terms | None) -> None:
    """Store what a turn has become, if it is still wanted."""
    key = chat_key(turn.chat)
    become, bodies = _become(turn)
    heavy = tx.value(SAVE, turn=turn.id, of_chat=key, in_epoch=turn.epoch, **{**become, **bodies})
    if heavy is None:
        raise StaleEpoch("The turn is no longer wanted; its chat was stopped or cleared.")
    if heavy and turn.state is not State.RECEIVED:
        become["messages"] = _lighten(tx, turn.id)
    if turn.answer is not None or turn.state is not State.RECEIVED:
        archive.add(tx, key, turn, terms)
    for job in jobs:
        enqueue(tx, job)
    usage.spend(tx, spent)
    tx.cache.change(key, change_turn(turn.id, become))


def _become(turn: Turn) -> tuple[dict[str, Any], dict[str, str | None]]:
    rounds, rounds_body = to_body(ROUNDS_JSON, turn.rounds) if turn.rounds else ((), "[]")
    answer, answer_body = to_body(ANSWER_JSON, turn.answer) if turn.answer else (None, None)
    become = {
        "state": turn.state,
        "rounds": rounds,
        "answer": answer,
        "tokens": turn.tokens,
        "chunk": turn.chunk,
        "preview": storable(turn.preview),
        "failure": storable(turn.failure),
    }
    return become, {"state": turn.state.value, "rounds": rounds_body, "answer": answer_body}


def _lighten(tx: Transaction, turn: int) -> tuple[Message, ...]:
    stored = MESSAGES_JSON.validate_json(tx.value(MESSAGES, turn=turn))
    messages, body = to_body(MESSAGES_JSON, tuple(map(bare, stored)))
    tx.run(REWORD, turn=turn, messages=body, heavy=False)
    return messages


def progress(tx: Transaction, turn: int, chunk: int, preview: str, state: State) -> None:
    """Note how far the delivery has come."""
    preview = storable(preview)
    chat = tx.value(PROGRESS, turn=turn, chunk=chunk, preview=preview, state=state.value)
    if chat is not None:
        tx.cache.change(chat, change_turn(turn, {"chunk": chunk, "preview": preview, "state": state}))


def turn(tx: Transaction, turn_id: int) -> Turn | None:
    """Read one turn."""
    row = tx.row(BY_ID, turn=turn_id) if is_id(turn_id) else None
    return None if row is None else to_turn(row)


def open_turns(tx: Transaction, chat: ChatKey | None) -> list[Turn]:
    """Read the turns that are not done, of a chat or of all, oldest first."""
    return [to_turn(row) for row in (tx.rows(OPEN) if chat is None else tx.rows(OPEN_IN, in_chat=chat_key(chat)))]


def unfinished(tx: Transaction) -> dict[ChatKey, Unfinished]:
    """Read in which chats turns are not done, and the keys of what waits."""
    opened = Counter(chat for (chat,) in tx.rows(OPEN_CHATS))
    waiting: dict[str, list[str]] = {chat: [] for chat in opened}
    for chat, message in tx.rows(inbox.WAITING_KEYS):
        waiting.setdefault(chat, []).append(message)
    return {ChatKey.parse(chat): Unfinished(opened[chat], ids) for chat, ids in waiting.items()}
