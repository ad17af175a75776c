"""The client of discord.py: what is asked of Discord, and which events go where."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Protocol

import discord
import yarl
from discord import app_commands
from discord.gateway import DiscordWebSocket, KeepAliveHandler
from discord.http import Route

logger = logging.getLogger("keepmind.discord")
API_URL = "https://discord.com/api/v10"
GATEWAY_URL = "wss://gateway.discord.gg/"
_SESSION = "_HTTPClient__session"
_QUEUE = "_AutoShardedClient__queue"  # made as it logs in; before that nothing is open, and the library can't close
LONGEST_WAIT = 30.0
"""Seconds that the library waits by itself when Discord asks to; a longer wait is the delivery's. It allows no less."""


class Events(Protocol):
    """What takes the events."""

    async def connected(self, shard: int) -> None:
        """Take notice that a shard begins a new session: what was said before is not given again."""
        ...

    async def said(self, message: discord.Message) -> None:
        """Take a message."""
        ...

    async def edited(self, message: discord.Message) -> None:
        """Take a message as it is worded now."""
        ...

    async def deleted(self, channel_id: int, guild_id: int | None, ids: set[int]) -> None:
        """Take notice that messages are no longer there."""
        ...

    async def closed(self, channel_id: int, of: int | None = None) -> None:
        """Take notice that a channel, or a thread of one, is no longer there, with all that was said in it."""
        ...

    async def joined(self, guild: discord.Guild, *, now: bool) -> None:
        """Take notice that the bot is in a server, to which it was added just `now` or some time ago."""
        ...


class Client(discord.AutoShardedClient):
    """A client that pings nobody it was not answering, and asks for as little as possible.

    `events` takes what comes, `start_up` is called once, when Discord is reached and before anything comes.
    """

    def __init__(self, *, content: bool, gateway_url: str = "") -> None:
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # voice calls are not taken
        super().__init__(
            intents=intents(content),
            allowed_mentions=discord.AllowedMentions(everyone=False, roles=False, users=False, replied_user=True),
            max_ratelimit_timeout=LONGEST_WAIT,
            chunk_guilds_at_startup=False,
            member_cache_flags=discord.MemberCacheFlags.none(),
            max_messages=None,
        )
        self.tree: app_commands.CommandTree[Client] = app_commands.CommandTree(self)
        self.events: Events | None = None
        self.start_up: Callable[[], Awaitable[None]] | None = None
        self._own_gateway = bool(gateway_url)
        parsers = self._connection.parsers
        parsers |= {name: _sparing(name, parse) for name, parse in parsers.items() if name != "READY"}

    async def setup_hook(self) -> None:
        """Prepare once what must be there before anything comes."""
        if self._own_gateway:  # what is asked for the number of shards also names Discord's gateway
            self.shard_count, _, _ = await self.http.get_bot_gateway()
        if self.start_up is not None:
            await self.start_up()

    async def listen(self) -> None:
        """Take events until cancelled; the library overhears that while it begins a session, so it is told again."""
        listening = asyncio.create_task(self.connect())
        try:
            await asyncio.wait([listening])
        finally:
            while not listening.done():
                listening.cancel()
                await asyncio.wait([listening], timeout=0.1)
        listening.result()

    async def close(self) -> None:
        """Let go of the network, also of a session that was cut off while it began: no shard knows its socket yet."""
        hearts = [thread for thread in threading.enumerate() if isinstance(thread, KeepAliveHandler)]
        for socket in [heart.ws for heart in hearts if heart.ws._connection is self._connection]:
            with suppress(Exception):  # it may be half closed already
                await socket.close(code=1000)
        if _QUEUE in vars(self):
            await super().close()

    async def begin_anew(self) -> None:
        """Let go of a connection that failed, so that another can be made."""
        await self.close()
        session = vars(self.http)[_SESSION]
        self.clear()
        vars(self.http)[_SESSION] = session  # a call meanwhile is told that it is closed, where it would meet none
        self.http.connector = discord.utils.MISSING
        await self.__aenter__()

    async def on_shard_connect(self, shard_id: int) -> None:
        """Take a session that began anew; one that was resumed has lost nothing."""
        if self.events is not None:
            await self.events.connected(shard_id)

    async def on_message(self, message: discord.Message) -> None:
        """Take what is said."""
        if self.events is not None:
            await self.events.said(message)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """Take what is said in other words, known to the library or not."""
        if self.events is not None:
            await self.events.edited(payload.message)

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        """Take what is no longer said."""
        if self.events is not None:
            await self.events.deleted(payload.channel_id, payload.guild_id, {payload.message_id})

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        """Take what is no longer said."""
        if self.events is not None:
            await self.events.deleted(payload.channel_id, payload.guild_id, payload.message_ids)

    async def on_raw_thread_delete(self, payload: discord.RawThreadDeleteEvent) -> None:
        """Take that a thread is gone."""
        if self.events is not None:
            await self.events.closed(payload.thread_id, payload.parent_id)

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        """Take that a channel is gone."""
        if self.events is not None:
            await self.events.closed(channel.id)

    async def on_guild_join(self, guild: discord.Guild) -> None:
        """Take a new server."""
        if self.events is not None:
            await self.events.joined(guild, now=True)

    async def on_guild_available(self, guild: discord.Guild) -> None:
        """Take a server that was there when the session began, or came just then."""
        if self.events is not None:
            await self.events.joined(guild, now=False)

    async def on_error(self, event_method: str, /, *_: Any, **__: Any) -> None:
        """Log what an event met, without what was said."""
        error = sys.exc_info()[1]
        logger.error("%s met a bug: %s", event_method, type(error).__name__)
        logger.debug("its traceback", exc_info=error)


def _sparing(name: str, parse: Callable[[Any], None]) -> Callable[[Any], None]:
    """Pass over an event that can't be read: the library would end the sessions of all shards, each time it comes."""

    def spare(data: Any) -> None:
        try:
            parse(data)
        except Exception as error:  # one event costs no other
            logger.warning("an event that can't be read is passed over: %s (%s)", name, type(error).__name__)
            logger.debug("its traceback", exc_info=error)

    return spare


def intents(content: bool) -> discord.Intents:
    """Give what Discord is to tell: what is said, and where it can be said."""
    return discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=content)


def lead_to(api_url: str, gateway_url: str) -> None:
    """Let the library, which keeps its addresses for the whole process, speak with another server."""
    Route.BASE = api_url.rstrip("/")
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway_url)
