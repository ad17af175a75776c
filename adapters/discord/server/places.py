"""What a test or the terminal does to people, guilds and channels."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.discord.server.api import Api
from adapters.discord.server.intents import GUILD_MEMBERS, GUILDS
from adapters.discord.server.permissions import ALL, USUAL, bits
from adapters.discord.server.refusals import Json
from adapters.discord.server.sessions import Event
from adapters.discord.server.shapes import guild_event, guild_shape, member_shape, role_shape, user_shape
from adapters.discord.server.world import (
    FORUM,
    HAS_THREAD,
    NEWS,
    NEWS_THREAD,
    PRIVATE_THREAD,
    PUBLIC_THREAD,
    TEXT,
    Channel,
    Guild,
    Member,
    Message,
    Role,
    User,
)

LONG = 30 * 24 * 3600.0
"""Seconds since when the bot is in a guild that it is not added to anew."""


class Places:
    """Makes people, guilds and channels, and changes who is in them."""

    api: Api

    def person(self, name: str, locale: str = "en-US", id: int = 0, dm: int = 0) -> User:
        """Let a person be there; `dm` is the id of their direct messages."""
        user = self.api.world.add_user(User(id or self.api.world.snowflake(), name.lower(), name, locale=locale))
        if dm:
            self.api.world.private(user, dm)
        return user

    def other_bot(self, name: str) -> User:
        """Let another bot be there."""
        return self.api.world.add_user(User(self.api.world.snowflake(), name, is_bot=True))

    def webhook(self, name: str) -> User:
        """Let a webhook be there, under the name it gives itself."""
        return User(self.api.world.snowflake(), name, is_bot=True, is_webhook=True)

    def private(self, user: User) -> Channel:
        """Give a person's direct messages with the bot."""
        return self.api.world.private(user)

    def channel(self, place: Channel | User | int) -> Channel:
        """Find a channel by its id; a person stands for their direct messages. Raises KeyError."""
        if isinstance(place, Channel):
            return place
        return self.private(place) if isinstance(place, User) else self.api.world.channels[place]

    def close_dms(self, user: User, closed: bool = True) -> None:
        """Let a person take no direct messages of the bot, or take them again."""
        user.has_open_dms = not closed

    def guild(
        self, name: str, members: Sequence[User] = (), bot: bool = True, locale: str = "en-US", id: int = 0
    ) -> Guild:
        """Let a guild be there; the first member owns it."""
        world = self.api.world
        owner = members[0] if members else self.person("Owner")
        guild = Guild(id or world.snowflake(), name, owner, locale)
        guild.roles[guild.id] = Role(guild.id, "@everyone", USUAL, 0)
        world.guilds[guild.id] = guild
        for user in members or [owner]:
            guild.members[user.id] = Member(user, world.clock())
        if bot:
            self.add_bot(guild)
            guild.members[world.bot.id].joined_at -= LONG
        return guild

    def add_bot(self, guild: Guild, *permissions: str) -> None:
        """Let the bot into a guild, with a role of its own."""
        world = self.api.world
        role = Role(world.snowflake(), world.bot.name, bits(permissions), len(guild.roles), bot=world.bot)
        guild.roles[role.id] = role
        guild.members[world.bot.id] = Member(world.bot, world.clock(), [role])
        body = guild_event(guild, world)
        del body["unavailable"]  # only a guild that was known before is said to be in reach again
        self.api.gateway.put(Event("GUILD_CREATE", body, guild.id, GUILDS))

    def remove_bot(self, guild: Guild) -> None:
        """Throw the bot out of a guild."""
        del guild.members[self.api.world.bot.id]
        self.api.gateway.put(Event("GUILD_DELETE", {"id": str(guild.id)}, guild.id, GUILDS))

    def set_unavailable(self, guild: Guild, unavailable: bool = True) -> None:
        """Let a guild be out of reach, as in an outage, or in reach again."""
        if unavailable:
            body: Json = {"id": str(guild.id), "unavailable": True}
            self.api.gateway.put(Event("GUILD_DELETE", body, guild.id, GUILDS))
        else:
            self.api.gateway.put(Event("GUILD_CREATE", guild_event(guild, self.api.world), guild.id, GUILDS))

    def join(self, guild: Guild, user: User) -> Member:
        """Let somebody into a guild."""
        member = guild.members[user.id] = Member(user, self.api.world.clock())
        body = member_shape(member) | {"guild_id": str(guild.id)}
        self.api.gateway.put(Event("GUILD_MEMBER_ADD", body, guild.id, GUILD_MEMBERS))
        return member

    def leave(self, guild: Guild, user: User) -> None:
        """Let somebody leave a guild."""
        del guild.members[user.id]
        body = {"guild_id": str(guild.id), "user": user_shape(user)}
        self.api.gateway.put(Event("GUILD_MEMBER_REMOVE", body, guild.id, GUILD_MEMBERS))

    def role(
        self, guild: Guild, name: str, *permissions: str, members: Sequence[User] = (), open: bool = False
    ) -> Role:
        """Let a role be there with these permissions; everybody may ping an `open` one."""
        role = Role(self.api.world.snowflake(), name, bits(permissions), len(guild.roles), open)
        guild.roles[role.id] = role
        body: Json = {"guild_id": str(guild.id), "role": role_shape(role)}
        self.api.gateway.put(Event("GUILD_ROLE_CREATE", body, guild.id, GUILDS))
        for user in members:
            self.give(guild, user, role)
        return role

    def give(self, guild: Guild, user: User, role: Role) -> None:
        """Give somebody a role."""
        member = guild.members[user.id]
        member.roles.append(role)
        intent = 0 if user is self.api.world.bot else GUILD_MEMBERS
        body = member_shape(member) | {"guild_id": str(guild.id)}
        self.api.gateway.put(Event("GUILD_MEMBER_UPDATE", body, guild.id, intent))

    def rename(self, guild: Guild, user: User, nick: str) -> None:
        """Let somebody be called otherwise in a guild."""
        member = guild.members[user.id]
        member.nick = nick
        body = member_shape(member) | {"guild_id": str(guild.id)}
        self.api.gateway.put(Event("GUILD_MEMBER_UPDATE", body, guild.id, GUILD_MEMBERS))

    def text_channel(self, guild: Guild, name: str = "general", id: int = 0) -> Channel:
        """Let a text channel be there."""
        return self._channel(guild, name, TEXT, id)

    def news(self, guild: Guild, name: str = "news") -> Channel:
        """Let an announcement channel be there."""
        return self._channel(guild, name, NEWS)

    def forum(self, guild: Guild, name: str = "forum") -> Channel:
        """Let a forum be there."""
        return self._channel(guild, name, FORUM)

    def _channel(self, guild: Guild, name: str, kind: int, id: int = 0) -> Channel:
        channel = self.api.world.add_channel(Channel(id or self.api.world.snowflake(), kind, name, guild))
        self.api.tell_channel(channel, "CHANNEL_CREATE")
        return channel

    def delete_channel(self, channel: Channel) -> None:
        """Delete a channel or thread, with all that was said in it."""
        self.api.tell_channel(channel, "THREAD_DELETE" if channel.is_thread else "CHANNEL_DELETE")
        del self.api.world.channels[channel.id]
        if channel.guild:
            del channel.guild.channels[channel.id]
        self.api.world.changed.ring()

    def thread(self, parent: Channel, name: str, by: User, of: Message | None = None, private: bool = False) -> Channel:
        """Let somebody open a thread, perhaps from a message, whose id it then gets; the bot is not in it yet."""
        world = self.api.world
        usual = NEWS_THREAD if parent.type == NEWS else PUBLIC_THREAD
        number, kind = of.id if of else world.snowflake(), PRIVATE_THREAD if private else usual
        thread = world.add_channel(Channel(number, kind, name, parent.guild, parent=parent, owner=by))
        thread.members[by.id] = world.clock()
        if of is not None:
            of.thread, of.flags = thread, of.flags | HAS_THREAD
            self.api.tell(of, "MESSAGE_UPDATE")
        self.api.tell_channel(thread, "THREAD_CREATE", newly_created=True)
        return thread

    def archive(self, thread: Channel, locked: bool = False) -> None:
        """Archive a thread, and perhaps lock it."""
        thread.is_archived, thread.is_locked = True, locked
        self.api.tell_channel(thread, "THREAD_UPDATE")

    def deny(self, channel: Channel, *permissions: str, user: User | Role | None = None) -> None:
        """Deny the bot, somebody or a role permissions in a channel."""
        self._overwrite(channel, user, bits(permissions), 0)

    def allow(self, channel: Channel, *permissions: str, user: User | Role | None = None) -> None:
        """Grant the bot, somebody or a role permissions in a channel."""
        self._overwrite(channel, user, 0, bits(permissions))

    def _overwrite(self, channel: Channel, user: User | Role | None, denied: int, granted: int) -> None:
        number = (user or self.api.world.bot).id
        was_denied, was_granted = channel.overwrites.get(number, (0, 0))
        channel.overwrites[number] = (was_denied & ~granted | denied, was_granted & ~denied | granted & ALL)
        self.api.tell_channel(channel, "CHANNEL_UPDATE")

    def rename_guild(self, guild: Guild, name: str) -> None:
        """Let a guild be called otherwise."""
        guild.name = name
        self.api.gateway.put(Event("GUILD_UPDATE", guild_shape(guild), guild.id, GUILDS))
