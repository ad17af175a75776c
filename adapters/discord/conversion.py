"""Discord's messages made into ours: who said what, where, and in answer to what."""

from __future__ import annotations

from datetime import UTC

import discord

from core import messages
from core.messages import ChatKey, Person

PLATFORM = "discord"


def to_key(channel: object) -> ChatKey:
    """Name the conversation: a channel, or a thread as a topic of the channel it belongs to."""
    if isinstance(channel, discord.Thread):
        return ChatKey(PLATFORM, str(channel.parent_id), str(channel.id))
    return ChatKey(PLATFORM, str(getattr(channel, "id", "")))


def to_message(message: discord.Message, text: str, *, addressed: bool = True) -> messages.Message:
    """Convert what was said; `text` stands in for its words. Files are read elsewhere."""
    return messages.Message(
        id=str(message.id),
        chat=to_key(message.channel),
        sender=Person(PLATFORM, str(message.author.id)),
        text=text,
        sent_at=message.created_at.astimezone(UTC),
        name=message.author.display_name,
        private=is_private(message),
        addressed=addressed,
        anonymous=message.webhook_id is not None,
    )


def is_private(message: discord.Message) -> bool:
    """Tell whether it was said in a person's own chat with the bot."""
    return message.guild is None and getattr(message.channel, "guild_id", None) is None


def words(message: discord.Message, me: discord.ClientUser) -> str:
    """Give what a message says in words, without the mention that only calls the bot."""
    text = message.content
    for mention in (f"<@{me.id}>", f"<@!{me.id}>"):
        text = text.removeprefix(mention).lstrip() if text.startswith(mention) else text
    return text
