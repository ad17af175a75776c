"""The port to measuring: what turns take, what the model costs, what became of chunks and jobs. Never any text."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from core.errors import LLMError
from core.llm import LLM, Completion, OnText, Request, Usage, Wrapped
from core.prompt import Row


class Meter(Protocol):
    """Counts and times. Nothing it does may fail or wait."""

    def turn(self, platform: str, outcome: str, seconds: float) -> None:
        """Count a turn: how it ended (`delivered`, `heard`, `waits`, or why it failed), and how long it took."""
        ...

    def part(self, name: str, seconds: float) -> None:
        """Time a part of answering: `wait` until it began, `compose`, `deliver`."""
        ...

    def prompt(self, rows: Sequence[Row]) -> None:
        """Count the tokens of a prompt by its sections: label, origin, tokens."""
        ...

    def asked(self, purpose: str, model: str, outcome: str, seconds: float, usage: Usage | None) -> None:
        """Count a request to the model: what for, how it ended (`stop`, `length`, … or the kind of error)."""
        ...

    def chunk(self, platform: str, outcome: str) -> None:
        """Count what became of a chunk: `sent`, `waits`, `ambiguous`, `refused`, `unreachable`."""
        ...

    def job(self, kind: str, outcome: str, late: float) -> None:
        """Count a durable job, `done` or `failed`, and how many seconds after it was due it began."""
        ...

    def takeover(self, platform: str) -> None:
        """Count that this process has begun to serve a bot, the first to or after another."""
        ...


class Unmeasured:
    """Measures nothing."""

    def turn(self, platform: str, outcome: str, seconds: float) -> None:
        """Count a turn."""

    def part(self, name: str, seconds: float) -> None:
        """Time a part of answering."""

    def prompt(self, rows: Sequence[Row]) -> None:
        """Count the tokens of a prompt."""

    def asked(self, purpose: str, model: str, outcome: str, seconds: float, usage: Usage | None) -> None:
        """Count a request to the model."""

    def chunk(self, platform: str, outcome: str) -> None:
        """Count what became of a chunk."""

    def job(self, kind: str, outcome: str, late: float) -> None:
        """Count a durable job."""

    def takeover(self, platform: str) -> None:
        """Count that this process has begun to serve a bot."""


@contextmanager
def timed(meter: Meter, part: str) -> Iterator[None]:
    """Time a part of answering, however it ends."""
    began = time.perf_counter()
    try:
        yield
    finally:
        meter.part(part, time.perf_counter() - began)


class MeteredLLM(Wrapped):
    """A model whose requests are counted and timed."""

    def __init__(self, llm: LLM, meter: Meter) -> None:
        super().__init__(llm)
        self._meter = meter

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """Answer a request. Raises LLMError."""
        began, outcome, usage, model = time.perf_counter(), "cancelled", None, ""
        try:
            completion = await self._llm.complete(request, on_text)
            outcome, usage, model = completion.finish, completion.usage, completion.model
        except LLMError as error:
            outcome = type(error).__name__
            raise
        finally:
            self._meter.asked(request.purpose, model, outcome, time.perf_counter() - began, usage)
        return completion
