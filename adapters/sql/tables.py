"""The tables. Keys of chats and persons are their written form; times are microseconds since 1970 in UTC.

Structured bodies are JSON as text. The same tables suit SQLite and PostgreSQL.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Index, Integer, LargeBinary, String, Text, UniqueConstraint, text
from sqlalchemy.orm import registry
from sqlmodel import AutoString, Field, SQLModel

BIG: Any = BigInteger().with_variant(Integer(), "sqlite")  # SQLite numbers rows by itself only in INTEGER
KEYED = {"sqlite_with_rowid": False}
NEVER_REUSED = {"sqlite_autoincrement": True}


def _where(condition: str) -> dict[str, Any]:
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


class Row(SQLModel, registry=registry()):
    """What all rows share: a registry of their own, so that a plug-in's SQLModel tables stay out of it."""


class InboxRow(Row, table=True):
    """A message that arrived: waiting while it has its body, taken while it has a turn, else the bare key.

    `place` is its place in the order of arrival among all that waited when it came: no clock is trusted with that.
    """

    __tablename__ = "inbox"
    __table_args__ = (
        Index("inbox_waiting", "place", **_where("body IS NOT NULL")),
        Index("inbox_bare", "at", **_where("body IS NULL")),
        KEYED,
    )

    chat: str = Field(primary_key=True)
    message: str = Field(primary_key=True)
    place: int = Field(sa_type=BigInteger)
    at: int = Field(sa_type=BigInteger)
    turn: int | None = Field(default=None, sa_type=BigInteger)
    body: str | None = Field(default=None, sa_type=Text)


class ChatRow(Row, table=True):
    """A chat. `active_at` is when it was last spoken in; `awake_at` is when it was first spoken in since it rested.

    `asides` are the turns at which the open asides were begun, as JSON.
    """

    __tablename__ = "chat"
    __table_args__ = (KEYED,)

    key: str = Field(primary_key=True)
    private: bool
    head: int | None = Field(default=None, sa_type=BigInteger)
    asides: str = Field(default="[]", sa_type=Text)
    epoch: int = 0
    edition: int = 0
    active_at: int | None = Field(default=None, sa_type=BigInteger)
    awake_at: int | None = Field(default=None, sa_type=BigInteger, index=True)


class TurnRow(Row, table=True):
    """A turn. `checkpoint` is the newest segment ending on it; `heavy` says that bytes of attachments are kept.

    One `inside` its parent begins an aside there; `retry_of` is the turn that said the same and was answered first.
    """

    __tablename__ = "turn"
    __table_args__ = (
        Index("turn_chat", "chat", "sender"),
        Index("turn_open", "id", **_where("state IN ('received', 'answered')")),
        NEVER_REUSED,
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=BIG)
    chat: str = Field(foreign_key="chat.key")
    sender: str
    parent: int | None = Field(default=None, sa_type=BigInteger)
    inside: bool = False
    retry_of: int | None = Field(default=None, sa_type=BigInteger)
    checkpoint: int | None = Field(default=None, sa_type=BigInteger)
    state: str
    epoch: int
    at: int = Field(sa_type=BigInteger)
    tokens: int
    chunk: int = 0
    preview: str = ""
    failure: str = ""
    heavy: bool = False
    messages: str = Field(sa_type=Text)
    rounds: str = Field(default="[]", sa_type=Text)
    answer: str | None = Field(default=None, sa_type=Text)


class SegmentRow(Row, table=True):
    """The gist of a contiguous range of turns, kept beneath newer ones."""

    __tablename__ = "segment"
    __table_args__ = (NEVER_REUSED,)

    id: int | None = Field(default=None, primary_key=True, sa_type=BIG)
    chat: str = Field(foreign_key="chat.key", index=True)
    before: int | None = Field(default=None, sa_type=BigInteger)
    last: int = Field(sa_type=BigInteger, foreign_key="turn.id", index=True)
    text: str = Field(sa_type=Text)
    tokens: int
    turns: int
    made_by: str


class PersonRow(Row, table=True):
    """What a person chose."""

    __tablename__ = "person"
    __table_args__ = (KEYED,)

    key: str = Field(primary_key=True)
    settings: str = Field(sa_type=Text)


class FactRow(Row, table=True):
    """A fact as it is now."""

    __tablename__ = "fact"
    __table_args__ = (UniqueConstraint("person", "scope", "key"),)

    id: int | None = Field(default=None, primary_key=True, sa_type=BIG)
    person: str
    scope: str
    key: str
    body: str = Field(sa_type=Text)


