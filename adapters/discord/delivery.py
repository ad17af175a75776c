"""Showing messages on Discord: streamed, once."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from io import BytesIO
from typing import Any, TypeVar

import discord

from adapters.discord import sentences
from adapters.discord.buttons import Buttons
from adapters.discord.interactions import Interactions
from adapters.discord.trouble import TROUBLES, trouble
from core.adapter import Outgoing
from core.errors import Unreachable
from core.messages import Attachment, ChatKey, Person
from core.translation import spoken

logger = logging.getLogger("keepmind.discord")
T = TypeVar("T")
LIMIT = 2000
"""Most characters of one message: https://discord.com/developers/docs/resources/message#create-message."""


class Sender:
    """Sends and edits. Every error it raises is one of core's."""

    def __init__(self, client: discord.Client, interactions: Interactions, buttons: Buttons) -> None:
        self._client, self._interactions, self._buttons = client, interactions, buttons

    async def send(self, out: Outgoing) -> str:
        """Send a message; give its id."""
        if (answered := await self._interactions.answer(out)) is not None:
            return answered
        if out.only_for is not None:
            return await self._send_privately(out.only_for, out)
        return await self._send(self._channel(out.chat), out)

    async def edit(self, message_id: str, out: Outgoing) -> None:
        """Put a message in the place of one sent before."""
        if await self._interactions.replace(message_id, out):
            return
        shown = self._channel(out.chat).get_partial_message(int(message_id))
        more: dict[str, Any] = {"view": await self._buttons.view(out)} if out.final else {}
        await _call(lambda: shown.edit(content=out.text, **more))

    async def typing(self, chat: ChatKey) -> None:
        """Show that the bot is typing; a failure is passed over."""
        with suppress(*TROUBLES):
            await self._channel(chat).typing()

    def _channel(self, chat: ChatKey) -> discord.PartialMessageable:
        return self._client.get_partial_messageable(int(chat.topic or chat.chat))

    async def _send_privately(self, person: Person, out: Outgoing) -> str:
        """Send to the one person who may see it; one who takes no direct messages is told so in the channel."""
        try:
            direct = await _call(lambda: self._client.create_dm(discord.Object(int(person.user))))
            return await self._send(direct, out)
        except Unreachable:
            await self._send(
                self._channel(out.chat), Outgoing(out.chat, spoken(sentences.IN_PRIVATE), reply_to=out.reply_to)
            )
            raise

    async def _send(self, channel: discord.abc.Messageable, out: Outgoing) -> str:
        more: dict[str, Any] = {"nonce": out.nonce or None}
        if view := await self._buttons.view(out):
            more["view"] = view
        if out.file is not None:
            more["file"] = _file(out.file)
        sent = await _call(lambda: channel.send(out.text, **more))
        return str(sent.id)


async def _call(call: Callable[[], Awaitable[T]]) -> T:
    """Call Discord. Raises core's errors only."""
    try:
        return await call()
    except TROUBLES as error:
        raise trouble(error) from error


def _file(file: Attachment) -> discord.File:
    return discord.File(BytesIO(file.data or file.text.encode("utf-8", "replace")), file.name or "file.txt")
