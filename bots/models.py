"""Opens the language model that the settings name: a server, or the small local one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from bots.output import tell
from config.settings import Settings
from core.llm import LLM, Completion, OnText, Request, TokenCounter

LOCAL_CONTEXT = 4096


@asynccontextmanager
async def open_model(settings: Settings) -> AsyncIterator[tuple[LLM, TokenCounter]]:
    """Give the model and the counter of its tokens, until the block ends. No network is touched yet."""
    from adapters.tiktoken import TiktokenCounter

    counter = TiktokenCounter(settings.model.chosen)
    async with AsyncExitStack() as stack:
        if settings.model.embedded:
            yield await stack.enter_async_context(LocalModel(settings)), counter
        else:
            yield await stack.enter_async_context(_server_model(settings)), counter


@asynccontextmanager
async def _server_model(settings: Settings, base_url: str = "") -> AsyncIterator[LLM]:
    from adapters.openai import OpenAILLM

    model = settings.model
    tools = None if model.calls_tools == "auto" else model.calls_tools
    llm = OpenAILLM(
        model=model.chosen,
        api_key=model.api_key.get_secret_value() if model.api_key else "",
        base_url=base_url or model.base_url,
        context=LOCAL_CONTEXT if base_url else model.context,
        reply_tokens=model.reply_tokens,
        fallback_model=model.fallback,
        calls_tools=False if base_url else tools,
        silence=model.silence_seconds,
        retry_seconds=model.retry_seconds,
        extra={"temperature": model.temperature} if model.temperature is not None else None,
    )
    try:
        yield llm
    finally:
        await llm.aclose()


class LocalModel:
    """The small model in this process; fetched where it is missing, and loaded, when it is first asked."""

    calls_tools = False

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._llm: LLM | None = None

    @property
    def context(self) -> int:
        """The size of its context in tokens."""
        return LOCAL_CONTEXT

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """Answer a request, loading the model when it is the first. Raises ConfigError when it can't be had."""
        async with self._opening:
            if self._llm is None:
                self._llm = await self._open()
        return await self._llm.complete(request, on_text)

    async def _open(self) -> LLM:
        from adapters.llamacpp import EmbeddedServer, fetch

        folder = Path(self._settings.storage.data_dir)
        path = await asyncio.to_thread(fetch, folder, tell)
        url = await self._stack.enter_async_context(EmbeddedServer(path, context=LOCAL_CONTEXT))
        return await self._stack.enter_async_context(_server_model(self._settings, url))

    async def __aenter__(self) -> LocalModel:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()
