"""The people, guilds, channels, messages and files that the test server knows: what a person would see now."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from adapters.discord.server.permissions import ALL, USUAL, bits
from adapters.discord.server.refusals import Json
from adapters.wire.signals import Signal

EPOCH = 1_420_070_400_000
TEXT, DM, VOICE, CATEGORY, NEWS, FORUM = 0, 1, 2, 4, 5, 15
NEWS_THREAD, PUBLIC_THREAD, PRIVATE_THREAD = 10, 11, 12
THREADS = (NEWS_THREAD, PUBLIC_THREAD, PRIVATE_THREAD)
EPHEMERAL, LOADING, HAS_THREAD, SUPPRESS_EMBEDS, SILENT, VOICE_NOTE = 1 << 6, 1 << 7, 1 << 5, 1 << 2, 1 << 12, 1 << 13
COMPONENTS_V2 = 1 << 15


@dataclass(eq=False, slots=True)
class User:
    """A person, a bot, or what a webhook calls itself."""

    id: int
    name: str
    display_name: str = ""
    is_bot: bool = False
    locale: str = "en-US"
    is_webhook: bool = False
    has_open_dms: bool = True

    @property
    def mention(self) -> str:
        """What names them in a text."""
        return f"<@{self.id}>"


@dataclass(eq=False, slots=True)
class Role:
    """A role in a guild."""

    id: int
    name: str
    permissions: int = 0
    position: int = 1
    is_mentionable: bool = False
    bot: User | None = None

    @property
    def mention(self) -> str:
        """What names it in a text."""
        return f"<@&{self.id}>"


@dataclass(eq=False, slots=True)
class Member:
    """Somebody in a guild."""

    user: User
    joined_at: float
    roles: list[Role] = field(default_factory=list)
    nick: str = ""


@dataclass(eq=False, slots=True)
class Guild:
    """A guild with its members, roles and channels, threads among them."""

    id: int
    name: str
    owner: User
    locale: str = "en-US"
    members: dict[int, Member] = field(default_factory=dict)
    roles: dict[int, Role] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    system_channel: Channel | None = None

    @property
    def features(self) -> list[str]:
        """What it can do; choosing a language is for communities."""
        return [] if self.locale == "en-US" else ["COMMUNITY"]

    def permissions(self, user: User) -> int:
        """Give what somebody may do in the guild, whatever the channel."""
        member = self.members.get(user.id)
        if member is None:
            return 0
        if user is self.owner:
            return ALL
        allowed = self.roles[self.id].permissions
        for role in member.roles:
            allowed |= role.permissions
        return ALL if allowed & bits(["administrator"]) else allowed


@dataclass(eq=False, slots=True)
class Channel:
    """A text channel, direct messages, a forum or a thread, with what is seen in it."""

    id: int
    type: int
    name: str = ""
    guild: Guild | None = None
    recipient: User | None = None
    parent: Channel | None = None
    owner: User | None = None
    created_at: float = 0.0
    overwrites: dict[int, tuple[int, int]] = field(default_factory=dict)
    members: dict[int, float] = field(default_factory=dict)
    tags: list[Json] = field(default_factory=list)
    is_archived: bool = False
    is_locked: bool = False
    by_id: dict[int, Message] = field(default_factory=dict)
    last_message: int | None = None

    @property
    def messages(self) -> list[Message]:
        """What a person would see now, oldest first; what only one of them sees is among it."""
        return list(self.by_id.values())

    @property
    def from_bot(self) -> list[Message]:
        """What the bot said here."""
        return [message for message in self.by_id.values() if message.by_bot]

    @property
    def is_private(self) -> bool:
        """Tell whether it is one person's direct messages with the bot."""
        return self.type == DM

    @property
    def is_thread(self) -> bool:
        """Tell whether it is a thread or a forum's post."""
        return self.type in THREADS

    @property
    def mention(self) -> str:
        """What names it in a text."""
        return f"<#{self.id}>"

    def permissions(self, user: User) -> int:
        """Give what somebody may do here: the guild's roles, then what the channel says otherwise."""
        if self.guild is None:
            return USUAL
        if self.parent is not None and self.is_thread:
            return self.parent.permissions(user)
        allowed = self.guild.permissions(user)
        if allowed == ALL or not allowed:
            return allowed
        for denied, granted in self._overwrites(user):
            allowed = allowed & ~denied | granted
        return allowed if allowed & bits(["view_channel"]) else 0

    def _overwrites(self, user: User) -> Iterator[tuple[int, int]]:
        assert self.guild is not None
        roles = [self.overwrites.get(role.id, (0, 0)) for role in self.guild.members[user.id].roles]
        yield self.overwrites.get(self.guild.id, (0, 0))
        denied = granted = 0
        for role_denied, role_granted in roles:
            denied, granted = denied | role_denied, granted | role_granted
        yield denied, granted
        yield self.overwrites.get(user.id, (0, 0))

    def may(self, user: User, *names: str) -> bool:
        """Tell whether somebody has all these permissions here."""
        wanted = bits(names)
        return self.permissions(user) & wanted == wanted


