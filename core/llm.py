"""The port to a language model, and what goes through it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

from core.messages import Attachment

Role = Literal["system", "user", "assistant", "tool"]
Purpose = Literal["answer", "summary", "extract"]
OnText = Callable[[str], Awaitable[None]]
"""Called with the whole text so far, each time the stream brings more of it."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A function call the model made; `arguments` is its JSON as text, possibly broken."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a request. `calls` belong to the assistant; `call_id` names the call a tool message answers."""

    role: Role
    content: str
    images: tuple[Attachment, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True)
class ToolSpec:
    """What the model is told of a tool; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    @cached_property
    def written(self) -> str:
        """The whole as one text, as it is counted."""
        return self.name + self.description + json.dumps(self.parameters)


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of the model. `schema` constrains the answer to JSON; `max_tokens` caps the answer."""

    messages: tuple[PromptMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    schema: Mapping[str, Any] | None = None
    max_tokens: int | None = None
    purpose: Purpose = "answer"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server reported them; `cached` is the part of `prompt` served from its prompt cache."""

    prompt: int
    completion: int
    cached: int = 0


Finish = Literal["stop", "length", "declined", "interrupted"]


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model gave back.

    `finish` is `length` when the answer was cut at its limit, `declined` when a content filter or the model
    refused (`text` holds the refusal, if given), `interrupted` when the stream broke after some text.
    Thoughts of reasoning models (`<think>…</think>`) are not part of `text`.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    finish: Finish = "stop"
    usage: Usage | None = None
    model: str = ""


class LLM(Protocol):
    """A language model.

    `complete` streams when `on_text` is given. It obeys the server's retry hints within a stated total time,
    raises only `LLMError`s, and never puts a key into an error. After text has been passed to `on_text`, a
    failing stream is returned as a completion with `finish="interrupted"`, never retried.
    """

    @property
    def context(self) -> int:
        """The size of the model's context in tokens."""
        ...

    @property
    def calls_tools(self) -> bool:
        """Whether the model can call tools; may turn false once the server has refused them."""
        ...

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """Answer a request. Raises `LLMUnavailable`, `LLMRejected`, `ContextOverflow` or plain `LLMError`."""
        ...


class Wrapped:
    """What stands before a model, which it is like in all that it does not do itself."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    @property
    def context(self) -> int:
        """The size of the model's context in tokens."""
        return self._llm.context

    @property
    def calls_tools(self) -> bool:
        """Whether the model can call tools."""
        return self._llm.calls_tools


class TokenCounter(Protocol):
    """Counts tokens: exactly where the tokenizer is known, by a safe estimate elsewhere."""

    def count(self, text: str) -> int:
        """Count the tokens of any text at all; never raises, never waits for a network."""
        ...

    def calibrate(self, estimated: int, reported: int) -> None:
        """Learn from what a server reported of a prompt that was counted as `estimated` tokens."""
        ...
