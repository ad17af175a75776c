"""A server at the seam httpx2 gives: it answers with what a test scripted and keeps what it was asked."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from typing import Any

import httpx2

from adapters.openai import OpenAILLM
from core.llm import PromptMessage, Request, ToolSpec

Scripted = httpx2.Response | Exception

HI = Request((PromptMessage("system", "Be kind."), PromptMessage("user", "Hi")))
WEATHER = ToolSpec("weather", "Tell the weather.", {"type": "object", "properties": {}})
KEY = "sk-proj-1234567890abcdef1234567890"


def said(text: str, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """A chunk with some text."""
    return {"choices": [{"index": 0, "delta": {"content": text, **more}, "finish_reason": finish}]}


def calling(*fragments: object, finish: str | None = None) -> dict[str, Any]:
    """A chunk with fragments of tool calls."""
    return {"choices": [{"index": 0, "delta": {"tool_calls": list(fragments)}, "finish_reason": finish}]}


def stream(*chunks: object, broken: Exception | None = None) -> httpx2.Response:
    """A streamed answer; a chunk given as text is sent as it is."""
    return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=_bytes(chunks, broken))


async def _bytes(chunks: Iterable[object], broken: Exception | None) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield f"data: {chunk if isinstance(chunk, str) else json.dumps(chunk)}\n\n".encode()
    if broken:
        raise broken
    yield b"data: [DONE]\n\n"


def whole(text: str | None, finish: str | None = "stop", **message: Any) -> httpx2.Response:
    """An answer in one piece."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    return httpx2.Response(200, json={"id": "1", "model": "m", "choices": [choice]})


def refused(status: int, message: str, headers: dict[str, str] | None = None, **more: Any) -> httpx2.Response:
    """An error in OpenAI's shape."""
    return httpx2.Response(status, json={"error": {"message": message, **more}}, headers=headers)


class Server:
    """Gives the scripted answers in turn, the last one for ever; time passes only while the client sleeps."""

    def __init__(self, *answers: Scripted) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []
        self.naps: list[float] = []
        self.shown: list[str] = []

    def llm(self, **settings: Any) -> OpenAILLM:
        """A model behind this server."""
        client = httpx2.AsyncClient(transport=httpx2.MockTransport(self._answer))
        settings = {"model": "gpt-4o", "api_key": KEY, "base_url": "http://model.test/v1", **settings}
        return OpenAILLM(http_client=client, clock=lambda: sum(self.naps), sleep=self._sleep, **settings)

    async def show(self, text: str) -> None:
        """Keep what would be shown to a person."""
        self.shown.append(text)

    async def _sleep(self, seconds: float) -> None:
        self.naps.append(seconds)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(json.loads(request.content))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer
