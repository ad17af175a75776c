"""Keepmind in the terminal."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from adapters.console import HISTORY, ConsoleAdapter
from bots.output import tell
from config.settings import Settings
from core.messages import ChatKey, Person

if TYPE_CHECKING:
    from bots.app import App

FINISHING = 15.0
"""Seconds that what the last answers left to do may take before the terminal is given back."""
LOCAL = "small local model; set OPENAI_API_KEY or OPENAI_BASE_URL for a good one"


def console(settings: Settings, at: tuple[ChatKey, Person], *, private: bool) -> ConsoleAdapter:
    """Make the console of a chat and a person."""
    chat, person = at
    return ConsoleAdapter(chat, person, private=private, history=settings.storage.data_dir / HISTORY)


async def talk(settings: Settings, adapter: ConsoleAdapter) -> None:
    """Hold one conversation at the terminal."""
    from bots.app import open_app

    if settings.model.embedded:
        tell(LOCAL)
    async with open_app(settings, adapters=[adapter], serving=False) as app:
        if await adapter.run(app.engine):
            await _finish(app)


async def _finish(app: App) -> None:
    """Let what the last answers left to do be done, so that the next start knows it."""
    await app.engine.aclose(FINISHING)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(app.compactor.finish_due(), FINISHING)
