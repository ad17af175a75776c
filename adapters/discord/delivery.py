"""Showing messages on Discord: streamed, once."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from hashlib import blake2b
from typing import Any, TypeVar

import discord

from adapters.discord import sentences
from adapters.discord.buttons import Buttons
from adapters.discord.formatting import clipped, laid_out, to_file
from adapters.discord.interactions import Interactions
from adapters.discord.trouble import TROUBLES, WAITS, is_about_the_reply, trouble
from core.adapter import Outgoing
from core.errors import Ambiguous, Unreachable
from core.messages import ChatKey, Person
from core.translation import spoken

logger = logging.getLogger("keepmind.discord")
T = TypeVar("T")


class Sender:
    """Sends and edits. Every error it raises is one of core's. Code longer than `longest_code` becomes a file."""

    def __init__(
        self,
        client: discord.Client,
        interactions: Interactions,
        buttons: Buttons,
        longest_code: int = 0,
        pause: float = 1.0,
    ) -> None:
        self._client, self._interactions, self._buttons = client, interactions, buttons
        self._longest_code, self._pause = longest_code, pause

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
        if not out.final:
            await _call(lambda: shown.edit(content=clipped(out.text)), editing=True)
            return
        view = await self._buttons.view(out)
        await _call(lambda: shown.edit(view=view, **self._body(out, "attachments")), editing=True)

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
        """Send, and while no reply comes back send again.

        By its nonce Discord knows for some minutes that it has it, and shows it once:
        https://discord.com/developers/docs/resources/message#create-message.
        """
        more: dict[str, Any] = {"nonce": self._nonce(out)}
        if view := await self._buttons.view(out):
            more["view"] = view
        reference = _reference(channel, out)
        for wait in WAITS:
            try:
                return await self._once(channel, out, reference, more)
            except Ambiguous:
                await asyncio.sleep(wait * self._pause)
        return await self._once(channel, out, reference, more)

    async def _once(
        self,
        channel: discord.abc.Messageable,
        out: Outgoing,
        reference: discord.MessageReference | None,
        more: dict[str, Any],
    ) -> str:
        async def send() -> discord.Message:
            try:
                return await self._post(channel, out, {**more, "reference": reference} if reference else more)
            except discord.HTTPException as error:
                if reference is None or not is_about_the_reply(error):
                    raise
            return await self._post(channel, out, more)

        sent = await _call(send)
        if out.nonce and sent.content.strip() != self._body(out)["content"].strip():
            await self.edit(str(sent.id), out)  # the preview that a life before sent and did not live to note
        return str(sent.id)

    async def _post(self, channel: discord.abc.Messageable, out: Outgoing, more: dict[str, Any]) -> discord.Message:
        given: dict[str, Any] = {**self._body(out), **more, "suppress_embeds": True}
        sent: discord.Message = await channel.send(**given)
        return sent

    def _body(self, out: Outgoing, files: str = "files") -> dict[str, Any]:
        """Lay out what is shown; its files are made anew each time, since they are used up by being sent."""
        if not out.final:
            return {"content": clipped(out.text)}
        content, given = laid_out(out, self._longest_code)
        return {"content": content, **({files: [to_file(file) for file in given]} if given else {})}

    def _nonce(self, out: Outgoing) -> str:
        """Name a chunk by at most 25 characters, the same when it is sent again."""
        if not out.nonce:
            return secrets.token_hex(12)
        return blake2b(f"{out.nonce} {out.chat}".encode("utf-8", "replace"), digest_size=12).hexdigest()


def _reference(channel: discord.abc.Messageable, out: Outgoing) -> discord.MessageReference | None:
    """Name what is answered, if it is a message here: not the one that a thread was opened on."""
    if not out.reply_to.isdecimal() or out.reply_to == out.chat.topic or not isinstance(channel, _HERE):
        return None
    return discord.MessageReference(message_id=int(out.reply_to), channel_id=channel.id, fail_if_not_exists=False)


async def _call(call: Callable[[], Awaitable[T]], *, editing: bool = False) -> T:
    """Call Discord. Raises core's errors only."""
    try:
        return await call()
    except TROUBLES as error:
        raise trouble(error, editing=editing) from error


_HERE = discord.PartialMessageable
