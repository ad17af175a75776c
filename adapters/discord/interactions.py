"""Interactions that wait for their reply: a command or a press of a button is answered where it was made."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import aiohttp
import discord

from adapters.discord import sentences
from adapters.discord.buttons import Buttons
from adapters.discord.called import in_private
from adapters.discord.conversion import PLATFORM
from adapters.discord.formatting import laid_out, to_file
from adapters.discord.languages import Languages, code_of
from adapters.discord.trouble import TROUBLES, trouble
from core.adapter import Outgoing
from core.errors import Ambiguous, Refused
from core.messages import Person, Reply
from core.translation import speaking, spoken

logger = logging.getLogger("keepmind.discord")
_PRESSES = (discord.InteractionType.component, discord.InteractionType.modal_submit)
_OVER = {
    10015,  # unknown webhook
    10062,  # unknown interaction
    50027,  # invalid webhook token
}
"""Codes that say that an interaction can't be answered any more."""
_UNKNOWN_MESSAGE = 10008
_TRIES = 3
_NOBODY = discord.AllowedMentions.none()


@dataclass
class Waiting:
    """An interaction that waits, to be answered to its person `alone` or to all.

    A command is `promised` a reply, which Discord shows until it comes. `original` is the message that can be
    replaced: the one whose button was pressed, or the first reply; it only `stands_in` until one that others must not
    see has followed, since what follows a promise that is not kept takes its place.
    """

    interaction: discord.Interaction
    alone: bool
    original: str = ""
    promised: bool = False
    stands_in: bool = False
    answered: bool = False
    refused: bool = False

    def __post_init__(self) -> None:
        self.promised = not self.is_press
        if self.is_press and self.interaction.message is not None:
            self.original = str(self.interaction.message.id)

    @property
    def is_press(self) -> bool:
        """Whether a button was pressed, or a form sent that a button opened."""
        return self.interaction.type in _PRESSES

    async def acknowledge(self) -> None:
        """Tell Discord within its three seconds that a reply will come."""
        if not self.interaction.response.is_done():
            await self.interaction.response.defer(ephemeral=self.alone)

    async def show(self, text: str, alone: bool, more: dict[str, Any]) -> str:
        """Show the next part of the reply; give its id."""
        alone = alone and not in_private(self.interaction)
        if self.promised and alone and not self.alone:  # what was promised to all can't be shown to one
            await self._keep(in_words_of(self.interaction, sentences.FOR_ONE), {})
            self.stands_in = True
        if self.promised:
            try:
                return await self._keep(text, more)
            except discord.NotFound as error:
                if error.code != _UNKNOWN_MESSAGE:
                    raise
                self.promised = False  # the person has put it away
        shown = await self._follow(text, alone, more)
        if self.stands_in:
            self.stands_in = False
            await self._withdraw()
        return shown

    async def _keep(self, text: str, more: dict[str, Any]) -> str:
        """Put the reply in the place of its promise."""
        self.original = str((await self._put(text, more)).id)
        self.promised = False
        return self.original

    async def _withdraw(self) -> None:
        with suppress(*TROUBLES):
            await self.interaction.delete_original_response()

    async def _put(self, text: str, more: dict[str, Any]) -> discord.InteractionMessage:
        """Put something in a place; again when no reply comes back, since doing so twice shows it once."""
        for _ in range(_TRIES - 1):
            with suppress(aiohttp.ClientError, OSError):
                return await self._put_once(text, **more)
        return await self._put_once(text, **more)

    async def _put_once(
        self, text: str, view: discord.ui.View | None = None, files: Sequence[discord.File] = ()
    ) -> discord.InteractionMessage:
        for file in files:
            file.reset()
        return await self.interaction.edit_original_response(
            content=text, attachments=files, view=view, allowed_mentions=_NOBODY
        )

    async def _follow(self, text: str, alone: bool, more: dict[str, Any]) -> str:
        sent = await self.interaction.followup.send(
            text, ephemeral=alone or self.alone, allowed_mentions=_NOBODY, wait=True, **more
        )
        return str(sent.id)

    async def replace(self, text: str, more: dict[str, Any]) -> str:
        """Put something in the place of the message that this can replace; give its id."""
        return str((await self._put(text, more)).id)

    async def end(self, reply: Reply | None) -> None:
        """Let Discord wait no longer for what was answered elsewhere, or not at all, which is then told."""
        if self.answered:
            return
        if reply is None or self.refused:
            await self.show(in_words_of(self.interaction, sentences.NO_ANSWER), True, {})
        elif self.promised:
            await self._withdraw()


