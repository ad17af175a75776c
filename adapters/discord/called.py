"""Interactions made into our messages: which command, by whom, where."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC

import discord

from adapters.discord.conversion import PLATFORM, to_key
from adapters.discord.languages import code_of
from core.buttons import Press
from core.messages import Attachment, ChatKey, Message, Person


def to_call(interaction: discord.Interaction, text: str, *, attachments: tuple[Attachment, ...] = ()) -> Message:
    """Convert an interaction into the command it stands for."""
    return Message(
        id=str(interaction.id),
        chat=to_key(interaction.channel or discord.Object(interaction.channel_id or 0)),
        sender=Person(PLATFORM, str(interaction.user.id)),
        text=text,
        sent_at=interaction.created_at.astimezone(UTC),
        name=str(interaction.user.display_name),
        private=in_private(interaction),
        language=code_of(interaction.locale),
        attachments=attachments,
        server=str(interaction.guild_id or ""),
    )


def to_press(interaction: discord.Interaction, press: Press, words: str = "") -> Message:
    """Convert the press of a button, with the words that were asked for, into the command it stands for.

    A message that others see never gives its place to the reply.
    """
    said = to_call(interaction, f"{press.command} {words}".rstrip())
    shown = interaction.message
    own = shown is not None and (said.private or shown.flags.ephemeral or press.chat is not None)
    said = replace(said, pressed=str(shown.id) if shown is not None and own else "")
    if press.chat is None:
        return said
    return replace(said, chat=press.chat, private=False, server=said.server or _server_of(interaction, press.chat))


def _server_of(interaction: discord.Interaction, chat: ChatKey) -> str:
    """Give the server of a chat that is spoken of in one's own."""
    guild = getattr(interaction.client.get_channel(int(chat.chat)), "guild", None)
    return str(guild.id) if guild is not None else ""


def in_private(interaction: discord.Interaction) -> bool:
    """Tell whether an interaction was made in a person's own chat with the bot."""
    return interaction.guild_id is None and not interaction.context.private_channel
