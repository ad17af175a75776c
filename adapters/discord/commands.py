"""Slash commands: declared to Discord from the bot's own, each made into a message that the engine takes."""

from __future__ import annotations

from typing import Any

from discord import app_commands

from adapters.discord.buttons import Buttons
from adapters.discord.interactions import Interactions
from core.engine import Engine


async def set_commands(
    tree: app_commands.CommandTree[Any],
    engine: Engine,
    interactions: Interactions,
    buttons: Buttons,
    guild: int | None = None,
) -> None:
    """Declare every command of the engine, to one guild in development; called once, before the gateway is joined.

    Whatever goes wrong is logged, since the bot can be talked to without them.
    """
