"""Puts an answer together from the chunks of a stream, or from the one chunk of a whole answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from adapters.openai.thoughts import Thoughts
from core.llm import Completion, Finish, ToolCall, Usage

MOST = 1_000_000
"""Characters of an answer, its calls and thoughts included: more than any context holds, so that it never ends."""
_MOST_TOKENS = 2**31
_MOST_NAME = 200
_FINISH: dict[str, Finish] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "declined",
    "refusal": "declined",
    "safety": "declined",
}


@dataclass(slots=True)
class _Draft:
    index: object
    id: str = ""
    name: str = ""
    arguments: str = ""

    def add(self, fragment: Mapping[str, Any]) -> None:
        function = _mapping(fragment.get("function"))
        self.id = self.id or _name(fragment.get("id"))
        self.name = self.name or _name(function.get("name"))
        self.arguments += _text_of_arguments(function.get("arguments"))

    def continues(self, fragment: Mapping[str, Any]) -> bool:
        """Tell whether a fragment belongs here; some servers number every call 0, others none."""
        if fragment.get("index") != self.index:
            return False
        begins = bool(_mapping(fragment.get("function")).get("name"))
        return not begins or _name(fragment.get("id")) == self.id != ""

    def to_call(self) -> ToolCall:
        return ToolCall(self.id or f"call_{uuid4().hex[:24]}", self.name, self.arguments or "{}")


class Answer:
    """An answer so far: `text` without thoughts, and whether the server has `finished` it.

    `chosen` says that it has begun to answer at all, `shown` that somebody has seen some of it.
    """

    def __init__(self) -> None:
        self._thoughts = Thoughts()
        self._refusal = ""
        self._drafts: list[_Draft] = []
        self._usage: Usage | None = None
        self._model = ""
        self._reason = ""
        self._size = 0
        self.id = ""
        self.chosen = self.shown = False

    @property
    def text(self) -> str:
        """What may be shown."""
        return self._thoughts.said

    @property
    def finished(self) -> bool:
        """Whether the server said why it ended; a stream cut short never does."""
        return bool(self._reason)

    @property
    def is_endless(self) -> bool:
        """Whether more has come than an answer can be."""
        return self._size > MOST

    def add(self, chunk: object) -> bool:
        """Take in a chunk, whatever is missing in it; return whether there is more to show."""
        before = self.text
        body = _mapping(chunk)
        self.id = self.id or _name(body.get("id"))
        self._model = _name(body.get("model")) or self._model
        self._usage = _to_usage(body.get("usage")) or self._usage
        for choice in _mappings(body.get("choices")):
            self._add_choice(choice)
        return self.text != before

    def completion(self, interrupted: bool = False) -> Completion:
        """Return what has come as a completion."""
        self._thoughts.end()
        text = self._refusal.strip() or self.text.strip()
        if interrupted:
            return Completion(text, (), "interrupted", self._usage, self._model)
        calls = tuple(draft.to_call() for draft in self._drafts if draft.name)
        return Completion(text, calls, self._finish(text), self._usage, self._model)

    def _finish(self, text: str) -> Finish:
        if self._refusal:
            return "declined"
        if self._thoughts.thinking and not text:
            return "length"
        return _FINISH.get(self._reason, "stop")

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        self.chosen = True
        reason = str(choice.get("finish_reason") or "")
        self._reason = self._reason if reason in ("", "error") else reason.lower()
        delta = _mapping(choice.get("delta") or choice.get("message"))
        content, refusal = _text_of_content(delta.get("content")), str(delta.get("refusal") or "")
        fragments = list(_mappings(delta.get("tool_calls")))
        self._size += len(content) + len(refusal) + sum(len(repr(fragment)) for fragment in fragments)
        if self.is_endless:
            return
        self._thoughts.add(content)
        self._refusal += refusal
        for fragment in fragments:
            self._draft_of(fragment).add(fragment)

    def _draft_of(self, fragment: Mapping[str, Any]) -> _Draft:
        for draft in reversed(self._drafts):
            if draft.continues(fragment):
                return draft
        self._drafts.append(_Draft(fragment.get("index")))
        return self._drafts[-1]


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _mappings(value: object) -> Iterable[Mapping[str, Any]]:
    return (item for item in value if isinstance(item, Mapping)) if isinstance(value, list) else ()


def _text_of_content(content: object) -> str:
    """Return the text of a content given as text, as parts, or not at all."""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text") or "") for part in _mappings(content))


def _text_of_arguments(arguments: object) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False)


def _name(value: object) -> str:
    return str(value or "")[:_MOST_NAME]


def _count(value: object) -> int:
    return int(min(max(value, 0), _MOST_TOKENS)) if isinstance(value, int | float) and value == value else 0


def _to_usage(value: object) -> Usage | None:
    usage = _mapping(value)
    if not usage:
        return None
    cached = _mapping(usage.get("prompt_tokens_details")).get("cached_tokens")
    return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")), _count(cached))
