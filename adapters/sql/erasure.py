"""Erasing: a turn, a fact, a chat, a person, and what an edit takes back. What goes is decided by `core.kept`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from sqlalchemy import BindParameter, bindparam, delete, func, null, or_, select, true, update

from adapters.sql import archive, chats, facts, links, notes, usage
from adapters.sql.buttons import DELETE_OF_TURN as DELETE_BUTTONS_OF_TURN
from adapters.sql.buttons import DELETE_OWN as DELETE_BUTTONS
from adapters.sql.database import Transaction
from adapters.sql.inbox import FIND, WAITING
from adapters.sql.pairing import DELETE_OWN as DELETE_PAIRING
from adapters.sql.rows import (
    FACT_JSON,
    MESSAGES_JSON,
    SEGMENT_COLUMNS,
    chat_key,
    is_id,
    person_key,
    to_body,
    to_segment,
)
from adapters.sql.statement import Statement
from adapters.sql.tables import CHANGE, CHAT, FACT, INBOX, JOB, PERSON, SEGMENT, SOURCE, TURN
from adapters.sql.turns import turn as read_turn
from core.conversation import Segment, Turn
from core.kept import Gone, Tree, covering, cut, said_inside, storable, tells, unsaid, withdrawn
from core.messages import ChatKey, Message, Person
from core.records import Receipt
from core.search.terms import Terms

_in_chat: BindParameter[str] = bindparam("chat")
_of_person: BindParameter[str] = bindparam("person")
PARENTS = Statement(select(TURN.c.id, TURN.c.parent).where(TURN.c.chat == _in_chat))
INSIDE = Statement(select(TURN.c.id).where(TURN.c.chat == _in_chat, TURN.c.inside))
_first = func.coalesce(TURN.c.retry_of, TURN.c.id)
FIRSTS = Statement(select(TURN.c.id, _first).where(TURN.c.chat == _in_chat).order_by(TURN.c.id))
_first_of = select(_first).where(TURN.c.id == bindparam("turn")).scalar_subquery()
WITH_RETRIES = Statement(select(TURN.c.id).where(TURN.c.chat == _in_chat, _first == _first_of).order_by(TURN.c.id))
OWN_TURNS = Statement(select(TURN.c.id).where(TURN.c.chat == _in_chat, TURN.c.sender == _of_person))
SEGMENTS = Statement(select(*SEGMENT_COLUMNS).where(SEGMENT.c.chat == _in_chat).order_by(SEGMENT.c.id))
TURN_CHAT = Statement(select(TURN.c.chat).where(TURN.c.id == bindparam("turn")))
_naming = func.replace(TURN.c.messages, bindparam("needle"), "") != TURN.c.messages
HELD_BY_TURNS = Statement(
    select(TURN.c.id, TURN.c.messages).where(TURN.c.chat == _in_chat, _naming).order_by(TURN.c.id.desc())
)
REPARENT = Statement(update(TURN).where(TURN.c.id == bindparam("turn")).values(parent=bindparam("to")))
PUT_INSIDE = Statement(update(TURN).where(TURN.c.id == bindparam("turn")).values(inside=true()))
REBASE = Statement(update(SEGMENT).where(SEGMENT.c.id == bindparam("segment")).values(before=bindparam("to")))
_newest = select(func.max(SEGMENT.c.id)).where(SEGMENT.c.last == TURN.c.id).scalar_subquery()
RESET_CHECKPOINTS = Statement(
    update(TURN).where(TURN.c.chat == _in_chat, TURN.c.checkpoint.is_not(None)).values(checkpoint=_newest)
)
REWORD = Statement(update(TURN).where(TURN.c.id == bindparam("turn")).values(messages=bindparam("messages")))
_waiting = (INBOX.c.chat == bindparam("in_chat")) & (INBOX.c.message == bindparam("of_message"))
REWORD_WAITING = Statement(update(INBOX).where(_waiting).values(body=bindparam("body")))
EMPTY = Statement(update(INBOX).where(_waiting).values(body=null()))
RELEASE = Statement(
    update(INBOX).where(INBOX.c.chat == _in_chat, INBOX.c.turn == bindparam("of_turn")).values(turn=null())
)
DELETE_TURN = Statement(delete(TURN).where(TURN.c.id == bindparam("turn")))
DELETE_SEGMENT = Statement(delete(SEGMENT).where(SEGMENT.c.id == bindparam("segment")))
JOBS = Statement(select(JOB.c.kind, JOB.c.key))
DELETE_JOB = Statement(delete(JOB).where(JOB.c.kind == bindparam("kind"), JOB.c.key == bindparam("key")))
_turns_of_chat = select(TURN.c.id).where(TURN.c.chat == _in_chat)
OWNERS = Statement(
    select(SOURCE.c.person, SOURCE.c.scope)
    .where(or_(SOURCE.c.chat == bindparam("source"), SOURCE.c.turn.in_(_turns_of_chat)))
    .distinct()
)
FACTS = Statement(select(FACT.c.id, FACT.c.body).where(FACT.c.person == _of_person, FACT.c.scope == bindparam("scope")))
HISTORY = Statement(
    select(CHANGE.c.id, CHANGE.c.body).where(CHANGE.c.person == _of_person, CHANGE.c.scope == bindparam("scope"))
)
SET_FACT = Statement(update(FACT).where(FACT.c.id == bindparam("row")).values(body=bindparam("body")))
DELETE_FACT = Statement(delete(FACT).where(FACT.c.id == bindparam("row")))
DELETE_CHANGE = Statement(delete(CHANGE).where(CHANGE.c.id == bindparam("row")))
DELETE_SOURCES = Statement(delete(SOURCE).where(SOURCE.c.turn == bindparam("of_turn")))
DELETE_CHAT_SOURCES = Statement(delete(SOURCE).where(SOURCE.c.chat == _in_chat))
SPOKE_IN = Statement(
    select(CHAT.c.key, CHAT.c.private)
    .where(select(TURN.c.id).where(TURN.c.chat == CHAT.c.key, TURN.c.sender == _of_person).exists())
    .order_by(CHAT.c.key)
)
SOURCED_IN = Statement(select(SOURCE.c.chat).where(SOURCE.c.person == _of_person).distinct())
HAS_SETTINGS = Statement(select(PERSON.c.settings).where(PERSON.c.key == _of_person))
ALL_FACTS = Statement(delete(FACT).where(FACT.c.person == _of_person))
ALL_CHANGES = Statement(delete(CHANGE).where(CHANGE.c.person == _of_person))
ALL_SOURCES = Statement(delete(SOURCE).where(SOURCE.c.person == _of_person))
DELETE_PERSON = Statement(delete(PERSON).where(PERSON.c.key == _of_person))


def erase_turn(tx: Transaction, chat: ChatKey, turn: int) -> Receipt:
    """Erase one turn of a chat."""
    key = chat_key(chat)
    if not is_id(turn) or tx.value(TURN_CHAT, turn=turn) != key:
        return Receipt()
    return _receipt(_erase_turns(tx, key, _with_retries(tx, key, turn)))


def said(tx: Transaction, chat: ChatKey, message_id: str) -> Message | None:
    """Read one message."""
    waiting, turn = _find(tx, chat_key(chat), storable(message_id))
    held = turn.messages if turn else ()
    return waiting or next((message for message in held if message.id == storable(message_id)), None)


def erase_message(tx: Transaction, chat: ChatKey, message_id: str) -> Receipt:
    """Erase what was said in a message."""
    key = chat_key(chat)
    waiting, turn = _find(tx, key, storable(message_id))
    if waiting is not None:
        return _receipt(_empty(tx, key, [waiting.id]))
    return _receipt(_erase_turns(tx, key, _with_retries(tx, key, turn.id))) if turn else Receipt()


def erase_branch(tx: Transaction, chat: ChatKey, turn: int) -> Receipt:
    """Erase a turn with all that was said inside it."""
    key = chat_key(chat)
    if not is_id(turn) or tx.value(TURN_CHAT, turn=turn) != key:
        return Receipt()
    tree, firsts = _tree(tx, key), dict[int, int](tx.rows(FIRSTS, chat=key))
    doomed = {firsts[t] for t in said_inside(turn, tree.parents, tree.inside)}
    return _receipt(_erase_turns(tx, key, [t for t, first in firsts.items() if first in doomed]))


def _with_retries(tx: Transaction, chat: str, turn: int) -> list[int]:
    """Find a turn with all that answer what was said there."""
    return [id_ for (id_,) in tx.rows(WITH_RETRIES, chat=chat, turn=turn)]


def erase_fact(tx: Transaction, person: Person, scope: str, key: str) -> Receipt:
    """Erase a fact with its history."""
    owner = {"person": person_key(person), "scope": storable(scope), "key": storable(key)}
    tx.run(DELETE_BUTTONS, owner=owner["person"])
    counts = Counter(facts=tx.run(facts.DELETE_FACT, **owner), changes=tx.run(facts.DELETE_CHANGES, **owner))
    tx.cache.clear()
    return _receipt(counts)


def erase_notes(tx: Transaction, person: Person, scope: str) -> Receipt:
    """Erase the notes about a person in a scope."""
    return _receipt(Counter(notes=notes.erase(tx, person, scope)))


def erase_chat(tx: Transaction, chat: ChatKey) -> Receipt:
    """Erase all of one chat."""
    return _receipt(_erase_chat(tx, chat_key(chat)))


def erase_person(tx: Transaction, person: Person) -> Receipt:
    """Erase all of a person, in their own chats and in those they shared."""
    key = person_key(person)
    spoke_in: dict[str, bool] = dict(tx.rows(SPOKE_IN, person=key))
    waiting = _waiting_of(tx, person)
    counts = Counter(buttons=tx.run(DELETE_BUTTONS, owner=key))
    for chat in sorted({*spoke_in, *waiting}):
        if spoke_in.get(chat):
            counts += _erase_chat(tx, chat)
        else:
            own = [turn for (turn,) in tx.rows(OWN_TURNS, chat=chat, person=key)]
            counts += _erase_turns(tx, chat, own) + _empty(tx, chat, waiting.get(chat, []))
    for (chat,) in tx.rows(SOURCED_IN, person=key):  # what was told there may be about to be changed
        if chat not in {*spoke_in, *waiting}:
            tx.run(chats.RAISE_EPOCH, of_chat=chat)
    return _receipt(counts + _erase_profile(tx, key) + _erase_jobs(tx, [key]))


def _erase_turns(tx: Transaction, chat: str, turns: Collection[int]) -> Counter[str]:
    chats.ensure(tx, chat)
    erased = set(turns)
    owners = tx.rows(OWNERS, chat=chat, source=chat)
    counts = Counter(turns=len(erased), segments=_cut_out(tx, chat, erased))
    counts += _withdraw(tx, owners, lambda source: source.turn in erased, erased)
    counts["notes"] += notes.forget(tx, erased)
    tx.many(DELETE_SOURCES, [{"of_turn": turn} for turn in erased])
    return counts + _erase_jobs(tx, map(str, erased))


def _cut_out(tx: Transaction, chat: str, erased: set[int]) -> int:
    doing = cut(erased, _tree(tx, chat))
    tx.many(REPARENT, [{"turn": turn, "to": to} for turn, to in doing.parents.items()])
    tx.many(PUT_INSIDE, [{"turn": turn} for turn in doing.inside])
    tx.many(REBASE, [{"segment": segment, "to": to} for segment, to in doing.befores.items()])
    _delete_segments(tx, chat, doing.segments)
    tx.many(RELEASE, [{"chat": chat, "of_turn": turn} for turn in erased])
    tx.many(DELETE_BUTTONS_OF_TURN, [{"of_turn": turn} for turn in erased])
    tx.many(DELETE_TURN, [{"turn": turn} for turn in erased])
    archive.cut_out(tx, chat, erased, doing.parents)
    tx.run(chats.AFTER_ERASURE, of_chat=chat, head=doing.head, asides=json.dumps(doing.asides))
    return len(doing.segments)


def _tree(tx: Transaction, chat: str) -> Tree:
    parents: dict[int, int | None] = dict(tx.rows(PARENTS, chat=chat))
    state, inside = chats.state_of(tx, chat, ""), {turn for (turn,) in tx.rows(INSIDE, chat=chat)}
    return Tree(parents, inside, _segments(tx, chat), state.head, state.open_asides)


def _segments(tx: Transaction, chat: str) -> list[Segment]:
    return [to_segment(row) for row in tx.rows(SEGMENTS, chat=chat)]


def _delete_segments(tx: Transaction, chat: str, segments: Collection[int]) -> None:
    tx.many(DELETE_SEGMENT, [{"segment": segment} for segment in segments])
    tx.run(RESET_CHECKPOINTS, chat=chat)


def _erase_chat(tx: Transaction, chat: str) -> Counter[str]:
    owners = tx.rows(OWNERS, chat=chat, source=chat)
    counts = _erase_turns(tx, chat, [turn for turn, _ in tx.rows(PARENTS, chat=chat)])
    counts += _withdraw(tx, owners, lambda source: source.chat == chat)
    counts["notes"] += tx.run(notes.DELETE_OF_CHAT, of_chat=chat)
    tx.run(DELETE_CHAT_SOURCES, chat=chat)
    counts += _empty(tx, chat, [message for key, message, _ in tx.rows(WAITING) if key == chat])
    tx.run(chats.SILENCE, of_chat=chat)
    return counts + _erase_jobs(tx, [chat])


def _waiting_of(tx: Transaction, person: Person) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for chat, message, body in tx.rows(WAITING):
        if MESSAGES_JSON.validate_json(body)[0].sender == storable(person):
            found.setdefault(chat, []).append(message)
    return found


def _empty(tx: Transaction, chat: str, messages: Iterable[str]) -> Counter[str]:
    return Counter(messages=tx.many(EMPTY, [{"in_chat": chat, "of_message": message} for message in messages]))


def _erase_jobs(tx: Transaction, subjects: Iterable[str]) -> Counter[str]:
    about = set(subjects)
    doomed = [{"kind": kind, "key": key} for kind, key in tx.rows(JOBS) if key.partition("#")[0] in about]
    return Counter(jobs=tx.many(DELETE_JOB, doomed))


def _erase_profile(tx: Transaction, person: str) -> Counter[str]:
    settings = int(tx.value(HAS_SETTINGS, person=person) is not None)
    counts = Counter(
        settings=settings, facts=tx.run(ALL_FACTS, person=person), changes=tx.run(ALL_CHANGES, person=person)
    )
    tx.cache.clear()
    counts["notes"] += tx.run(notes.DELETE_OF_PERSON, of_person=person)
    tx.run(ALL_SOURCES, person=person)
    tx.run(DELETE_PERSON, person=person)
    pairings = tx.run(DELETE_PAIRING, of_person=person)
    return counts + Counter(
        buttons=tx.run(DELETE_BUTTONS, owner=person),
        pairings=pairings,
        links=links.erase(tx, person),
        usage=usage.disown(tx, person),
    )


def _withdraw(
    tx: Transaction, owners: Iterable[tuple[str, str]], gone: Gone, turns: Collection[int] = ()
) -> Counter[str]:
    counts: Counter[str] = Counter()
    tx.cache.clear()
    for person, scope in owners:
        tx.run(DELETE_BUTTONS, owner=person)
        taken = _withdraw_items(tx, person, scope, gone)
        taken += _withdraw_history(tx, person, scope, gone, turns)
        counts += taken
    return counts


def _withdraw_items(tx: Transaction, person: str, scope: str, gone: Gone) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row, body in tx.rows(FACTS, person=person, scope=scope):
        fact = FACT_JSON.validate_json(body)
        left = withdrawn(fact, gone)
        if left is None:
            counts["facts"] += tx.run(DELETE_FACT, row=row)
        elif left is not fact:
            tx.run(SET_FACT, row=row, body=to_body(FACT_JSON, left)[1])
            counts["items"] += len(fact.items) - len(left.items)
    return counts


def _withdraw_history(tx: Transaction, person: str, scope: str, gone: Gone, turns: Collection[int]) -> Counter[str]:
    history = [facts.to_change(row) for row in tx.rows(HISTORY, person=person, scope=scope)]
    doomed = [change.id for change in history if change.turn in turns or tells(change, gone)]
    return Counter(changes=tx.many(DELETE_CHANGE, [{"row": row} for row in doomed]))


def edit(tx: Transaction, chat: ChatKey, message_id: str, text: str, terms: Terms | None) -> bool:
    """Replace the text of a message, waiting or in its turn, and take back what was made from the old one."""
    key, message_id, text = chat_key(chat), storable(message_id), storable(text)
    this = {"in_chat": key, "of_message": message_id}
    body, taken_by = tx.row(FIND, **this) or (None, None)
    if body is not None:
        (message,) = MESSAGES_JSON.validate_json(body)
        tx.run(REWORD_WAITING, body=to_body(MESSAGES_JSON, (replace(message, text=text),))[1], **this)
        return True
    holding = _holding(tx, key, message_id, taken_by)
    for id_ in _with_retries(tx, key, holding.id) if holding else ():
        turn = read_turn(tx, id_)
        assert turn is not None
        messages = tuple(replace(m, text=text) if m.id == message_id else m for m in turn.messages)
        _reword(tx, key, turn, messages, terms)
    return holding is not None


def reword(tx: Transaction, chat: ChatKey, turn_id: int, messages: Sequence[Message], terms: Terms | None) -> bool:
    """Put other messages in the place of a turn's."""
    key, turn = chat_key(chat), read_turn(tx, turn_id)
    if turn is None or chat_key(turn.chat) != key:
        return False
    _reword(tx, key, turn, tuple(replace(m, chat=turn.chat) for m in messages), terms)
    return True


