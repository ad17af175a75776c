"""Declares commands to Discord, only when they are others than it has: it allows few declarations a day."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import discord
from discord import app_commands
from discord.http import Route

from adapters.discord.trouble import TROUBLES

logger = logging.getLogger("keepmind.discord")
PATIENCE = 30.0
"""Seconds that the bot's start waits for it."""
FEW, MANY = 20, 200
"""How many servers are looked into for commands of their own: at each start, and when commands were declared anew."""
_TEXTS = ("name_localizations", "description_localizations")
_COMPARED = {
    "name",
    "description",
    "type",
    "options",
    "required",
    "choices",
    "value",
    "autocomplete",
    "min_value",
    "max_value",
    "min_length",
    "max_length",
    "default_member_permissions",
    "contexts",
    *_TEXTS,
}


async def declare(tree: app_commands.CommandTree[Any], guild: int | None) -> None:
    """Declare all commands of a tree, to one guild or everywhere; what goes wrong is only logged."""
    try:
        async with asyncio.timeout(PATIENCE):
            await (_everywhere(tree) if guild is None else _in_guild(tree, discord.Object(guild)))
    except (*TROUBLES, TimeoutError) as error:
        logger.warning("the commands could not be declared to Discord: %s", type(error).__name__)


async def _everywhere(tree: app_commands.CommandTree[Any]) -> None:
    others = _plain(await _payload(tree, None)) != _plain(await _declared(tree.client, None))
    if others:
        await tree.sync()
        logger.info("declared the commands to Discord")
    await _take_back(tree.client, MANY if others else FEW)


async def _take_back(client: discord.Client, servers: int) -> None:
    """Take back what was declared to single servers, as in development: they would show it twice."""
    async for guild in client.fetch_guilds(limit=servers, with_counts=False):
        if await _declared(client, guild):
            await client.http.bulk_upsert_guild_commands(client.application_id or 0, guild.id, [])
            logger.info("took back the commands of the guild %s, which are declared everywhere now", guild.id)


async def _in_guild(tree: app_commands.CommandTree[Any], guild: discord.Object) -> None:
    tree.copy_global_to(guild=guild)
    if _plain(await _payload(tree, guild), place=False) != _plain(await _declared(tree.client, guild), place=False):
        await tree.sync(guild=guild)
        logger.info("declared the commands to the guild %s", guild.id)
    if await _declared(tree.client, None):
        logger.warning("commands are declared everywhere as well, so the guild %s shows them twice", guild.id)


async def _payload(tree: app_commands.CommandTree[Any], guild: discord.Object | None) -> list[dict[str, Any]]:
    commands = tree.get_commands(guild=guild)
    translator = tree.translator
    if translator is None:
        return [command.to_dict(tree) for command in commands]
    return [await command.get_translated_payload(tree, translator) for command in commands]


async def _declared(client: discord.Client, guild: discord.abc.Snowflake | None) -> list[dict[str, Any]]:
    """Ask which commands Discord has, with their translations."""
    application = client.application_id
    path = "/applications/{application_id}/commands"
    route = Route("GET", path, application_id=application)
    if guild is not None:
        path = "/applications/{application_id}/guilds/{guild_id}/commands"
        route = Route("GET", path, application_id=application, guild_id=guild.id)
    found: list[dict[str, Any]] = await client.http.request(route, params={"with_localizations": "true"})
    return found


def _plain(commands: Sequence[dict[str, Any]], *, place: bool = True) -> list[Any]:
    """Give commands in a form that is the same whatever was filled in by Discord; `place` counts where they may be."""
    plain = [{"type": 1, **command} for command in commands]
    if not place:
        plain = [{**command, "contexts": None} for command in plain]
    return sorted((_value(command) for command in plain), key=lambda command: (command["name"], command["type"]))


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {k: v if k in _TEXTS else _value(v) for k, v in value.items() if k in _COMPARED}
        if kept.get("default_member_permissions") is not None:
            kept["default_member_permissions"] = str(kept["default_member_permissions"])
        return {k: v for k, v in kept.items() if v not in (None, False, "", [], {})}
    return [_value(item) for item in value] if isinstance(value, list) else value
