"""Facts with their history and sources, and what a person chose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import bindparam, delete, select

from adapters.sql.cache import Known
from adapters.sql.database import Row, Transaction
from adapters.sql.rows import CHANGE_JSON, FACT_JSON, SETTINGS_JSON, chat_key, person_key, to_body
from adapters.sql.statement import Statement, insert
from adapters.sql.tables import CHANGE, CHAT, FACT, NOTE, PERSON, SOURCE, TURN
from core.conversation import Conversation, PersonSettings, Turn
from core.errors import StaleEpoch
from core.facts import Change, Fact, Facts
from core.kept import rebased, storable
from core.messages import ChatKey, Person

_owned_facts = (FACT.c.person == bindparam("person")) & (FACT.c.scope == bindparam("scope"))
_owned_changes = (CHANGE.c.person == bindparam("person")) & (CHANGE.c.scope == bindparam("scope"))

EPOCH = Statement(select(CHAT.c.epoch).where(CHAT.c.key == bindparam("chat")))
THERE = Statement(select(TURN.c.id).where(TURN.c.id == bindparam("turn")))
BODIES = Statement(select(FACT.c.body).where(_owned_facts).order_by(FACT.c.id))
BODY = Statement(select(FACT.c.body).where(_owned_facts, FACT.c.key == bindparam("key")))
DELETE_FACT = Statement(delete(FACT).where(_owned_facts, FACT.c.key == bindparam("key")))
DELETE_CHANGES = Statement(delete(CHANGE).where(_owned_changes, CHANGE.c.key == bindparam("key")))
_fact = insert(FACT).values({c: bindparam(c.name) for c in FACT.c if c.name != "id"})
PUT_FACT = Statement(
    _fact.on_conflict_do_update(
        index_elements=[FACT.c.person, FACT.c.scope, FACT.c.key], set_={"body": _fact.excluded.body}
    )
)
ADD_CHANGE = Statement(
    insert(CHANGE).values({c: bindparam(c.name) for c in CHANGE.c if c.name != "id"}).on_conflict_do_nothing()
)
ADD_SOURCE = Statement(insert(SOURCE).values({c: bindparam(c.name) for c in SOURCE.c}).on_conflict_do_nothing())
CHANGES = Statement(
    select(CHANGE.c.id, CHANGE.c.body).where(_owned_changes).order_by(CHANGE.c.id.desc()).limit(bindparam("limit"))
)
SETTINGS = Statement(select(PERSON.c.settings).where(PERSON.c.key == bindparam("person")))
_person = insert(PERSON).values(key=bindparam("person"), settings=bindparam("settings"))
SET_SETTINGS = Statement(
    _person.on_conflict_do_update(index_elements=[PERSON.c.key], set_={"settings": _person.excluded.settings})
)
_noted = select(NOTE.c.scope).where(NOTE.c.person == bindparam("person"))
SCOPES = Statement(select(FACT.c.scope).where(FACT.c.person == bindparam("person")).union(_noted).order_by("scope"))
PEOPLE = Statement(select(TURN.c.sender).where(TURN.c.chat == bindparam("chat")).distinct().order_by(TURN.c.sender))


def known(tx: Transaction, person: str, scope: str, settings: str | None) -> Known:
    """Give the facts and the settings of a person, from the cache when they are there."""
    scopes = tx.cache.known.get(person)
    if scopes is None:
        scopes = {}
        tx.cache.known.put(person, scopes)
    if scope not in scopes:
        facts = Facts({fact.key: fact for fact in read_facts(tx, person, scope)})
        scopes[scope] = Known(facts, to_settings(settings))
    return scopes[scope]


def of(tx: Transaction, person: Person, scope: str) -> Facts:
    """Read the facts about a person in a scope."""
    return Facts({fact.key: fact for fact in read_facts(tx, person_key(person), storable(scope))})


def read_facts(tx: Transaction, person: str, scope: str) -> list[Fact]:
    """Read the facts of a person in a scope, in the order they were first stored."""
    return [FACT_JSON.validate_json(body) for (body,) in tx.rows(BODIES, person=person, scope=scope)]


def to_settings(body: str | None) -> PersonSettings:
    """Give what a person chose; the defaults when they chose nothing."""
    return PersonSettings() if body is None else SETTINGS_JSON.validate_json(body)


def apply(
    tx: Transaction,
    person: Person,
    scope: str,
    changes: Sequence[Change],
    turn: Turn | None = None,
    seen: Conversation | None = None,
) -> None:
    """Store changes, each call once, if the turn that made them is still wanted."""
    _check_wanted(tx, turn, seen)
    key = person_key(person)
    for change in changes:
        _apply(tx, key, storable(scope), change)
    tx.cache.known.drop(key)


def record(tx: Transaction, person: Person, scope: str, changes: Sequence[Change]) -> None:
    """Add changes to the history alone, each call once."""
    owner = {"person": person_key(person), "scope": storable(scope)}
    for change in changes:
        clean, body = to_body(CHANGE_JSON, change)
        if tx.insert(ADD_CHANGE, key=clean.key, turn=clean.turn, call=clean.call, body=body, **owner):
            _note_sources(tx, owner, clean)


def _note_sources(tx: Transaction, owner: Mapping[str, str], change: Change) -> None:
    tx.many(ADD_SOURCE, [{**owner, "turn": turn, "chat": chat} for turn, chat in _sources(change)])


def _apply(tx: Transaction, person: str, scope: str, wanted: Change) -> None:
    clean, _ = to_body(CHANGE_JSON, wanted)
    owner = {"person": person, "scope": scope, "key": clean.key}
    stored = tx.value(BODY, **owner)
    found = rebased(clean, None if stored is None else FACT_JSON.validate_json(stored))
    if found is None:
        return
    change, body = to_body(CHANGE_JSON, found)
    if not tx.insert(ADD_CHANGE, turn=change.turn, call=change.call, body=body, **owner):
        return
    if change.after is None:
        tx.run(DELETE_FACT, **owner)
    else:
        tx.run(PUT_FACT, body=to_body(FACT_JSON, change.after)[1], **owner)
    _note_sources(tx, {"person": person, "scope": scope}, change)


def _sources(change: Change) -> Iterator[tuple[int, str]]:
    yield change.turn or 0, ""
    for fact in (change.before, change.after):
        yield from ((item.source.turn or 0, item.source.chat) for item in (fact.items if fact else ()))


def changes(tx: Transaction, person: Person, scope: str, limit: int) -> list[Change]:
    """Read the latest changes, newest first."""
    rows = tx.rows(CHANGES, person=person_key(person), scope=storable(scope), limit=limit)
    return [to_change(row) for row in rows]


def to_change(row: Row) -> Change:
    """Make a change of its id and body."""
    id_, body = row
    return replace(CHANGE_JSON.validate_json(body), id=id_)


def settings(tx: Transaction, person: Person) -> PersonSettings:
    """Read what a person chose."""
    return to_settings(tx.value(SETTINGS, person=person_key(person)))


def choose(
    tx: Transaction, person: Person, chosen: Callable[[PersonSettings], PersonSettings], turn: Turn | None = None
) -> None:
    """Change what a person chose, if the turn for which it is changed is still wanted."""
    _check_wanted(tx, turn)
    set_settings(tx, person, chosen(settings(tx, person)))


def _check_wanted(tx: Transaction, turn: Turn | None, seen: Conversation | None = None) -> None:
    for since in (turn, seen):
        if since is not None and tx.value(EPOCH, chat=chat_key(since.chat)) not in (None, since.epoch):
            raise StaleEpoch("The chat was stopped or cleared since this was learned.")
    if turn is not None and tx.value(THERE, turn=turn.id) is None:
        raise StaleEpoch("The turn that taught this was erased.")


def set_settings(tx: Transaction, person: Person, chosen: PersonSettings) -> None:
    """Store what a person chose."""
    _, body = to_body(SETTINGS_JSON, chosen)
    key = person_key(person)
    tx.run(SET_SETTINGS, person=key, settings=body)
    tx.cache.known.drop(key)


def scopes(tx: Transaction, person: Person) -> list[str]:
    """Read the scopes that hold facts or notes of a person."""
    return [scope for (scope,) in tx.rows(SCOPES, person=person_key(person))]


def people(tx: Transaction, chat: ChatKey) -> list[Person]:
    """Read who has spoken in a chat."""
    return [Person.parse(sender) for (sender,) in tx.rows(PEOPLE, chat=chat_key(chat))]
