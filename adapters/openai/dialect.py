"""What one model at one server was found to understand of the protocol, learned from its refusals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any, Literal

Payload = dict[str, Any]

_BLIND = re.compile(
    r"(image_url|\bimages?( inputs?)?) (is|are) (not|only) supported|n[o']t support.{0,20}\bimages?\b(?! (format|type))"
    r"|vision|multi-?modal|mmproj|content must be a string|content.{0,40}valid string|at most 0 image",
    re.I,
)
_PICTURE = re.compile(r"image|picture|media[_ ]type|mime", re.I)
_MOST_KEPT = 1000
_SYSTEM = re.compile(
    r"system (role|prompt|instruction|message)s?.{0,40}(not|n't|unsupported)|"
    r"(not|n't|unsupported|only).{0,60}\bsystem\b|developer instruction|messages\[0\]\.role",
    re.I | re.S,
)
_SYSTEM_FIRST = re.compile(r"system.{0,40}(at the beginning|be (the )?first|must come first)", re.I)
_ALTERNATE = re.compile(r"alternat|consecutive (user|assistant|message)", re.I)
_OTHER_NAMES = {
    "tools": r"\btools\b|\btool[_ ](use|choice|calling)|function[_ ]call",
    "response_format": r"response_?format|\bjson|structured output|grammar",
    "stream": r"\bstream(ing|ed)?\b",
}


class Dialect:
    """What to send to a model. `adapt` gives up what its server refuses, and it is not tried again."""

    def __init__(self, model: str, calls_tools: bool | None) -> None:
        self.tools = calls_tools is not False
        self.images = True
        self._unseen: set[str] = set()
        self.system: Literal["system", "developer", "user"] = "system"
        self.system_first = False
        self.merge = False
        self.limit: str | None = "max_completion_tokens" if _reasons(model) else "max_tokens"
        self.format: Literal["json_schema", "json_object"] | None = "json_schema"
        self.streams = True
        self.answers_whole = True
        self.dropped: set[str] = set()

    def adapt(self, refusal: str, param: str, payload: Payload) -> str | None:
        """Give up what of a payload a server refuses; return its name, or None when there is nothing to give up."""
        suspects = self._suspects(refusal, param, payload)
        return next((name for name in suspects if self._give_up(name, refusal, payload)), None)

    def _suspects(self, refusal: str, param: str, payload: Payload) -> Iterator[str]:
        names = [name for name in (*payload, "stream") if name not in ("model", "messages")]
        yield from (name for name in names if param.partition("[")[0].partition(".")[0] == name)
        if any(_pictures(payload)) and _BLIND.search(refusal):
            yield "images"
        elif any(_pictures(payload)) and _PICTURE.search(refusal):
            yield "a picture"
        if _SYSTEM_FIRST.search(refusal):
            yield "system_first"
        elif _SYSTEM.search(f"{param} {refusal}"):
            yield "system"
        if _ALTERNATE.search(refusal):
            yield "merge"
        yield from (name for name in names if re.search(_OTHER_NAMES.get(name, rf"\b{name}\b"), refusal, re.I))

    def _give_up(self, name: str, refusal: str, payload: Payload) -> bool:
        """Change what is sent; True too when another request has changed it meanwhile."""
        match name:
            case "system":
                return self._give_up_system(refusal, payload)
            case "system_first" | "merge":
                changed = not getattr(self, name)
                setattr(self, name, True)
                return changed
            case "a picture":
                return self._give_up_pictures(payload)
            case "images" | "tools":
                setattr(self, name, False)
            case "max_tokens" | "max_completion_tokens":
                self._give_up_limit(name)
            case "response_format":
                self._give_up_format(payload["response_format"]["type"])
            case "stream":
                return self._give_up_stream(bool(payload.get("stream")))
            case _:
                self.dropped.add(name)
        return True

    def shows(self, url: str) -> bool:
        """Tell whether a picture may be sent: one that was refused for itself is not sent again, others are."""
        return self.images and not (self._unseen and _digest(url) in self._unseen)

    def _give_up_pictures(self, payload: Payload) -> bool:
        if len(self._unseen) > _MOST_KEPT:
            self._unseen.clear()
        self._unseen |= {_digest(url) for url in _pictures(payload)}
        return True

    def _give_up_system(self, refusal: str, payload: Payload) -> bool:
        sent = {message["role"] for message in payload["messages"]}
        if self.system not in sent:
            return True
        if self.system == "user":
            return False
        self.system = "developer" if self.system == "system" and "developer" in refusal.lower() else "user"
        return True

    def _give_up_limit(self, name: str) -> None:
        if self.limit == name:
            self.limit = "max_completion_tokens" if name == "max_tokens" else None

    def _give_up_format(self, sent: str) -> None:
        if self.format == sent:
            self.format = "json_object" if sent == "json_schema" else None

    def _give_up_stream(self, streaming: bool) -> bool:
        if streaming:
            self.streams = False
        else:
            self.answers_whole = False
        return self.streams or self.answers_whole


def _reasons(model: str) -> bool:
    return re.match(r"(o\d|gpt-5)", model.lower().rpartition("/")[2]) is not None


def _pictures(payload: Mapping[str, Any]) -> Iterator[str]:
    """Give the addresses of the pictures of a body, which hold them."""
    for message in payload["messages"]:
        content = message.get("content")
        parts = content if isinstance(content, list) else ()
        yield from (part["image_url"]["url"] for part in parts if part.get("type") == "image_url")


def _digest(url: str) -> str:
    return blake2b(url.encode()).hexdigest()
