"""LoCoMo's conversations, and the questions about them: what the archive is measured with.

The file is not shipped with this project: https://github.com/snap-research/locomo (CC BY-NC 4.0).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from adapters.sql import SqlStore
from core.conversation import State
from core.messages import Attachment, ChatKey, Message, Person

START = datetime(2024, 1, 1, tzinfo=UTC)
KINDS = {1: "several turns", 2: "a time", 3: "common sense", 4: "one turn", 5: "a trap"}


@dataclass(frozen=True)
class Question:
    """A question, its kind, and the numbers of the lines that answer it."""

    text: str
    kind: int
    lines: frozenset[int]


@dataclass(frozen=True)
class Conversation:
    """What was said, line by line, and what is asked about it."""

    said: Sequence[dict[str, str]]
    questions: Sequence[Question]


def conversations(path: Path) -> Iterator[Conversation]:
    """Read them; questions that name no line are left out."""
    for entry in json.loads(path.read_text()):
        talk = entry["conversation"]
        names = [name for name in talk if name.startswith("session_") and not name.endswith("date_time")]
        said = [line for name in sorted(names, key=lambda n: int(n.split("_")[1])) for line in talk[name]]
        numbers = {line["dia_id"]: number for number, line in enumerate(said)}
        asked = (Question(q["question"], q["category"], _evidence(q["evidence"], numbers)) for q in entry["qa"])
        yield Conversation(said, [q for q in asked if q.lines])


def _evidence(names: Sequence[str], numbers: dict[str, int]) -> frozenset[int]:
    found = (re.fullmatch(r"D:?(\d+):0*(\d+)", part) for name in names for part in re.split(r"[;,\s]+", name.strip()))
    return frozenset(numbers[key] for m in found if m and (key := f"D{m[1]}:{m[2]}") in numbers)


def message(line: dict[str, str], number: int, chat: ChatKey) -> Message:
    """Make the message of a line; a picture is what is to be seen on it."""
    picture = line.get("blip_caption", "")
    attachments = (Attachment("image", text=picture),) if picture else ()
    at = START + timedelta(minutes=number)
    sender = Person("replay", line["speaker"])
    return Message(str(number), chat, sender, line["text"], at, line["speaker"], private=False, attachments=attachments)


async def heard(store: SqlStore, said: Message) -> int:
    """Say a line; give its turn."""
    await store.receive(said)
    return (await store.begin([said], state=State.HEARD, tokens=0, at=said.sent_at)).id