class ChangeRow(Row, table=True):
    """The history of facts. The two unique indexes make applying a call again do nothing."""

    __tablename__ = "change"
    __table_args__ = (
        Index("change_owner", "person", "scope", "id"),
        Index("change_call", "turn", "call", unique=True, **_where("turn IS NOT NULL")),
        Index("change_bare_call", "person", "scope", "call", unique=True, **_where("turn IS NULL")),
        NEVER_REUSED,
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=BIG)
    person: str
    scope: str
    key: str
    turn: int | None = Field(default=None, sa_type=BigInteger)
    call: str
    body: str = Field(sa_type=Text)


class SourceRow(Row, table=True):
    """Where facts and their history come from: turn (0 for none) and chat, to find them when these are erased."""

    __tablename__ = "source"
    __table_args__ = (KEYED,)

    person: str = Field(primary_key=True)
    scope: str = Field(primary_key=True)
    turn: int = Field(primary_key=True, sa_type=BigInteger, index=True)
    chat: str = Field(primary_key=True, index=True)


class NoteRow(Row, table=True):
    """What a memory of the operator's own keeps about a person; `chat` and `turn` are where it was said."""

    __tablename__ = "note"
    __table_args__ = (UniqueConstraint("person", "scope", "memory", "key"),)

    id: int | None = Field(default=None, primary_key=True, sa_type=BIG)
    person: str
    scope: str
    memory: str
    key: str
    text: str = Field(sa_type=Text)
    chat: str = Field(index=True)
    turn: int | None = Field(default=None, sa_type=BigInteger, index=True)


class JobRow(Row, table=True):
    """Work to do. `owner` holds it until `until`."""

    __tablename__ = "job"
    __table_args__ = (KEYED,)

    kind: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    due: int = Field(sa_type=BigInteger, index=True)
    attempts: int = 0
    owner: str | None = None
    until: int | None = Field(default=None, sa_type=BigInteger)


class AuditRow(Row, table=True):
    """An admin action."""

    __tablename__ = "audit"

    id: int | None = Field(default=None, primary_key=True, sa_type=BIG)
    admin: str
    action: str
    target: str
    at: int = Field(sa_type=BigInteger)


class AllowRow(Row, table=True):
    """Who may talk to the bot."""

    __tablename__ = "allow"
    __table_args__ = (KEYED,)

    entry: str = Field(primary_key=True)
    by: str
    at: int = Field(sa_type=BigInteger)


class ButtonRow(Row, table=True):
    """The command of a button that a platform has no room for, and who may press it."""

    __tablename__ = "button"
    __table_args__ = (NEVER_REUSED,)

    id: int | None = Field(default=None, primary_key=True, sa_type=BIG)
    owner: str = Field(index=True)
    command: str = Field(sa_type=Text)
    at: int = Field(sa_type=BigInteger, index=True)


class BlockRow(Row, table=True):
    """Who may no longer talk to the bot."""

    __tablename__ = "block"
    __table_args__ = (KEYED,)

    entry: str = Field(primary_key=True)
    by: str
    at: int = Field(sa_type=BigInteger)


class PairingRow(Row, table=True):
    """A stranger who asks to be let in, and the code that an admin does it by, good until `until`."""

    __tablename__ = "pairing"
    __table_args__ = (KEYED,)

    person: str = Field(primary_key=True)
    code: str = Field(index=True)
    until: int = Field(sa_type=BigInteger)


class LinkRow(Row, table=True):
    """An account that is one person's with the others of the same view."""

    __tablename__ = "link"
    __table_args__ = (KEYED,)

    person: str = Field(primary_key=True)
    view: str = Field(index=True)


class LinkCodeRow(Row, table=True):
    """A code by which another account can be linked with a person's, good until `until`."""

    __tablename__ = "link_code"
    __table_args__ = (KEYED,)

    person: str = Field(primary_key=True)
    code: str = Field(index=True)
    until: int = Field(sa_type=BigInteger)


class WrongCodeRow(Row, table=True):
    """A wrong code that a person entered."""

    __tablename__ = "wrong_code"

    id: int | None = Field(default=None, primary_key=True, sa_type=BIG)
    person: str = Field(index=True)
    at: int = Field(sa_type=BigInteger)


class MoveRow(Row, table=True):
    """What a chat has become."""

    __tablename__ = "move"
    __table_args__ = (KEYED,)

    old: str = Field(primary_key=True)
    new: str


