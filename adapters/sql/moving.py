"""A chat that becomes another: all that is kept of it goes along. How two trees join is decided by `core.kept`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, String, and_, bindparam, delete, null, or_, select, update

from adapters.sql import archive, chats, notes, usage
from adapters.sql.access import ALLOW_ENTRY, BLOCK_ENTRY
from adapters.sql.database import Transaction
from adapters.sql.erasure import (
    DELETE_FACT,
    DELETE_JOB,
    DELETE_SEGMENT,
    FACTS,
    HISTORY,
    JOBS,
    PARENTS,
    REBASE,
    REPARENT,
    RESET_CHECKPOINTS,
    SEGMENTS,
)
from adapters.sql.facts import PUT_FACT
from adapters.sql.rows import CHANGE_JSON, FACT_JSON, MESSAGES_JSON, chat_key, to_body, to_segment
from adapters.sql.statement import Statement, insert
from adapters.sql.tables import ALLOW, BLOCK, CHANGE, CHAT, FACT, INBOX, JOB, MOVE, SEGMENT, SOURCE, TURN
from core.facts import Fact
from core.kept import destination, joined, joined_asides, merged, moved, resourced, retold, storable
from core.messages import ChatKey

Keys = Mapping[str, str]
"""The keys of the chats that move, and what they become."""


_scope = bindparam("scope", type_=String)


def _moving(column: ColumnElement[str]) -> ColumnElement[bool]:
    """Say whether a key is that of the chat or of one of its topics: `0` is what follows the `/` between the two."""
    topics = and_(column > _scope + "/", column < _scope + "0")
    return or_(column == _scope, topics)


CHATS = Statement(select(CHAT.c.key).where(_moving(CHAT.c.key)))
RECEIVERS = Statement(select(INBOX.c.chat).where(_moving(INBOX.c.chat)).distinct())
STATES = ("private", "head", "asides", "epoch", "edition", "active_at", "awake_at")
STATE = Statement(select(*(CHAT.c[name] for name in STATES)).where(CHAT.c.key == bindparam("chat")))
_this = update(CHAT).where(CHAT.c.key == bindparam("of_chat"))
SET_STATE = Statement(_this.values({CHAT.c[name]: bindparam(name) for name in STATES}))
MESSAGES = Statement(select(TURN.c.id, TURN.c.messages).where(TURN.c.chat == bindparam("chat")))
MOVE_TURN = Statement(
    update(TURN)
    .where(TURN.c.id == bindparam("turn"))
    .values(chat=bindparam("to"), messages=bindparam("messages"), preview="")
)
MOVE_SEGMENTS = Statement(update(SEGMENT).where(SEGMENT.c.chat == bindparam("of_chat")).values(chat=bindparam("to")))
WAITING = Statement(
    select(INBOX.c.place, INBOX.c.at, INBOX.c.body)
    .where(INBOX.c.chat == bindparam("chat"), INBOX.c.body.is_not(None))
    .order_by(INBOX.c.place)
)
RECEIVE = Statement(
    insert(INBOX)
    .values({name: bindparam(name) for name in ("chat", "message", "place", "at", "body")})
    .on_conflict_do_nothing()
)
LEAVE_BARE = Statement(update(INBOX).where(INBOX.c.chat == bindparam("of_chat")).values(turn=null(), body=null()))
_job = JOB.alias("there")
_job_there = select(_job.c.key).where(_job.c.kind == JOB.c.kind, _job.c.key == bindparam("to")).exists()
MOVE_JOB = Statement(
    update(JOB)
    .where(JOB.c.kind == bindparam("of_kind"), JOB.c.key == bindparam("of_key"), ~_job_there)
    .values(key=bindparam("to"), owner=null(), until=null())
)
_source = or_(SOURCE.c.scope == _scope, _moving(SOURCE.c.chat))
OWNERS = Statement(select(SOURCE.c.person, SOURCE.c.scope).where(_source).distinct())
FACT_OF = Statement(
    select(FACT.c.body).where(
        FACT.c.person == bindparam("person"), FACT.c.scope == bindparam("scope"), FACT.c.key == bindparam("key")
    )
)
_change = CHANGE.alias("there")
_bare_there = (
    select(_change.c.id)
    .where(_change.c.id != CHANGE.c.id, _change.c.turn.is_(None), CHANGE.c.turn.is_(None))
    .where(_change.c.person == CHANGE.c.person, _change.c.scope == bindparam("to"), _change.c.call == CHANGE.c.call)
    .exists()
)
MOVE_CHANGE = Statement(
    update(CHANGE)
    .where(CHANGE.c.id == bindparam("row"), ~_bare_there)
    .values(scope=bindparam("to"), body=bindparam("body"))
)
_to = bindparam("to", type_=String)


def _copied(change: ColumnElement[str], where: ColumnElement[bool]) -> Statement:
    columns = [_to if column is change else column for column in SOURCE.c]
    copy = insert(SOURCE).from_select([c.name for c in SOURCE.c], select(*columns).where(where))
    return Statement(copy.on_conflict_do_nothing())


_from_chat, _from_scope = SOURCE.c.chat == bindparam("of_chat"), SOURCE.c.scope == bindparam("of_scope")
COPY_SOURCES, COPY_SCOPE = _copied(SOURCE.c.chat, _from_chat), _copied(SOURCE.c.scope, _from_scope)
DELETE_SOURCES, DELETE_SCOPE = Statement(delete(SOURCE).where(_from_chat)), Statement(delete(SOURCE).where(_from_scope))
BLOCKED = Statement(select(BLOCK.c.by, BLOCK.c.at).where(BLOCK.c.entry == bindparam("entry")))
ALLOWED = Statement(select(ALLOW.c.by, ALLOW.c.at).where(ALLOW.c.entry == bindparam("entry")))

_noted = insert(MOVE).values({c: bindparam(c.name) for c in MOVE.c})
NOTE = Statement(_noted.on_conflict_do_update(index_elements=[MOVE.c.old], set_={"new": _noted.excluded.new}))
MOVES = Statement(select(MOVE.c.old, MOVE.c.new))


def moves(tx: Transaction) -> dict[ChatKey, ChatKey]:
    """Read what chats have become."""
    return {ChatKey.parse(old): ChatKey.parse(new) for old, new in tx.rows(MOVES)}


def move_chat(tx: Transaction, old: ChatKey, new: ChatKey) -> None:
    """Move all of one chat to another."""
    old, new = storable((old, new))
    keys = _keys(tx, old, new)
    for from_, to in keys.items():
        _move_turns(tx, from_, to)
        _move_waiting(tx, from_, ChatKey.parse(to))
    _move_jobs(tx, keys)
    _move_facts(tx, old, new, keys)
    notes.move(tx, str(old), new.scope, keys)
    for found, copy in ((ALLOWED, ALLOW_ENTRY), (BLOCKED, BLOCK_ENTRY)):
        for by, at in tx.rows(found, entry=str(old)):
            tx.run(copy, entry=str(new), by=by, at=at)
    if old.topic is None:
        usage.move(tx, str(old), new)
    tx.run(NOTE, old=str(old), new=str(new))
    tx.cache.clear()


def _keys(tx: Transaction, old: ChatKey, new: ChatKey) -> Keys:
    scope = chat_key(old)
    found = {str(old), *(key for statement in (CHATS, RECEIVERS) for (key,) in tx.rows(statement, scope=scope))}
    named = {key: destination(ChatKey.parse(key), old, new) for key in sorted(found)}
    return {key: chat_key(to) for key, to in named.items() if to is not None}


def _move_turns(tx: Transaction, old: str, new: str) -> None:
    said = tx.rows(MESSAGES, chat=old)
    if not said:
        return
    chats.ensure(tx, new, private=False)
    before, there = (_state(tx, chat) for chat in (old, new))
    parents = {turn: parent for chat in (old, new) for turn, parent in tx.rows(PARENTS, chat=chat)}
    segments = [to_segment(row) for chat in (old, new) for row in tx.rows(SEGMENTS, chat=chat)]
    doing = joined(before["head"], there["head"], parents, segments)
    to = ChatKey.parse(new)
    for turn, body in said:
        messages = tuple(moved(m, to) for m in MESSAGES_JSON.validate_json(body))
        tx.run(MOVE_TURN, turn=turn, to=new, messages=to_body(MESSAGES_JSON, messages)[1])
    tx.many(REPARENT, [{"turn": turn, "to": parent} for turn, parent in doing.parents.items()])
    archive.move(tx, old, new, doing.parents)
    tx.many(REBASE, [{"segment": segment, "to": turn} for segment, turn in doing.befores.items()])
    tx.many(DELETE_SEGMENT, [{"segment": segment} for segment in doing.segments])
    tx.run(MOVE_SEGMENTS, of_chat=old, to=new)
    tx.run(RESET_CHECKPOINTS, chat=new)
    _set_states(tx, old, new, doing.head)


def _state(tx: Transaction, chat: str) -> dict[str, Any]:
    return dict(zip(STATES, tx.row(STATE, chat=chat) or (), strict=True))


def _set_states(tx: Transaction, old: str, new: str, head: int | None) -> None:
    before, there = (_state(tx, chat) for chat in (old, new))
    epoch, edition = (max(before[name], there[name]) + 1 for name in ("epoch", "edition"))
    active = [state["active_at"] for state in (before, there) if state["active_at"] is not None]
    awake = [state["awake_at"] for state in (before, there) if state["awake_at"] is not None]
    private = before["private"] if there["active_at"] is None else there["private"]
    latest = {"active_at": max(active, default=None), "awake_at": min(awake, default=None)}
    asides = json.dumps(joined_asides(*(json.loads(state["asides"]) for state in (before, there))))
    tx.run(SET_STATE, of_chat=new, private=private, head=head, asides=asides, epoch=epoch, edition=edition, **latest)
    gone = {"head": None, "asides": "[]", "active_at": None, "awake_at": None}
    tx.run(SET_STATE, of_chat=old, private=before["private"], epoch=epoch, edition=edition, **gone)


def _move_waiting(tx: Transaction, old: str, new: ChatKey) -> None:
    for place, at, body in tx.rows(WAITING, chat=old):
        message = moved(MESSAGES_JSON.validate_json(body)[0], new)
        body = to_body(MESSAGES_JSON, (message,))[1]
        tx.run(RECEIVE, chat=chat_key(new), message=message.id, place=place, at=at, body=body)
    tx.run(LEAVE_BARE, of_chat=old)


def _move_jobs(tx: Transaction, keys: Keys) -> None:
    for kind, key in tx.rows(JOBS):
        subject, mark, more = key.partition("#")
        if subject in keys:
            tx.run(MOVE_JOB, of_kind=kind, of_key=key, to=f"{keys[subject]}{mark}{more}")
            tx.run(DELETE_JOB, kind=kind, key=key)


def _move_facts(tx: Transaction, old: ChatKey, new: ChatKey, keys: Keys) -> None:
    for person, scope in tx.rows(OWNERS, scope=str(old)):
        to = new.scope if scope == str(old) else scope
        for row, body in tx.rows(HISTORY, person=person, scope=scope):
            change = retold(CHANGE_JSON.validate_json(body), keys)
            tx.run(MOVE_CHANGE, row=row, to=to, body=to_body(CHANGE_JSON, change)[1])
        for row, body in tx.rows(FACTS, person=person, scope=scope):
            _move_fact(tx, row, (person, scope, to), resourced(FACT_JSON.validate_json(body), keys))
    for from_, key in keys.items():
        tx.run(COPY_SOURCES, of_chat=from_, to=key)
        tx.run(DELETE_SOURCES, of_chat=from_)
    tx.run(COPY_SCOPE, of_scope=str(old), to=new.scope)
    tx.run(DELETE_SCOPE, of_scope=str(old))


def _move_fact(tx: Transaction, row: int, owner: tuple[str, str, str], fact: Fact) -> None:
    person, scope, to = owner
    if to != scope:
        tx.run(DELETE_FACT, row=row)
        there = tx.value(FACT_OF, person=person, scope=to, key=fact.key)
        fact = merged(fact, FACT_JSON.validate_json(there) if there else None)
    tx.run(PUT_FACT, person=person, scope=to, key=fact.key, body=to_body(FACT_JSON, fact)[1])
