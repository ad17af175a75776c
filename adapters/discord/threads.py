"""Threads that the bot opens, one for each conversation that somebody begins with it in a channel."""

from __future__ import annotations

import logging

import discord

from adapters.discord import sentences
from adapters.discord.trouble import THREAD_EXISTS, TROUBLES
from core.translation import spoken

logger = logging.getLogger("keepmind.discord")
NAME = 60
"""Most characters of a name; Discord takes 100."""


async def thread_for(message: discord.Message, words: str) -> int | None:
    """Open a thread on a message in a channel; give its id, which is the message's. None when there can be none."""
    if not isinstance(message.channel, discord.TextChannel):
        return None
    if message.flags.has_thread:
        return message.id
    try:
        return (await message.create_thread(name=_name(words))).id
    except discord.HTTPException as error:
        if error.code == THREAD_EXISTS:
            return message.id
        logger.warning("no thread could be opened in channel %s: %s", message.channel.id, error.code)
    except TROUBLES as error:
        logger.warning("no thread could be opened in channel %s: %s", message.channel.id, type(error).__name__)
    return None


def _name(words: str) -> str:
    line = " ".join(words.split())
    return (line if len(line) <= NAME else line[: NAME - 1] + "…") or spoken(sentences.CONVERSATION)
