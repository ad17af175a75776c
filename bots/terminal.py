"""Keepmind in the terminal."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from adapters.console import HISTORY, ConsoleAdapter
from bots import garbage
from bots.output import tell
from config.settings import Settings
from core.errors import ConfigError
from core.messages import ChatKey, Person
from core.store import ConversationStore

if TYPE_CHECKING:
    from bots.app import App

FINISHING = 15.0
"""Seconds that what the last answers left to do may take before the terminal is given back."""
LOCAL = "small local model; set OPENAI_API_KEY or OPENAI_BASE_URL for a good one"


def console(settings: Settings, at: tuple[ChatKey, Person], *, private: bool) -> ConsoleAdapter:
    """Make the console of a chat and a person."""
    chat, person = at
    return ConsoleAdapter(chat, person, private=private, history=settings.storage.data_dir / HISTORY)


async def talk(settings: Settings, adapter: ConsoleAdapter) -> int:
    """Hold one conversation at the terminal; 1 when a pipe brought a message that got no answer, else 0."""
    from bots.app import open_app, open_database

    if settings.model.embedded:
        tell(LOCAL)
    async with open_database(settings) as store:
        await _check_place(store, adapter)
        if not (await adapter.has_words() or await _is_left_open(store, adapter)):
            return 0
        async with open_app(settings, adapters=[adapter], store=store, serving=False) as app:
            garbage.resume()
            if adapter.interactive:  # an answer left over comes before the prompt, which would wipe parts of it
                await app.engine.idle()
            if await adapter.run(app.engine):
                await _finish(app)
        unanswered = adapter.failed or await _is_left_open(store, adapter)
    return int(unanswered and not adapter.interactive)


async def _check_place(store: ConversationStore, adapter: ConsoleAdapter) -> None:
    """Hold a chat to what it is: a group stays one, and a private chat its person's. Raises ConfigError."""
    info = next((i for i in await store.chats() if i.chat == adapter.chat), None)
    if info is None:
        return
    if info.private != adapter.private:
        kind = "a group; add --group" if adapter.private else "private; leave --group out"
        raise ConfigError(f"{adapter.chat} is {kind}")
    others = [p for p in await store.people(adapter.chat) if p != adapter.person]
    if adapter.private and others:
        raise ConfigError(
            f"{adapter.chat} is the private chat of {others[0]}; name another --chat, or use --group there"
        )


async def _is_left_open(store: ConversationStore, adapter: ConsoleAdapter) -> bool:
    waiting = [m.chat for m in await store.waiting()] + [t.chat for t in await store.open_turns()]
    return any(adapter.serves(chat) for chat in waiting)


async def _finish(app: App) -> None:
    """Let what the last answers left to do be done, so that the next start knows it."""
    await app.engine.aclose(FINISHING)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(app.compactor.finish_due(), FINISHING)
