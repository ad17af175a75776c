"""What each event does: a message is taken."""

from __future__ import annotations

import discord

from adapters.discord.conversion import is_private, to_message, words
from core.engine import Engine


class Receiver:
    """Takes events. Whatever is said again (a repeat, a restart) is known by its key in the store, and passed over."""

    def __init__(self, client: discord.Client, engine: Engine) -> None:
        self._client, self._engine = client, engine

    async def said(self, message: discord.Message) -> None:
        """Take a message."""
        me = self._client.user
        if me is None or message.author.bot or message.webhook_id is not None:
            return
        if not is_private(message) and me not in message.mentions:
            return
        await self._engine.accept(to_message(message, words(message, me)))
