"""What was said while the bot was away: the gateway does not give it again, so it is fetched.

In each chat it looks back to what it heard last there; a message found twice is known by its key in the store.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

import discord

from adapters.discord.conversion import PLATFORM
from adapters.discord.places import Places
from adapters.discord.trouble import TROUBLES, asked
from core.errors import StoreError
from core.intake import Intake
from core.messages import ChatKey

logger = logging.getLogger("keepmind.discord")
Take = Callable[[discord.Message], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Absence:
    """How much of it is fetched: of each of the latest `chats` the latest `messages`, no older than `seconds`."""

    seconds: float = 24 * 3600
    messages: int = 100
    chats: int = 200


class Heard(Protocol):
    """What is asked of the store."""

    async def heard(self, platform: str, *, limit: int) -> Mapping[ChatKey, datetime]:
        """Give the chats of a platform, the latest first, and when what was received last there was sent."""
        ...


class Away:
    """Catches up with a shard whenever it begins a new session.

    With `threads` what was said in a channel is kept in a thread, so the channels of threads are looked into as well.
    `door` is held until what was said before is lined up; what comes meanwhile waits there, in its order.
    """

    def __init__(
        self,
        client: discord.Client,
        places: Places,
        store: Heard,
        intake: Intake,
        absence: Absence,
        pause: float = 1.0,
        *,
        threads: bool = False,
    ) -> None:
        self._client, self._places, self._store, self._intake = client, places, store, intake
        self._absence, self._pause, self._threads = absence, pause, threads
        self.door = asyncio.Lock()
        self._guilds: dict[int, int | None] = {}
        self._at_once = asyncio.Semaphore(4)

    async def catch_up(self, shard: int, take: Take, now: datetime | None = None) -> None:
        """Line up what was said in the chats of a shard before what is said there now."""
        if not self._absence.messages:
            return
        oldest = (now or datetime.now(UTC)) - timedelta(seconds=self._absence.seconds)
        async with self.door:
            heard = await self._heard()
            for chat, last in {**(_opened(heard) if self._threads else {}), **heard}.items():
                self._line_up(chat, max(last, oldest), shard, take)

    async def _heard(self) -> Mapping[ChatKey, datetime]:
        """Ask the store until it answers: nothing that comes now could be kept before."""
        while True:
            try:
                return await self._store.heard(PLATFORM, limit=self._absence.chats)
            except StoreError as error:
                logger.error("what was said while away is not known yet: %s", error)
            await asyncio.sleep(self._pause)

    def _line_up(self, chat: ChatKey, after: datetime, shard: int, take: Take) -> None:
        channel = int(chat.topic or chat.chat)
        known = channel in self._guilds
        if not known or self._shard_of(self._guilds[channel]) == shard:
            self._intake.line_up(channel, lambda: self._fetch(channel, after, shard, take))

    def _shard_of(self, guild: int | None) -> int:
        return 0 if guild is None else (guild >> 22) % (self._client.shard_count or 1)

    async def _fetch(self, channel_id: int, after: datetime, shard: int, take: Take) -> None:
        async with self._at_once:
            missed = await self._missed(channel_id, after, shard)
        for message in missed:
            await take(message)
        if missed:
            logger.info("%s messages in channel %s came while away", len(missed), channel_id)

    async def _missed(self, channel_id: int, after: datetime, shard: int) -> list[discord.Message]:
        """Give the latest messages of a channel since a time, oldest first."""
        channel = await self._places.channel(channel_id)
        if channel is None:
            return []
        guild = getattr(channel, "guild", None)
        self._guilds[channel_id] = guild.id if guild else None
        if not isinstance(channel, discord.abc.Messageable):
            return []  # a forum holds nothing but threads
        if self._shard_of(self._guilds[channel_id]) != shard or not _is_newer(channel, after):
            return []
        try:
            return await asked(lambda: self._history(channel, after), self._pause)
        except TROUBLES as error:
            logger.warning("what was said while away in channel %s can't be read: %s", channel_id, error)
            return []

    async def _history(self, channel: discord.abc.Messageable, after: datetime) -> list[discord.Message]:
        history = channel.history(limit=self._absence.messages, after=after, oldest_first=False)
        return [message async for message in history][::-1]


def _opened(heard: Mapping[ChatKey, datetime]) -> Mapping[ChatKey, datetime]:
    """Give the channels of threads, and when the last was opened in each; its id is of that time."""
    found: dict[ChatKey, datetime] = {}
    for thread in heard:
        if thread.topic is not None:
            channel, at = replace(thread, topic=None), discord.utils.snowflake_time(int(thread.topic))
            found[channel] = max(at, found.get(channel, at))
    return found


def _is_newer(channel: discord.abc.Messageable, after: datetime) -> bool:
    """Tell whether something was said since a time, as far as the channel tells."""
    last = getattr(channel, "last_message_id", None)
    return isinstance(channel, discord.DMChannel) or (last is not None and discord.utils.snowflake_time(last) > after)
