"""What the calls of the API share: the world they act on, and what the bot may see and do in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.discord.server.gateway import Gateway
from adapters.discord.server.intents import (
    DIRECT_MESSAGES,
    GUILD_MESSAGES,
    GUILDS,
)
from adapters.discord.server.journal import Call
from adapters.discord.server.refusals import Json, missing_access, missing_permissions, unknown
from adapters.discord.server.sessions import Event
from adapters.discord.server.shapes import channel_shape, member_shape, message_shape
from adapters.discord.server.using import Using
from adapters.discord.server.world import Channel, Guild, Message, World

Commands = dict[int | None, list[Json]]


@dataclass(slots=True)
class Api:
    """One bot's API. `commands` are by guild, those everywhere under None."""

    world: World
    gateway: Gateway
    cdn: Callable[[], str]
    commands: Commands = field(default_factory=dict)
    uses: dict[str, Using] = field(default_factory=dict)

    def channel(self, call: Call, *needs: str) -> Channel:
        """Find the channel that a call is about. Raises Refusal when the bot may not see it or lacks what it needs."""
        channel = self.world.channels.get(call.number("channel") or 0)
        if channel is None:
            raise unknown("Channel", 10003)
        if not channel.may(self.world.bot, "view_channel"):
            raise missing_access()
        if not channel.may(self.world.bot, *needs):
            raise missing_permissions()
        return channel

    def guild(self, call: Call) -> Guild:
        """Find the guild that a call is about. Raises Refusal."""
        guild = self.world.guilds.get(call.number("guild") or 0)
        if guild is None or self.world.bot.id not in guild.members:
            raise unknown("Guild", 10004)
        return guild

    def message(self, call: Call, channel: Channel) -> Message:
        """Find the message that a call is about, unless only somebody else sees it. Raises Refusal."""
        message = channel.by_id.get(call.number("message") or 0)
        if message is None or message.seen_by is not None:
            raise unknown("Message", 10008)
        return message

    def shape(self, message: Message) -> Json:
        """Write a message as the bot is answered."""
        return message_shape(message, self.world, self.cdn())

    def tell(self, message: Message, name: str = "MESSAGE_CREATE") -> Message:
        """Let the bot know of a message, if it can see the channel and the message."""
        channel = message.channel
        if message.seen_by is None and channel.may(self.world.bot, "view_channel"):
            self.gateway.put(Event(name, self._event(message), *self._where(channel), has_content=True))
        return message

    def _event(self, message: Message) -> Json:
        body = self.shape(message) | {"channel_type": message.channel.type}
        guild = message.channel.guild
        if guild is None:
            return body
        member = guild.members.get(message.author.id)
        body |= {"guild_id": str(guild.id)} | ({"member": member_shape(member, with_user=False)} if member else {})
        body["mentions"] = [
            user | ({"member": member_shape(found, with_user=False)} if found else {})
            for user in body["mentions"]
            for found in [guild.members.get(int(user["id"]))]
        ]
        return body

    def tell_gone(self, message: Message) -> None:
        """Let the bot know that a message is gone."""
        channel = message.channel
        if message.seen_by is None and channel.may(self.world.bot, "view_channel"):
            ids = {"id": str(message.id), "channel_id": str(channel.id)}
            where = {"guild_id": str(channel.guild.id)} if channel.guild else {}
            self.gateway.put(Event("MESSAGE_DELETE", ids | where, *self._where(channel)))

    def tell_all_gone(self, channel: Channel, messages: Sequence[Message]) -> None:
        """Let the bot know that messages of a channel are gone at once."""
        if channel.may(self.world.bot, "view_channel"):
            ids: Json = {"ids": [str(message.id) for message in messages], "channel_id": str(channel.id)}
            where = {"guild_id": str(channel.guild.id)} if channel.guild else {}
            self.gateway.put(Event("MESSAGE_DELETE_BULK", ids | where, *self._where(channel)))

    def tell_channel(self, channel: Channel, name: str, **more: Any) -> None:
        """Let the bot know of a channel or thread."""
        if channel.guild and channel.may(self.world.bot, "view_channel"):
            self.gateway.put(Event(name, channel_shape(channel, self.world.bot) | more, channel.guild.id, GUILDS))

    def _where(self, channel: Channel) -> tuple[int | None, int]:
        return (channel.guild.id, GUILD_MESSAGES) if channel.guild else (None, DIRECT_MESSAGES)


Endpoint = Callable[[Api, Call], Any]


@dataclass(frozen=True, slots=True)
class Route:
    """A call of the API: its name here, its HTTP method and path; `is_open` needs no token of the bot."""

    name: str
    method: str
    path: str
    do: Endpoint
    is_open: bool = False
