"""Which of a server's talk is for the bot."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

import discord

from adapters.discord.conversion import is_private, replied, to_key
from core.messages import ChatKey
from core.modes import Hearing, Modes, heard

_CHANNELS = 1000


@dataclass
class Groups(Modes):
    """How the bot behaves in servers; `modes` are those of threads, channels and whole servers, by their ids.

    Other bots and webhooks that mention it are answered at most `bots` times in a channel until a person speaks there.
    """

    bots: int = 0
    _answered_bots: OrderedDict[int, int] = field(default_factory=OrderedDict)

    def hearing(self, message: discord.Message, me: discord.ClientUser) -> Hearing:
        """Decide about a message."""
        if message.author.id == me.id or not _is_said(message):
            return Hearing.NOTHING
        if message.author.bot or message.webhook_id is not None:
            return self._of_a_bot(message, me)
        self._answered_bots.pop(message.channel.id, None)
        if is_private(message.channel):
            return Hearing.ADDRESSED
        return heard(self.of(to_key(message.channel), message.guild), called=calls(message, me))

    def of(self, chat: ChatKey, guild: discord.Guild | None) -> str:
        """Give the mode of a channel or a thread."""
        return self.named(chat.topic or "", chat.chat, str(guild.id) if guild else "")

    def _of_a_bot(self, message: discord.Message, me: discord.ClientUser) -> Hearing:
        mode = self.of(to_key(message.channel), message.guild)
        answered = self._answered_bots.get(message.channel.id, 0)
        if not names(message, me) or answered >= self.bots or heard(mode, called=True) is Hearing.NOTHING:
            return Hearing.NOTHING
        self._answered_bots[message.channel.id] = answered + 1
        if len(self._answered_bots) > _CHANNELS:
            self._answered_bots.popitem(last=False)
        return Hearing.ADDRESSED


def calls(message: discord.Message, me: discord.ClientUser) -> bool:
    """Tell whether a message mentions the bot, answers it, or stands in a thread it opened; `@everyone` is nobody."""
    if any(user.id == me.id for user in message.mentions):
        return True
    earlier = replied(message)
    if earlier is not None and earlier.author.id == me.id:
        return True
    return isinstance(message.channel, discord.Thread) and message.channel.owner_id == me.id


def names(message: discord.Message, me: discord.ClientUser) -> bool:
    """Tell whether the bot's mention is written in a message: answering it is no mention."""
    return f"<@{me.id}>" in message.content or f"<@!{me.id}>" in message.content


def _is_said(message: discord.Message) -> bool:
    """Tell whether somebody said it: a pin, a join or the head of a thread is Discord's own."""
    return message.type in (discord.MessageType.default, discord.MessageType.reply)
