"""The language model itself: asks a server, streams the answer, and gets over what can be got over."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx2
import openai

from adapters.openai import trouble as troubles
from adapters.openai.answer import Answer
from adapters.openai.client import safe_url, to_client
from adapters.openai.contexts import known_context
from adapters.openai.dialect import Dialect, Payload
from adapters.openai.trouble import Server, Trouble, UnknownModel
from adapters.openai.waits import Patience, Sleep
from adapters.openai.wire import to_payload
from core.errors import LLMUnavailable
from core.llm import Completion, OnText, Request

logger = logging.getLogger("keepmind.model")

_WHOLE = 5
"""A whole answer may take this many times as long as a pause within a stream."""
_ROOM_TO_THINK = 4096
"""The answer's limit for the one retry, when thoughts alone used up a limit we did not set."""


@dataclass(slots=True)
class _Model:
    name: str
    dialect: Dialect


class OpenAILLM:
    """A model behind an OpenAI-compatible server. Constructing it touches no network.

    `context` is the size in tokens, by default what is known of the model's name. `reply_tokens` caps each answer.
    `fallback_model` of the same server is asked when the main one is down or unknown. `calls_tools=None` tries.
    In seconds: `silence` is the longest pause within a stream, `connect` the longest wait for a connection, `longest`
    the longest an answer may take. `retries` and `retry_seconds` bound the tries of one question. `extra` goes into
    each request, `answer_extra` (temperature, penalties) only into those for answers to people.
    Raises ConfigError for a key that can't stand in a header.
    """

    def __init__(
        self,
        *,
        model: str,
        api_key: str = "",
        base_url: str | None = None,
        context: int | None = None,
        reply_tokens: int | None = None,
        fallback_model: str | None = None,
        calls_tools: bool | None = None,
        silence: float = 60.0,
        connect: float = 10.0,
        longest: float = 600.0,
        retries: int = 3,
        retry_seconds: float = 60.0,
        extra: Mapping[str, Any] | None = None,
        answer_extra: Mapping[str, Any] | None = None,
        http_client: httpx2.AsyncClient | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._model = _Model(model, Dialect(model, calls_tools))
        self._fallback = _Model(fallback_model, Dialect(fallback_model, calls_tools)) if fallback_model else None
        self._context = context or known_context(model)
        self._reply_tokens = reply_tokens
        self._silence, self._connect, self._longest = silence, connect, longest
        self._extra, self._answer_extra = _set(extra), _set(answer_extra)
        self._patience = partial(Patience, retries, retry_seconds, clock, sleep, chance)
        self._client = to_client(api_key, base_url, http_client)
        self._server = Server(safe_url(self._client.base_url), api_key.strip())

    @property
    def context(self) -> int:
        """The size of the model's context in tokens; shrinks to what the server says when it refuses a request."""
        return self._context

    @property
    def calls_tools(self) -> bool:
        """Whether tools are offered to the model; false once the server has refused them."""
        return self._model.dialect.tools

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """Answer a request, as `core.llm.LLM` states."""
        patience = self._patience()
        try:
            return await self._ask(self._model, request, on_text, patience)
        except (LLMUnavailable, UnknownModel):
            if self._fallback is None:
                raise
        logger.warning("model=%s fails, asking model=%s", self._model.name, self._fallback.name)
        patience.renew()
        return await self._ask(self._fallback, request, on_text, patience)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _ask(self, model: _Model, request: Request, on_text: OnText | None, patience: Patience) -> Completion:
        limit = request.max_tokens or self._reply_tokens
        completion = await self._persist(model, request, limit, on_text, patience)
        if completion.finish != "length" or completion.text or completion.calls:
            return completion
        logger.warning("model=%s said nothing within its limit, asking once more with a larger one", model.name)
        return await self._persist(model, request, self._larger(limit), on_text, patience)

    def _larger(self, limit: int | None) -> int:
        return max(limit or 0, min((limit or _ROOM_TO_THINK // 4) * 4, self._context // 2))

    async def _persist(
        self, model: _Model, request: Request, limit: int | None, on_text: OnText | None, patience: Patience
    ) -> Completion:
        """Try until there is an answer, an error that no try cures, or no patience."""
        while True:
            payload = self._payload(model, request, limit, on_text)
            try:
                return await self._try(payload, on_text)
            except Trouble as trouble:
                if not self._adapts(model, trouble, payload) and not await self._waits(model, trouble, patience):
                    raise trouble.error from None

    def _payload(self, model: _Model, request: Request, limit: int | None, on_text: OnText | None) -> Payload:
        dialect = model.dialect
        stream = dialect.streams if on_text else not dialect.answers_whole
        extra = {**self._extra, **self._answer_extra} if request.purpose == "answer" else self._extra
        return to_payload(model.name, request, dialect, limit, stream, extra)

    def _adapts(self, model: _Model, trouble: Trouble, payload: Payload) -> bool:
        if trouble.size and model is self._model:
            self._context = min(self._context, trouble.size)
        name = model.dialect.adapt(trouble.refusal, trouble.param, payload) if trouble.refusal else None
        if name:
            logger.warning("model=%s status=%s refuses %s, going on without", model.name, trouble.status, name)
        return name is not None

    async def _waits(self, model: _Model, trouble: Trouble, patience: Patience) -> bool:
        again = trouble.again and await patience.wait(trouble.wait)
        logger.warning("model=%s status=%s failed, %s", model.name, trouble.status, "again" if again else "given up")
        return again

    async def _try(self, payload: Payload, on_text: OnText | None) -> Completion:
        answer = Answer()
        try:
            await self._receive(answer, payload, on_text)
        except Trouble:
            if not answer.shown:
                raise
            return _noted(answer, answer.completion(interrupted=True))
        return _noted(answer, answer.completion())

    async def _receive(self, answer: Answer, payload: Payload, on_text: OnText | None) -> None:
        try:
            async with asyncio.timeout(self._longest) as limit, aclosing(self._chunks(payload)) as chunks:
                async for chunk in chunks:
                    if answer.add(chunk) and on_text and answer.text:
                        answer.shown = True
                        await on_text(answer.text)
                    if answer.is_endless:
                        raise troubles.endless(self._server)
        except TimeoutError:
            if limit.expired():
                raise troubles.endless(self._server) from None
            raise
        if not answer.finished and (payload.get("stream") or not answer.chosen):
            raise troubles.cut_short(self._server)

    async def _chunks(self, payload: Payload) -> AsyncGenerator[object, None]:
        """Yield the chunks of an answer. Raises Trouble, whatever the library raises."""
        try:
            if payload.get("stream"):
                async for chunk in self._streamed(payload):
                    yield chunk
            else:
                yield self._checked(await self._post(payload), payload)
        except troubles.LIBRARY_ERRORS as error:
            raise troubles.to_trouble(error, payload["model"], self._server) from None

    async def _streamed(self, payload: Payload) -> AsyncGenerator[object, None]:
        stream = await self._client.post(
            "/chat/completions",
            cast_to=object,
            body=payload,
            options={"timeout": self._timeout(self._silence)},
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        async with stream:
            if "text/event-stream" not in stream.response.headers.get("content-type", "text/event-stream"):
                yield self._checked(_parsed(await stream.response.aread()), payload)
                return
            async for chunk in stream:
                yield chunk

    async def _post(self, payload: Payload) -> object:
        timeout = self._timeout(self._silence * _WHOLE)
        return await self._client.post("/chat/completions", cast_to=object, body=payload, options={"timeout": timeout})

    def _timeout(self, read: float) -> httpx2.Timeout:
        return httpx2.Timeout(read, connect=self._connect)

    def _checked(self, whole: object, payload: Payload) -> object:
        """Return a whole answer. Raises Trouble when it is none."""
        if isinstance(whole, str) and whole.lstrip().startswith("data:"):
            raise troubles.unasked_stream(self._server)
        if not isinstance(whole, dict):
            raise troubles.not_the_protocol(self._server)
        if whole.get("error"):
            raise troubles.from_body(whole["error"], payload["model"], self._server)
        return whole


def _noted(answer: Answer, completion: Completion) -> Completion:
    logger.info("model=%s id=%s finish=%s usage=%s", completion.model, answer.id, completion.finish, completion.usage)
    return completion


def _set(extra: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the parameters that the operator has set."""
    return {name: value for name, value in (extra or {}).items() if value is not None}


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    except ValueError:
        return None
