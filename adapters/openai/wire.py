"""Turns a request into what goes over the wire, in the dialect of a model's server."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from adapters.openai.dialect import Dialect, Payload
from adapters.openai.marks import unmarked
from core.llm import PromptMessage, Request, ToolSpec
from core.messages import Attachment

_UNSEEN = "[An image was sent here, which can't be seen now.]"


def to_payload(
    model: str, request: Request, dialect: Dialect, limit: int | None, stream: bool, extra: Mapping[str, Any]
) -> Payload:
    """Return the body of a chat-completions call; `extra` are parameters the operator wants beside ours."""
    messages = to_messages(_with_schema_told(request, dialect), dialect)
    payload: Payload = {**extra, "model": model, "messages": messages}
    if limit and dialect.limit:
        payload[dialect.limit] = limit
    if request.tools and dialect.tools:
        payload["tools"] = [_to_tool(spec) for spec in request.tools]
    if request.schema is not None and dialect.format:
        payload["response_format"] = _to_format(request.purpose, request.schema, dialect.format)
    if stream:
        payload |= {"stream": True, "stream_options": {"include_usage": True}}
    return {name: value for name, value in payload.items() if name not in dialect.dropped}


def to_messages(messages: Iterable[PromptMessage], dialect: Dialect) -> list[Payload]:
    """Return the messages of the body."""
    plain = messages if dialect.tools else _without_tools(messages)
    wire = [_to_message(message, dialect) for message in plain]
    if dialect.system_first:
        wire.sort(key=lambda message: message["role"] != dialect.system)
    merges = dialect.merge or dialect.system_first or dialect.system == "user"
    return _merged(wire) if merges else wire


def clean(text: str) -> str:
    """Return the text without lone surrogates, which no JSON over UTF-8 can carry."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def fits_strict(schema: object) -> bool:
    """Tell whether a schema obeys the rules of strict structured outputs: every property required, none besides.

    Source: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
    """
    if isinstance(schema, list):
        return all(map(fits_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    return _is_closed(schema) and all(map(fits_strict, schema.values()))


def _is_closed(schema: Mapping[str, Any]) -> bool:
    if {"minLength", "maxLength", "allOf", "not"} & schema.keys():
        return False
    if schema.get("type") != "object":
        return True
    required = set(schema.get("required") or ())
    return schema.get("additionalProperties") is False and required == set(schema.get("properties") or ())


def _to_format(purpose: str, schema: Mapping[str, Any], kind: str) -> Payload:
    if kind == "json_object":
        return {"type": kind}
    return {"type": kind, "json_schema": {"name": purpose, "schema": dict(schema), "strict": fits_strict(schema)}}


def _to_tool(spec: ToolSpec) -> Payload:
    function = {"name": spec.name, "description": clean(spec.description), "parameters": dict(spec.parameters)}
    return {"type": "function", "function": function}


def _to_message(message: PromptMessage, dialect: Dialect) -> Payload:
    role = dialect.system if message.role == "system" else message.role
    if message.role == "tool":
        return {"role": role, "tool_call_id": message.call_id, "content": _said(message)}
    if message.calls:
        return {"role": role, "content": _said(message) or None, "tool_calls": _to_calls(message)}
    return {"role": role, "content": _to_content(message, dialect)}


def _said(message: PromptMessage) -> str:
    """Give the words of a message; only the operator's, in the system message, may hold marks of a template."""
    return clean(message.content if message.role == "system" else unmarked(message.content))


def _to_calls(message: PromptMessage) -> list[Payload]:
    return [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": clean(unmarked(call.arguments))},
        }
        for call in message.calls
    ]


def _to_content(message: PromptMessage, dialect: Dialect) -> str | list[Payload]:
    text = _said(message)
    urls = [_to_url(image) for image in message.images if image.data and dialect.images]
    seen = [{"type": "image_url", "image_url": {"url": url}} for url in urls if dialect.shows(url)]
    unseen = [_UNSEEN] * (len(message.images) - len(seen))
    words = "\n".join(filter(None, [text, *unseen]))
    if not seen:
        return words
    return [*([{"type": "text", "text": words}] if words else []), *seen]


def _to_url(image: Attachment) -> str:
    return f"data:{image.media_type or 'image/png'};base64,{b64encode(image.data).decode()}"


def _with_schema_told(request: Request, dialect: Dialect) -> tuple[PromptMessage, ...]:
    """Tell the schema in words to a server that can't be held to it."""
    if request.schema is None or dialect.format == "json_schema":
        return request.messages
    told = f"Answer with nothing but JSON that fits this schema: {json.dumps(dict(request.schema))}"
    return (*request.messages, PromptMessage("user", told))


def _without_tools(messages: Iterable[PromptMessage]) -> Iterable[PromptMessage]:
    """Tell earlier calls in words to a server that knows no tools."""
    return chain.from_iterable(map(_in_words, messages))


def _in_words(message: PromptMessage) -> list[PromptMessage]:
    if message.role == "tool":
        return [PromptMessage("user", f"[Result of a tool: {message.content}]")]
    if message.calls:
        return [PromptMessage("assistant", message.content)] if message.content else []
    return [message]


def _merged(messages: list[Payload]) -> list[Payload]:
    """Join neighbours that speak in the same role."""
    merged: list[Payload] = []
    for message in messages:
        if merged and _joinable(merged[-1], message):
            joined = _joined(merged[-1]["content"], message["content"])
            merged[-1] = {"role": message["role"], "content": joined}
        else:
            merged.append(message)
    return merged


def _joinable(one: Payload, other: Payload) -> bool:
    return one["role"] == other["role"] and not {"tool_calls", "tool_call_id"} & {*one, *other}


def _joined(one: str | list[Payload], other: str | list[Payload]) -> str | list[Payload]:
    if isinstance(one, str) and isinstance(other, str):
        return f"{one}\n\n{other}"
    return [*_parts(one), *_parts(other)]


def _parts(content: str | list[Payload]) -> list[Payload]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
