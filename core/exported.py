"""What an export holds, as it is published in docs/export.schema.json and checked when it is brought back."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.conversation import PersonSettings, Segment, Turn
from core.facts import Change, Fact
from core.kept import EXPORT_SCHEMA
from core.messages import Message
from core.notes import Note
from core.usage import Spent

MOST_TURNS, MOST_SEGMENTS, MOST_CHANGES = 50_000, 10_000, 10_000
MOST_NAMES, MOST_NOTED, MOST_ENTRIES = 100_000, 10_000, 100_000
MOST_PLACES, MOST_FACTS, MOST_ACCOUNTS, MOST_ASIDES = 10_000, 1_000, 16, 1_000


class ExportedChat(BaseModel):
    """A chat: a private one whole, of a group the person's own turns.

    `head` is the turn its talk had come to, `asides` the turns from which open asides lead, `entities` the
    turns that speak of each name; names are looked for anew in what is brought back.
    """

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    chat: str
    private: bool
    head: int | None = None
    asides: Annotated[tuple[int | None, ...], Field(max_length=MOST_ASIDES)] = ()
    turns: Annotated[tuple[Turn, ...], Field(max_length=MOST_TURNS)]
    segments: Annotated[tuple[Segment, ...], Field(max_length=MOST_SEGMENTS)] = ()
    entities: Annotated[dict[str, tuple[int, ...]], Field(max_length=MOST_NAMES)] = Field(default_factory=dict)


class Account(BaseModel):
    """All that is kept of one account: facts, their history and notes by scope, its person's choices, what was said.

    `usage` is what the model took for it; it is not brought back.
    """

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    person: str
    settings: PersonSettings
    facts: Annotated[
        dict[str, Annotated[tuple[Fact, ...], Field(max_length=MOST_FACTS)]], Field(max_length=MOST_PLACES)
    ]
    changes: Annotated[
        dict[str, Annotated[tuple[Change, ...], Field(max_length=MOST_CHANGES)]], Field(max_length=MOST_PLACES)
    ]
    notes: Annotated[
        dict[str, Annotated[tuple[Note, ...], Field(max_length=MOST_NOTED)]], Field(max_length=MOST_PLACES)
    ] = Field(default_factory=dict)
    waiting: Annotated[tuple[Message, ...], Field(max_length=MOST_TURNS)] = ()
    chats: Annotated[tuple[ExportedChat, ...], Field(max_length=MOST_PLACES)] = ()
    usage: Annotated[tuple[Spent, ...], Field(max_length=MOST_ENTRIES)] = ()


class Export(Account):
    """An export of a person: the account it was asked from, and those linked with it."""

    version: Literal["keepmind/export/1"] = Field(alias="schema")
    linked: Annotated[tuple[Account, ...], Field(max_length=MOST_ACCOUNTS)] = ()


def json_schema() -> dict[str, Any]:
    """Give the published schema."""
    about = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": EXPORT_SCHEMA}
    return about | Export.model_json_schema(by_alias=True)
