"""Keepmind in the terminal."""

from __future__ import annotations

from adapters.console import HISTORY, ConsoleAdapter
from bots.output import tell
from config.settings import Settings
from core.messages import ChatKey, Person

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
    async with open_app(settings, adapters=[adapter]) as app:
        await adapter.run(app.engine)
