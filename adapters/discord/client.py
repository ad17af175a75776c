"""The client of discord.py: what is asked of Discord, and which events go where."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import discord
import yarl
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import Route

API_URL = "https://discord.com/api/v10"
GATEWAY_URL = "wss://gateway.discord.gg/"
LONGEST_WAIT = 30.0
"""Seconds that the library waits by itself when Discord asks to; a longer wait is the delivery's. It allows no less."""


class Events(Protocol):
    """What takes the events."""

    async def said(self, message: discord.Message) -> None:
        """Take a message."""
        ...


class Client(discord.AutoShardedClient):
    """A client that pings nobody it was not answering, and asks for as little as possible.

    `events` takes what comes, `start_up` is called once, when Discord is reached and before anything comes.
    """

    def __init__(self, *, content: bool, gateway_url: str = "") -> None:
        super().__init__(
            intents=intents(content),
            allowed_mentions=discord.AllowedMentions(everyone=False, roles=False, users=False, replied_user=True),
            max_ratelimit_timeout=LONGEST_WAIT,
            chunk_guilds_at_startup=False,
            member_cache_flags=discord.MemberCacheFlags.none(),
        )
        self.tree: app_commands.CommandTree[Client] = app_commands.CommandTree(self)
        self.events: Events | None = None
        self.start_up: Callable[[], Awaitable[None]] | None = None
        self._own_gateway = bool(gateway_url)

    async def setup_hook(self) -> None:
        """Prepare once what must be there before anything comes."""
        if self._own_gateway:  # what is asked for the number of shards also names Discord's gateway
            self.shard_count, _, _ = await self.http.get_bot_gateway()
        if self.start_up is not None:
            await self.start_up()

    async def on_message(self, message: discord.Message) -> None:
        """Take what is said."""
        if self.events is not None:
            await self.events.said(message)

    async def on_error(self, event_method: str, /, *_: Any, **__: Any) -> None:
        """Log what an event met, without what was said."""


def intents(content: bool) -> discord.Intents:
    """Give what Discord is to tell: what is said, and where it can be said."""
    return discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=content)


def lead_to(api_url: str, gateway_url: str) -> None:
    """Let the library, which keeps its addresses for the whole process, speak with another server."""
    Route.BASE = api_url.rstrip("/")
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway_url)