@dataclass(eq=False, slots=True)
class File:
    """A file in a message; `size` is what Discord says, whatever is in it."""

    id: int
    name: str
    media_type: str
    data: bytes
    size: int
    path: str
    description: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Reference:
    """What a message answers or, being of type 1, forwards; the message may be gone since."""

    channel: int
    message: int
    guild: int | None = None
    type: int = 0


@dataclass(eq=False, slots=True)
class Message:
    """A message as it is seen now; `versions` are its texts from the first on, `seen_by` who alone sees it."""

    channel: Channel
    id: int
    author: User
    at: float
    text: str = ""
    by_bot: bool = False
    type: int = 0
    flags: int = 0
    files: list[File] = field(default_factory=list)
    embeds: list[Json] = field(default_factory=list)
    components: list[Json] = field(default_factory=list)
    mentions: list[User] = field(default_factory=list)
    mention_roles: list[Role] = field(default_factory=list)
    mention_everyone: bool = False
    reference: Reference | None = None
    snapshots: list[Json] = field(default_factory=list)
    stickers: list[Json] = field(default_factory=list)
    nonce: str | int | None = None
    edited_at: float | None = None
    interaction: Json | None = None
    thread: Channel | None = None
    seen_by: User | None = None
    reactions: dict[str, list[User]] = field(default_factory=dict)
    versions: list[str] = field(default_factory=list)

    @property
    def buttons(self) -> list[Json]:
        """The buttons under it, row by row."""
        return [one for one in walk(self.components) if one["type"] == 2]

    @property
    def selects(self) -> list[Json]:
        """The selects under it."""
        return [one for one in walk(self.components) if one["type"] in (3, 5, 6, 7, 8)]

    @property
    def is_ephemeral(self) -> bool:
        """Tell whether one person alone sees it."""
        return bool(self.flags & EPHEMERAL)

    @property
    def is_loading(self) -> bool:
        """Tell whether it only says that the bot is thinking."""
        return bool(self.flags & LOADING)

    @property
    def reply_to(self) -> int | None:
        """The id of the message it replies to."""
        return self.reference.message if self.reference and self.reference.type == 0 else None


def walk(components: list[Json]) -> Iterator[Json]:
    """Give all components, those inside others too."""
    for one in components:
        yield one
        yield from walk(one.get("components", []))
        yield from walk([one[name] for name in ("accessory", "component") if one.get(name)])


class World:
    """Everything there is."""

    def __init__(self, bot: User, clock: Callable[[], float] = time.time) -> None:
        self.bot, self.clock, self.changed = bot, clock, Signal()
        self.users: dict[int, User] = {bot.id: bot}
        self.guilds: dict[int, Guild] = {}
        self.channels: dict[int, Channel] = {}
        self.files: dict[str, File] = {}
        self.typing: list[tuple[Channel, float]] = []
        self._last = 0

    def snowflake(self) -> int:
        """Make the next id: it says when, and rises."""
        self._last = max(self._last + 1, (int(self.clock() * 1000) - EPOCH) << 22)
        return self._last

    def add_user(self, user: User) -> User:
        """Let somebody be there."""
        self.users[user.id] = user
        return user

    def add_channel(self, channel: Channel) -> Channel:
        """Let a channel be there."""
        channel.created_at = channel.created_at or self.clock()
        self.channels[channel.id] = channel
        if channel.guild is not None:
            channel.guild.channels[channel.id] = channel
        return channel

    def private(self, user: User, id: int = 0) -> Channel:
        """Find or open somebody's direct messages with the bot."""
        found = (channel for channel in self.channels.values() if channel.recipient is user)
        return next(found, None) or self.add_channel(Channel(id or self.snowflake(), DM, recipient=user))

    def add_file(self, channel: Channel, name: str, media_type: str, data: bytes, size: int | None = None) -> File:
        """Keep a file."""
        number = self.snowflake()
        path = f"attachments/{channel.id}/{number}/{name}"
        file = File(number, name, media_type, data, len(data) if size is None else size, path)
        self.files[path] = file
        return file

    def write(self, message: Message) -> Message:
        """Put a message into its channel."""
        channel = message.channel
        message.versions.append(message.text)
        channel.by_id[message.id] = message
        if message.seen_by is None:
            channel.last_message = message.id
            channel.is_archived = False
        self.changed.ring()
        return message

    def rewrite(self, message: Message) -> Message:
        """Note that a message has other content now."""
        message.edited_at = self.clock()
        message.versions.append(message.text)
        self.changed.ring()
        return message

    def remove(self, message: Message) -> None:
        """Take a message away."""
        message.channel.by_id.pop(message.id, None)
        self.changed.ring()