class Interactions:
    """The interactions that are not answered yet, by the id of the message each was made into."""

    def __init__(self, buttons: Buttons, longest_code: int = 0) -> None:
        self._buttons, self._longest_code = buttons, longest_code
        self._waiting: dict[str, Waiting] = {}
        self.languages = Languages()

    async def carry(self, id: str, waiting: Waiting, take: Callable[[], Awaitable[Reply | None]]) -> None:
        """Let an interaction wait for the reply to the message of that id while it is taken."""
        self._waiting[id] = waiting
        self.languages.learn(Person(PLATFORM, str(waiting.interaction.user.id)), code_of(waiting.interaction.locale))
        try:
            reply = await take()
            with suppress(*TROUBLES):
                await waiting.end(reply)
        finally:
            self._waiting.pop(id, None)

    async def answer(self, out: Outgoing) -> str | None:
        """Send a message as the reply to the interaction it answers (`out.reply_to`), to one person when it is private.

        Gives its id; None when no interaction with that id waits, or its token has run out. Raises DeliveryError.
        """
        waiting = self._waiting.get(out.reply_to)
        if waiting is None:
            return None
        text, more = await self._laid_out(out, waiting)
        alone, over = out.only_for is not None, {*_OVER, _UNKNOWN_MESSAGE}
        return await self._call(out, waiting, lambda: waiting.show(text, alone, more), over)

    async def replace(self, message_id: str, out: Outgoing) -> bool:
        """Put a message in the place of the one whose button was pressed; False when no interaction allows it."""
        waiting = self._waiting.get(out.reply_to)
        if waiting is None or waiting.original != message_id:
            return False
        text, more = await self._laid_out(out, waiting)
        return await self._call(out, waiting, lambda: waiting.replace(text, more)) is not None

    def _give_up(self, id: str) -> None:
        waiting = self._waiting.pop(id, None)
        if waiting is not None:
            waiting.answered = True

    async def _laid_out(self, out: Outgoing, waiting: Waiting) -> tuple[str, dict[str, Any]]:
        """Give the words of a message, and its buttons and files."""
        text, files = laid_out(out, self._longest_code)
        more: dict[str, Any] = {"files": [to_file(file) for file in files]} if files else {}
        elsewhere = str(waiting.interaction.channel_id) != (out.chat.topic or out.chat.chat)
        view = await self._buttons.view(out, elsewhere=elsewhere) if out.final else None
        if view is not None:
            more["view"] = view
        return text, more

    async def _call(
        self, out: Outgoing, waiting: Waiting, show: Callable[[], Awaitable[str]], over: Collection[int] = _OVER
    ) -> str | None:
        """Show something. None when the interaction can't be answered any more. Raises core's errors only."""
        try:
            shown = await show()
        except TROUBLES as error:
            if isinstance(error, discord.HTTPException) and error.code in over:
                self._give_up(out.reply_to)
                logger.info("an interaction can't be answered any more: %s", error.code)
                return None
            became = trouble(error)
            waiting.refused, waiting.answered = isinstance(became, Refused), isinstance(became, Ambiguous)
            raise became from error
        waiting.answered = True
        return shown


def in_words_of(interaction: discord.Interaction, sentence: str, **values: object) -> str:
    """Give a sentence in the language of whoever made an interaction."""
    with speaking(code_of(interaction.locale)):
        return spoken(sentence, **values)
