"""Between what the core speaks of and what the columns hold: keys, times, and bodies as JSON text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic_core import PydanticSerializationError
from sqlalchemy import ColumnElement

from adapters.sql.tables import SEGMENT, TURN
from core.conversation import Answer, PersonSettings, Segment, State, ToolRound, Turn
from core.facts import Change, Fact
from core.kept import storable
from core.messages import ChatKey, Message, Person

T = TypeVar("T")
Row = Sequence[Any]

_BYTES = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")
MESSAGES_JSON: TypeAdapter[tuple[Message, ...]] = TypeAdapter(
    Annotated[tuple[Message, ...], Field(min_length=1)], config=_BYTES
)
ROUNDS_JSON = TypeAdapter(tuple[ToolRound, ...])
ANSWER_JSON = TypeAdapter(Answer)
FACT_JSON = TypeAdapter(Fact)
CHANGE_JSON = TypeAdapter(Change)
SETTINGS_JSON = TypeAdapter(PersonSettings)

_MESSAGES, _ANSWER = MESSAGES_JSON.validator, ANSWER_JSON.validator
"""Most of what is read goes through these; the adapters around them cost as much again."""
_STATES = {state.value: state for state in State}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_body(adapter: TypeAdapter[T], value: T) -> tuple[T, str]:
    r"""Give a value as it can be stored, and its JSON: the one place where bodies are made fit for a database.

    What is as it is by default is left out, for most of what is stored is read again and again.
    Text that holds what no database takes shows in the JSON, as an error or as `\u0000`; only then it is cleaned.
    """
    try:
        body = adapter.dump_json(value, exclude_defaults=True).decode()
    except PydanticSerializationError:
        body = "\\u0000"
    if "\\u0000" not in body:
        return value, body
    clean = storable(value)
    return clean, adapter.dump_json(clean, exclude_defaults=True).decode()


def to_micros(at: datetime) -> int:
    """Give an aware time as microseconds since 1970."""
    return (at - _EPOCH) // _MICROSECOND


def to_time(micros: int) -> datetime:
    """Give back the time, in UTC."""
    return _EPOCH + micros * _MICROSECOND


@lru_cache(maxsize=10_000)
def chat_key(chat: ChatKey) -> str:
    """Give the key a chat is stored under."""
    return str(storable(chat))


@lru_cache(maxsize=10_000)
def person_key(person: Person) -> str:
    """Give the key a person is stored under."""
    return str(storable(person))


def is_id(number: int) -> bool:
    """Say whether a number, which a person may have typed, fits the columns for ids."""
    return 0 < number < 2**63


TURN_COLUMNS: tuple[ColumnElement[Any], ...] = (
    TURN.c.id, TURN.c.parent, TURN.c.state, TURN.c.epoch, TURN.c.at, TURN.c.tokens, TURN.c.chunk,
    TURN.c.preview, TURN.c.failure, TURN.c.messages, TURN.c.rounds, TURN.c.answer, TURN.c.inside, TURN.c.retry_of,
)  # fmt: skip


def to_turn(row: Row) -> Turn:
    """Make a turn of the values of `TURN_COLUMNS`."""
    id_, parent, state, epoch, at, tokens, chunk, preview, failure, messages, rounds, answer, inside, again = row
    said = _MESSAGES.validate_json(messages)
    return Turn(
        id_,
        parent,
        said[0].chat,
        _STATES.get(state) or State(state),
        said,
        ROUNDS_JSON.validate_json(rounds) if rounds != "[]" else (),
        _ANSWER.validate_json(answer) if answer is not None else None,
        tokens,
        chunk,
        preview,
        failure,
        epoch,
        to_time(at),
        bool(inside),
        again,
    )


SEGMENT_COLUMNS: tuple[ColumnElement[Any], ...] = (
    SEGMENT.c.id, SEGMENT.c.before, SEGMENT.c.last, SEGMENT.c.text, SEGMENT.c.tokens, SEGMENT.c.turns,
    SEGMENT.c.made_by,
)  # fmt: skip


def to_segment(row: Row) -> Segment:
    """Make a segment of the values of `SEGMENT_COLUMNS`."""
    return Segment(*row)
