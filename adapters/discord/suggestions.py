"""What is suggested while somebody types a command: the keys of their own facts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

import discord
from discord.app_commands import Choice

from adapters.discord.called import to_call
from core.commands.command import Command
from core.engine import Engine
from core.errors import StoreError

logger = logging.getLogger("keepmind.discord")
MOST, PATIENCE = 25, 2.0
Suggest = Callable[[discord.Interaction, str], Coroutine[Any, Any, list[Choice[str]]]]


class Suggestions:
    """Suggests arguments: the words a command names itself, then facts of whoever types."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of(self, command: Command) -> Suggest:
        """Give what suggests the key of a fact for a command."""
        own = [word for word in (command.arguments or "").split("|") if word.islower()]

        async def suggest(interaction: discord.Interaction, begun: str) -> list[Choice[str]]:
            wanted = begun.casefold().replace(" ", "_")
            fitting = [word for word in [*own, *await self._keys(interaction)] if wanted in word]
            return [Choice(name=word, value=word) for word in dict.fromkeys(fitting)][:MOST]

        return suggest

    async def _keys(self, interaction: discord.Interaction) -> list[str]:
        message = to_call(interaction, "")
        try:
            async with asyncio.timeout(PATIENCE):
                here = await self._engine.shared.store.load(message.chat, message.sender, private=message.private)
        except (StoreError, TimeoutError) as error:
            logger.info("nothing was suggested: %s", type(error).__name__)
            return []
        return sorted(here.facts)
