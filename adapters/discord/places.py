"""Where a message stands: its channel, found by its id when the library does not know it."""

from __future__ import annotations

from typing import Any

import discord

from adapters.discord.conversion import PLATFORM, to_key
from adapters.discord.trouble import TROUBLES, asked
from core.messages import ChatKey


class Places:
    """Finds channels. A thread that has slept long is not known until it is asked for."""

    def __init__(self, client: discord.Client, pause: float = 1.0) -> None:
        self._client, self._pause = client, pause

    async def settle(self, message: discord.Message) -> None:
        """Give a message the channel it stands in, where the library only knows an id."""
        if isinstance(message.channel, discord.PartialMessageable):
            found = await self.channel(message.channel.id)
            message.channel = found if found is not None else message.channel

    async def key(self, channel_id: int, guild_id: int | None) -> ChatKey:
        """Name the conversation of a channel; what belongs to no server is never a thread."""
        plain = ChatKey(PLATFORM, str(channel_id))
        if guild_id is None:
            return plain
        found = await self.channel(channel_id)
        return plain if found is None else to_key(found)

    async def channel(self, channel_id: int) -> Any:
        """Give a channel; None when it is gone, or may not be seen."""
        known = self._client.get_channel(channel_id)
        if known is not None:
            return known
        try:
            return await asked(lambda: self._client.fetch_channel(channel_id), self._pause)
        except TROUBLES:
            return None
