"""What a bot sent along with a call."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from adapters.telegram.server.refusals import bad_request


@dataclass(frozen=True, slots=True)
class Upload:
    """A file in a multipart body."""

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Arguments:
    """The fields and files of one call, whichever of the four ways they came."""

    values: dict[str, Any] = field(default_factory=dict)
    files: dict[str, Upload] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Give a field as text; empty when it is missing."""
        value = self.values.get(name)
        return "" if value is None else str(value)

    def integer(self, name: str, otherwise: int = 0) -> int:
        """Give a field as a number. Raises Refusal when it is none."""
        value = self.text(name)
        try:
            return int(value) if value else otherwise
        except ValueError:
            raise bad_request(f"field {name} must be a number") from None

    def flag(self, name: str) -> bool:
        """Give a field as yes or no."""
        return self.text(name).lower() in ("true", "1", "yes", "on")

    def json(self, name: str) -> Any:
        """Give a field that holds JSON; None when it is missing. Raises Refusal."""
        value = self.values.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value) if value else None
        except ValueError:
            raise bad_request(f"can't parse {name} JSON object") from None

    @property
    def chat(self) -> int | str | None:
        """The chat it is about: an id or an @name."""
        value = self.text("chat_id")
        try:
            return int(value)
        except ValueError:
            return value or None


async def read(request: web.Request) -> Arguments:
    """Read a call's query string and its form, multipart or JSON body."""
    values: dict[str, Any] = dict(request.query)
    files: dict[str, Upload] = {}
    if request.content_type == "application/json":
        try:
            values |= await request.json()
        except (ValueError, TypeError):
            raise bad_request("can't parse JSON object") from None
    elif request.can_read_body:
        for name, part in (await request.post()).items():
            if isinstance(part, web.FileField):
                files[name] = Upload(part.filename, part.content_type, part.file.read())
            else:
                values[name] = part
    return Arguments(values, files)
