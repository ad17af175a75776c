"""What a test or the terminal lets people say, send, edit and delete."""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence
from dataclasses import replace

from adapters.discord.server.content import ping
from adapters.discord.server.intents import DIRECT_TYPING, GUILD_TYPING
from adapters.discord.server.places import Places
from adapters.discord.server.refusals import Json
from adapters.discord.server.sessions import Event
from adapters.discord.server.shapes import file_shape, member_shape, moment
from adapters.discord.server.world import PUBLIC_THREAD, VOICE_NOTE, Channel, File, Message, Reference, User

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc0000003010100c9fe92ef"
    "0000000049454e44ae426082"
)
MOST_SAID = 2000


class Talk(Places):
    """People, other bots and webhooks talking. Where a person is given as the place, it is their direct messages."""

    def say(
        self,
        sender: User,
        place: Channel | User,
        text: str = "",
        reply_to: Message | None = None,
        pinging: bool = True,
        files: Sequence[tuple[str, bytes]] = (),
        embeds: Sequence[Json] = (),
    ) -> Message:
        """Say a text, perhaps with files, perhaps in reply (which pings whom it answers, unless told not to)."""
        channel = self._open(sender, place)
        message = self._new(sender, channel, text.strip(), reply_to)
        message.files = [self.file(channel, name, data) for name, data in files]
        message.embeds = list(embeds)
        return self._post(message, pinging)

    def _open(self, sender: User, place: Channel | User) -> Channel:
        channel = self.channel(place)
        if channel.is_private and sender is not channel.recipient:
            raise ValueError("only the person and the bot can speak in direct messages")
        if channel.guild and not sender.is_webhook and sender.id not in channel.guild.members:
            raise ValueError(f"{sender.name} is not in {channel.guild.name}")
        if channel.is_locked:
            raise ValueError("the thread is locked")
        return channel

    def _new(self, sender: User, channel: Channel, text: str, reply_to: Message | None = None) -> Message:
        if len(text) > MOST_SAID:
            raise ValueError(f"nobody can say more than {MOST_SAID} characters; they are pasted")
        message = Message(channel, self.api.world.snowflake(), sender, self.api.world.clock(), text)
        if reply_to is not None:
            guild = channel.guild.id if channel.guild else None
            message.reference, message.type = Reference(reply_to.channel.id, reply_to.id, guild), 19
        return message

    def _post(self, message: Message, pinging: bool = True) -> Message:
        ping(message, self.api.world, None if pinging else {"parse": ["users", "roles", "everyone"]})
        return self.api.tell(self.api.world.write(message))

    def file(
        self, channel: Channel, name: str, data: bytes, media_type: str | None = None, size: int | None = None
    ) -> File:
        """Keep a file that a message is to hold; `size` is what Discord says its size is."""
        kind = mimetypes.guess_type(name)[0] or "" if media_type is None else media_type
        return self.api.world.add_file(channel, name, kind, data, size)

    def attach(self, sender: User, place: Channel | User, *files: File, text: str = "") -> Message:
        """Send files made by `file`."""
        message = self._new(sender, self._open(sender, place), text)
        message.files = list(files)
        return self._post(message)

    def photo(self, sender: User, place: Channel | User, data: bytes = PIXEL, text: str = "") -> Message:
        """Send a picture."""
        return self.say(sender, place, text, files=[("picture.png", data)])

    def voice(self, sender: User, place: Channel | User, data: bytes, seconds: float = 3.0) -> Message:
        """Send a voice message."""
        message = self._new(sender, self._open(sender, place), "")
        file = self.file(message.channel, "voice-message.ogg", data, "audio/ogg")
        file.seconds = seconds
        message.files, message.flags = [file], VOICE_NOTE
        return self._post(message)

    def paste(self, sender: User, place: Channel | User, text: str) -> Message:
        """Say a text as Discord's apps do: what is too long becomes a file, which says nothing of its kind."""
        if len(text) <= MOST_SAID:
            return self.say(sender, place, text)
        channel = self._open(sender, place)
        return self.attach(sender, channel, self.file(channel, "message.txt", text.encode(), ""))

    def sticker(self, sender: User, place: Channel | User) -> Message:
        """Send a sticker: a message without words."""
        message = self._new(sender, self._open(sender, place), "")
        message.stickers = [{"id": str(self.api.world.snowflake()), "name": "Wave", "format_type": 1}]
        return self._post(message)

    def forward(self, sender: User, place: Channel | User, message: Message) -> Message:
        """Forward a message."""
        channel = self._open(sender, place)
        forwarded = self._new(sender, channel, "")
        guild = message.channel.guild.id if message.channel.guild else None
        forwarded.reference = Reference(message.channel.id, message.id, guild, type=1)
        forwarded.snapshots = [{"message": self._snapshot(message)}]
        forwarded.flags = 1 << 14
        return self._post(forwarded)

    def _snapshot(self, message: Message) -> Json:
        return {
            "content": message.text,
            "timestamp": moment(message.at),
            "edited_timestamp": None,
            "type": message.type,
            "flags": message.flags,
            "embeds": message.embeds,
            "attachments": [file_shape(file, self.api.cdn()) for file in message.files],
            "mentions": [],
            "mention_roles": [],
            "components": [],
        }

    def post(self, forum: Channel, by: User, title: str, text: str) -> Message:
        """Open a post in a forum; gives its first message, in the thread of the same id."""
        world = self.api.world
        number = world.snowflake()
        thread = Channel(number, PUBLIC_THREAD, title, forum.guild, parent=forum, owner=by)
        thread.members[by.id] = world.clock()
        world.add_channel(thread)
        self.api.tell_channel(thread, "THREAD_CREATE", newly_created=True)
        return self._post(Message(thread, number, by, world.clock(), text))

    def edit(self, message: Message, text: str) -> Message:
        """Let the sender put another text into a message."""
        message.text = text
        ping(message, self.api.world)
        return self.api.tell(self.api.world.rewrite(message), "MESSAGE_UPDATE")

    def delete(self, message: Message) -> None:
        """Take a message away, as its sender or who runs the guild."""
        self.api.world.remove(message)
        self.api.tell_gone(message)

    def delete_all(self, *messages: Message) -> None:
        """Take messages of one channel away at once."""
        channel = messages[0].channel
        for message in messages:
            self.api.world.remove(message)
        self.api.tell_all_gone(channel, messages)

    def embed_link(self, message: Message, embed: Json) -> Message:
        """Let Discord add a link's preview, which comes as an edit that nobody made."""
        message.embeds = [*message.embeds, embed]
        return self.api.tell(message, "MESSAGE_UPDATE")

    def welcome(self, user: User, channel: Channel) -> Message:
        """Let Discord itself say that somebody has come: a message without words."""
        message = replace(self._new(user, channel, ""), type=7)
        return self.api.tell(self.api.world.write(message))

    def type(self, user: User, place: Channel | User) -> None:
        """Let somebody be seen typing."""
        channel = self.channel(place)
        body: Json = {"channel_id": str(channel.id), "user_id": str(user.id), "timestamp": int(self.api.world.clock())}
        if channel.guild is None:
            self.api.gateway.put(Event("TYPING_START", body, None, DIRECT_TYPING))
            return
        member = member_shape(channel.guild.members[user.id])
        body |= {"guild_id": str(channel.guild.id), "member": member}
        self.api.gateway.put(Event("TYPING_START", body, channel.guild.id, GUILD_TYPING))
