"""Every call that the bot made."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from adapters.telegram.server.arguments import Arguments
from adapters.telegram.server.refusals import Json


@dataclass(slots=True)
class Call:
    """A call: when it came, with what, and how it ended. Code 0 has not ended, or its connection was dropped."""

    method: str
    arguments: Arguments
    at: float
    code: int = 0
    description: str = ""
    result: Json | list[Json] | bool | str | int | None = None
    dropped: bool = False

    @property
    def chat(self) -> int | str | None:
        """The chat it was about."""
        return self.arguments.chat

    @property
    def text(self) -> str:
        """The text it brought."""
        return self.arguments.text("text") or self.arguments.text("caption")


@dataclass(slots=True)
class Journal:
    """The calls, in the order they came. With `keep` off only counts are kept."""

    keep: bool = True
    calls: list[Call] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, call: Call) -> Call:
        """Note a call."""
        self.counts[call.method] += 1
        if self.keep:
            self.calls.append(call)
        return call

    def of(self, method: str, chat: int | None = None, code: int | None = None) -> list[Call]:
        """Find the calls of a method, perhaps of one chat or with one end."""
        return [
            call
            for call in self.calls
            if call.method.lower() == method.lower() and chat in (None, call.chat) and code in (None, call.code)
        ]
