"""Opens what writes down recordings, where the settings name a server that may."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from config.settings import Settings

Transcribe = Callable[[str, str, bytes], Awaitable[str]]
"""Writes down a recording, given its name, media type and bytes."""


@asynccontextmanager
async def open_transcriber(settings: Settings) -> AsyncIterator[Transcribe | None]:
    """Give it until the block ends; None where nothing is heard. No network is touched yet."""
    if not settings.model.hears:
        yield None
        return
    from adapters.openai import Transcriber

    model = settings.model
    key = model.api_key.get_secret_value() if model.api_key else ""
    transcriber = Transcriber(key, model.base_url, model.transcription)
    try:
        yield transcriber
    finally:
        await transcriber.aclose()
