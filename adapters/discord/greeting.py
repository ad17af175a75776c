"""Greeting servers: each hears once, from when the bot is there, what is kept of its talk."""

from __future__ import annotations

from datetime import timedelta

import discord

from adapters.discord import sentences
from adapters.discord.conversion import PLATFORM
from adapters.discord.groups import Groups
from adapters.discord.languages import language_of
from core import messages
from core.adapter import Outgoing
from core.engine import Engine
from core.messages import ChatKey, Person
from core.modes import MENTION, OFF
from core.translation import spoken


class Greeting:
    """Greets servers. One that the bot was added to no longer than `seconds` before it starts is still greeted."""

    def __init__(self, engine: Engine, groups: Groups, seconds: float) -> None:
        self._engine, self._groups, self._recent = engine, groups, timedelta(seconds=seconds)

    def is_due(self, guild: discord.Guild) -> bool:
        """Tell whether the bot was added to a server so lately that it may not have been greeted."""
        added = guild.me.joined_at if guild.me else None
        return added is not None and added > self._engine.shared.clock.now() - self._recent

    async def said(self, guild: discord.Guild, channel: discord.TextChannel) -> Outgoing | None:
        """Give what is said in a channel; None when it was greeted since the bot was added. Raises StoreError."""
        chat = ChatKey(PLATFORM, str(channel.id))
        mode, joined = self._groups.of(chat, guild), self._joined(guild, chat)
        if mode == OFF or not await self._engine.access.may_speak(joined):
            return None
        kept = sentences.JOINED_MENTION if mode == MENTION else sentences.JOINED_ALL
        if not await self._engine.shared.store.receive(joined, keep=False):
            return None
        with self._engine.speaking_to(joined):
            return Outgoing(chat, spoken(sentences.JOINED, what=spoken(kept)))

    def _joined(self, guild: discord.Guild, chat: ChatKey) -> messages.Message:
        """Write down that the bot was added, under an id that is the same when that is told again."""
        now = self._engine.shared.clock.now()
        return messages.Message(
            f"joined {guild.id} {(guild.me.joined_at or now):%Y%m%d%H%M%S}",
            chat,
            Person(PLATFORM, str(guild.id)),
            "",
            now,
            private=False,
            anonymous=True,
            language=language_of(guild),
            server=str(guild.id),
        )


def channel_for(guild: discord.Guild) -> discord.TextChannel | None:
    """Give where a server is greeted: in its channel for such news, else in the first that all may read."""
    own = [guild.system_channel] if guild.system_channel else []
    others = [channel for channel in guild.text_channels if not channel.is_news() and _is_for_all(channel)]
    return next((c for c in (*own, *others) if guild.me and c.permissions_for(guild.me).send_messages), None)


def _is_for_all(channel: discord.TextChannel) -> bool:
    everyone = channel.guild.default_role
    here = channel.overwrites_for(everyone).view_channel  # the library leaves these out of what a role may
    return everyone.permissions.view_channel if here is None else here
