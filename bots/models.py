"""Opens the language model that the settings name: a server, or the small local one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from bots.output import tell
from config.settings import Settings
from core.errors import ConfigError, LLMRejected, LLMUnavailable
from core.llm import LLM, Completion, OnText, Request, TokenCounter

LOCAL_CONTEXT = 4096
LOCAL_EXTRA = {"temperature": 0.2, "stop": ["<remembered", "</remembered"]}
"""So small a model wanders off when it writes more freely, and may write on in the form of what it is given."""


@asynccontextmanager
async def open_model(settings: Settings, *, warm: bool = False) -> AsyncIterator[tuple[LLM, TokenCounter]]:
    """Give the model and the counter of its tokens, until the block ends. No network is touched yet.

    With `warm` the tokenizer is loaded now, else when it is first needed.
    """
    from adapters.tiktoken import TiktokenCounter

    counter = TiktokenCounter(settings.model.chosen)
    if warm:
        await asyncio.to_thread(counter.warm)
    async with AsyncExitStack() as stack:
        if settings.model.embedded:
            yield await stack.enter_async_context(LocalModel(settings)), counter
        else:
            yield await stack.enter_async_context(_server_model(settings)), counter


@asynccontextmanager
async def _server_model(settings: Settings, **more: Any) -> AsyncIterator[LLM]:
    """Open the model of the settings; `more` takes precedence over them."""
    from adapters.openai import OpenAILLM

    model = settings.model
    given = {
        "model": model.chosen,
        "api_key": model.api_key.get_secret_value() if model.api_key else "",
        "base_url": model.base_url,
        "context": model.context,
        "reply_tokens": model.longest_reply,
        "fallback_model": model.fallback,
        "calls_tools": None if model.calls_tools == "auto" else model.calls_tools,
        "silence": model.silence_seconds,
        "retry_seconds": model.retry_seconds,
        "answer_extra": _temperature(settings),
    }
    llm = OpenAILLM(**{**given, **more})
    try:
        yield llm
    finally:
        await llm.aclose()


def _temperature(settings: Settings) -> dict[str, float]:
    return {} if settings.model.temperature is None else {"temperature": settings.model.temperature}


class LocalModel:
    """The small model of this machine; fetched where it is missing, and loaded, when it is first asked."""

    calls_tools = False
    context = LOCAL_CONTEXT

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._llm: LLM | None = None

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """Answer a request, loading the model when it is the first. Raises LLMError as any model does."""
        async with self._opening:
            if self._llm is None:
                await self._open()
        from adapters.llamacpp import plain

        assert self._llm is not None
        try:
            return await self._llm.complete(plain(request), on_text)
        except LLMUnavailable:
            self._llm = None  # its process is gone; the next request starts another
            raise LLMUnavailable(
                "The small local model has stopped; it is started again when it is next asked."
            ) from None

    async def _open(self) -> None:
        from adapters.llamacpp import ANSWER_EXTRA, EmbeddedServer, fetch, model_file

        folder = self._settings.storage.data_dir
        try:
            path = model_file(folder)
            if path is None:
                path = await asyncio.to_thread(fetch, folder, tell)
            server = await self._stack.enter_async_context(EmbeddedServer(path, context=LOCAL_CONTEXT))
        except ConfigError as error:
            raise LLMRejected(str(error)) from error
        self._llm = await self._stack.enter_async_context(
            _server_model(
                self._settings,
                base_url=server.base_url,
                context=server.context,
                calls_tools=False,
                fallback_model=None,
                extra={"temperature": 0},
                answer_extra={**ANSWER_EXTRA, **LOCAL_EXTRA, **_temperature(self._settings)},
            )
        )

    async def __aenter__(self) -> LocalModel:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()
