"""Every call of the API that the bot made."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from adapters.discord.server.refusals import Json, Refusal


@dataclass(frozen=True, slots=True)
class Upload:
    """A file in a multipart body."""

    name: str
    media_type: str
    data: bytes


@dataclass(slots=True)
class Call:
    """A call: when it came, with what, and how it ended. Status 0 has not ended, or its connection was dropped.

    `ids` are the variable parts of its path, `files` what was uploaded, by the number in its field's name.
    """

    name: str
    at: float
    ids: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    body: Any = None
    files: dict[int, Upload] = field(default_factory=dict)
    status: int = 0
    code: int = 0
    message: str = ""
    result: Any = None
    dropped: bool = False

    @property
    def channel(self) -> int | None:
        """The channel it was about."""
        return self.number("channel")

    @property
    def text(self) -> str:
        """The text it brought."""
        body = self.body if isinstance(self.body, dict) else {}
        inner = body.get("data") or body.get("message") or body
        return str((inner.get("content") if isinstance(inner, dict) else "") or "")

    def number(self, name: str) -> int | None:
        """Give an id of its path; None when it has none or it is no number."""
        value = self.ids.get(name, "")
        return int(value) if value.isdecimal() else None

    def fields(self) -> Json:
        """Give the body as an object. Raises Refusal."""
        if self.body is None:
            return {}
        if not isinstance(self.body, dict):
            raise Refusal(400, 50109, "The request body contains invalid JSON.")
        return self.body


@dataclass(slots=True)
class Journal:
    """The calls, in the order they came. With `keep` off only counts are kept."""

    keep: bool = True
    calls: list[Call] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, call: Call) -> Call:
        """Note a call."""
        self.counts[call.name] += 1
        if self.keep:
            self.calls.append(call)
        return call

    def of(self, name: str, channel: int | None = None, status: int | None = None) -> list[Call]:
        """Find the calls of a name, perhaps of one channel or with one end."""
        return [
            call
            for call in self.calls
            if call.name == name and channel in (None, call.channel) and status in (None, call.status)
        ]


async def read(call: Call, request: web.Request) -> None:
    """Read a call's JSON or multipart body into it. Raises Refusal."""
    if request.content_type == "multipart/form-data":
        await _read_form(call, request)
    elif request.can_read_body:
        if request.content_type != "application/json":
            raise Refusal(400, 50035, "Invalid Form Body", errors={"_errors": [_CONTENT_TYPE]})
        call.body = _parsed(await request.read())


_CONTENT_TYPE = {
    "code": "CONTENT_TYPE_INVALID",
    "message": "Expected \"Content-Type\" header to be one of {'application/json'}.",
}


async def _read_form(call: Call, request: web.Request) -> None:
    for name, part in (await request.post()).items():
        if isinstance(part, web.FileField):
            number = name.removeprefix("files[").removesuffix("]")
            if not number.isdecimal():
                raise Refusal(400, 50035, "Invalid Form Body")
            call.files[int(number)] = Upload(part.filename, part.content_type, part.file.read())
        elif name == "payload_json":
            call.body = _parsed(str(part).encode())


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        raise Refusal(400, 50109, "The request body contains invalid JSON.") from None