def _find(tx: Transaction, chat: str, message_id: str) -> tuple[Message | None, Turn | None]:
    """Find a message while it waits, or else the turn that holds it."""
    body, taken_by = tx.row(FIND, in_chat=chat, of_message=message_id) or (None, None)
    if body is not None:
        return MESSAGES_JSON.validate_json(body)[0], None
    return None, _holding(tx, chat, message_id, taken_by)


def _holding(tx: Transaction, chat: str, message_id: str, turn: int | None) -> Turn | None:
    """Find the turn that holds a message, though its inbox key may have expired."""
    if turn is not None:
        return read_turn(tx, turn)
    needle = json.dumps(message_id, ensure_ascii=False)  # most turns need not be decoded to see that they hold it not
    for id_, body in tx.rows(HELD_BY_TURNS, chat=chat, needle=needle):
        if any(m.id == message_id for m in MESSAGES_JSON.validate_json(body)):
            return read_turn(tx, id_)
    return None


def _reword(tx: Transaction, chat: str, turn: Turn, messages: tuple[Message, ...], terms: Terms | None) -> None:
    messages, body = to_body(MESSAGES_JSON, messages)
    if messages == turn.messages:
        return
    tx.run(REWORD, turn=turn.id, messages=body)
    archive.reword(tx, chat, replace(turn, messages=messages), terms)
    tx.run(DELETE_BUTTONS_OF_TURN, of_turn=turn.id)
    parents: dict[int, int | None] = dict(tx.rows(PARENTS, chat=chat))
    _delete_segments(tx, chat, covering({turn.id}, parents, _segments(tx, chat)))
    notes.forget(tx, [turn.id])
    _withdraw(tx, tx.rows(OWNERS, chat=chat, source=chat), unsaid(replace(turn, messages=messages)))
    tx.run(chats.RAISE_EDITION, of_chat=chat)


def _receipt(counts: Counter[str]) -> Receipt:
    return Receipt({kind: count for kind, count in counts.items() if count})