class ArchiveRow(Row, table=True):
    """The terms a turn is found by: of what was said, and of the answer, until they are put together in `PostingsRow`.

    By chat, so that a search reads no other's. `parent` and `at` are the turn's.
    """

    __tablename__ = "archive"
    __table_args__ = (KEYED,)

    chat: str = Field(primary_key=True)
    turn: int = Field(primary_key=True, sa_type=BigInteger)
    parent: int | None = Field(default=None, sa_type=BigInteger)
    at: int = Field(sa_type=BigInteger)
    said: str = Field(sa_type=Text)
    replied: str = Field(default="", sa_type=Text)


class BotRow(Row, table=True):
    """The bot of a platform whose chats are kept here: those of another would have the same keys."""

    __tablename__ = "bot"
    __table_args__ = (KEYED,)

    platform: str = Field(primary_key=True)
    bot: str


class UsageRow(Row, table=True):
    """What requests to the model took on a day, in tokens; a blank person or chat is nobody's or none in particular.

    `memory` is the part of `prompt` that is remembered, `cached` the part the server had in its prompt cache.
    """

    __tablename__ = "usage"
    __table_args__ = (Index("usage_chat", "chat", "day"), KEYED)

    person: str = Field(primary_key=True)
    day: str = Field(primary_key=True, index=True)
    chat: str = Field(primary_key=True)
    model: str = Field(primary_key=True)
    purpose: str = Field(primary_key=True)
    requests: int = Field(sa_type=BigInteger)
    prompt: int = Field(sa_type=BigInteger)
    cached: int = Field(sa_type=BigInteger)
    completion: int = Field(sa_type=BigInteger)
    memory: int = Field(sa_type=BigInteger)


class VectorRow(Row, table=True):
    """The vector of what a turn tells: a signed byte for each dimension, as a model makes it."""

    __tablename__ = "vector"
    __table_args__ = (KEYED,)

    chat: str = Field(primary_key=True)
    turn: int = Field(primary_key=True, sa_type=BigInteger)
    model: str
    body: bytes = Field(sa_type=LargeBinary)


class PostingsRow(Row, table=True):
    """Many turns of a chat by the terms that they say, put together of as many `ArchiveRow`s.

    `places` are the turns, their parents, times and lengths: eight bytes each, the lowest first.
    """

    __tablename__ = "postings"
    __table_args__ = (NEVER_REUSED,)

    id: int | None = Field(default=None, primary_key=True, sa_type=BIG)
    chat: str = Field(index=True)
    places: bytes = Field(sa_type=LargeBinary)
    terms: str = Field(sa_type=Text)
    says: str = Field(sa_type=Text)


class DutyRow(Row, table=True):
    """Who serves a bot has its latest `term`: a number that rises each time it is taken by a process."""

    __tablename__ = "duty"
    __table_args__ = (KEYED,)

    bot: str = Field(primary_key=True)
    term: int = Field(sa_type=BigInteger)


class EntityRow(Row, table=True):
    """A turn that speaks of a name. `key` is what the name is known by; empty: names were looked for in the turn."""

    __tablename__ = "entity"
    __table_args__ = (KEYED,)

    chat: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    turn: int = Field(primary_key=True, sa_type=BigInteger)
    name: str


METADATA = Row.metadata
for _column in (column for table in METADATA.tables.values() for column in table.columns):
    if isinstance(_column.type, AutoString):  # keys are compared and sorted as SQLite does it, in whatever language
        _column.type = _column.type.with_variant(String(collation="C"), "postgresql")

INBOX, CHAT, TURN, SEGMENT = (METADATA.tables[name] for name in ("inbox", "chat", "turn", "segment"))
PERSON, FACT, CHANGE, SOURCE = (METADATA.tables[name] for name in ("person", "fact", "change", "source"))
JOB, AUDIT, BUTTON = (METADATA.tables[name] for name in ("job", "audit", "button"))
ALLOW, BLOCK, PAIRING, MOVE = (METADATA.tables[name] for name in ("allow", "block", "pairing", "move"))
LINK, LINK_CODE, WRONG_CODE = (METADATA.tables[name] for name in ("link", "link_code", "wrong_code"))
ARCHIVE, ENTITY, NOTE, POSTINGS = (METADATA.tables[name] for name in ("archive", "entity", "note", "postings"))
BOT, USAGE = METADATA.tables["bot"], METADATA.tables["usage"]
VECTOR = METADATA.tables["vector"]
