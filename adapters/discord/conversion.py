"""Discord's messages made into ours: who said what, where, and in answer to what."""

from __future__ import annotations

import re
from datetime import UTC

import discord

from core import messages
from core.messages import ChatKey, Person, Quote

PLATFORM = "discord"
_MENTION = re.compile(r"<(?:(?P<mark>@!?|@&|#)(?P<id>\d+)|a?:(?P<emoji>\w+):\d+)>")


def to_key(channel: object) -> ChatKey:
    """Name the conversation: a channel, or a thread as a topic of the channel it belongs to."""
    if isinstance(channel, discord.Thread):
        return ChatKey(PLATFORM, str(channel.parent_id), str(channel.id))
    return ChatKey(PLATFORM, str(getattr(channel, "id", "")))


def to_message(message: discord.Message, me: discord.ClientUser, *, addressed: bool = True) -> messages.Message:
    """Convert what was said. Files are read elsewhere."""
    anonymous = message.webhook_id is not None
    return messages.Message(
        id=str(message.id),
        chat=to_key(message.channel),
        sender=Person(PLATFORM, str(message.author.id)),
        text=words(message, me),
        sent_at=message.created_at.astimezone(UTC),
        name=str(message.author.display_name),
        private=is_private(message.channel),
        addressed=addressed,
        anonymous=anonymous,
        quote=_quote(message, me),
        forwarded="somebody" if is_forward(message) else "",
        server=str(message.guild.id) if message.guild else "",
    )


def is_private(channel: object) -> bool:
    """Tell whether a channel is one person's own with the bot."""
    return isinstance(channel, discord.DMChannel)


def is_forward(message: discord.Message) -> bool:
    """Tell whether a message holds another one, said by somebody whom Discord does not name."""
    return bool(message.message_snapshots)


def words(message: discord.Message, me: discord.ClientUser) -> str:
    """Give what a message says in words: with names for mentions, and without the one that only calls the bot.

    A post in a forum has its title above.
    """
    if is_forward(message):
        return str(message.message_snapshots[0].content)
    said = _named(re.sub(rf"^\s*<@!?{me.id}>[\s,:]*", "", message.content), message)
    return f"{_title(message)}\n{said}".strip() if _title(message) else said


def _title(message: discord.Message) -> str:
    """Give the title of the post that a message opens: a forum's thread bears the id of its first message."""
    thread = message.channel
    return thread.name if isinstance(thread, discord.Thread) and thread.id == message.id else ""


def _named(text: str, message: discord.Message) -> str:
    users = {user.id: user.display_name for user in message.mentions}
    roles = {role.id: role.name for role in message.role_mentions}
    channels = {channel.id: getattr(channel, "name", "") for channel in message.channel_mentions}

    def name(found: re.Match[str]) -> str:
        if found["emoji"]:
            return f":{found['emoji']}:"
        kinds = {"@&": ("@", roles), "#": ("#", channels)}
        sign, known = kinds.get(found["mark"], ("@", users))
        plain = known.get(int(found["id"]))
        return f"{sign}{plain}" if plain else found[0]

    return _MENTION.sub(name, text)


def replied(message: discord.Message) -> discord.Message | None:
    """Give the message this one answers, if it is still there."""
    reference = message.reference
    if reference is None or message.type is not discord.MessageType.reply:
        return None
    return reference.resolved if isinstance(reference.resolved, discord.Message) else None


def _quote(message: discord.Message, me: discord.ClientUser) -> Quote | None:
    earlier = replied(message)
    if earlier is None:
        return None
    return Quote(str(earlier.author.display_name), words(earlier, me) or _kind(earlier), earlier.author.id == me.id)


def _kind(message: discord.Message) -> str:
    if message.attachments:
        return "(a voice message)" if message.attachments[0].is_voice_message() else "(a file)"
    return "(a sticker)" if message.stickers else "(a message)"
