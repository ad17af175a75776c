"""What people press and call, made into messages that the engine takes: a command, a button, a form, a menu."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import discord

from adapters.discord import sentences
from adapters.discord.buttons import ASKING, Buttons, Pressed, label_of, pressed_of
from adapters.discord.called import in_private, to_call, to_press
from adapters.discord.interactions import Interactions, Waiting, in_words_of
from adapters.discord.languages import code_of
from adapters.discord.modals import form, written
from adapters.discord.trouble import TROUBLES
from core import messages
from core.buttons import Press, is_kept
from core.commands import cards
from core.commands.command import Command, FactKey
from core.engine import Engine
from core.errors import StoreError
from core.messages import Attachment, Reply
from core.reading import MEGABYTE, MOST_FILE
from core.sentences import APOLOGY_COMMAND, TOO_LARGE

logger = logging.getLogger("keepmind.discord")
PATIENCE = 1.0
"""Seconds that something may take before a form is shown without it: Discord waits for the form three seconds."""


class Calls:
    """Takes interactions. Each is acknowledged before anything else is waited for."""

    def __init__(self, engine: Engine, interactions: Interactions, buttons: Buttons) -> None:
        self._engine, self._interactions, self._buttons = engine, interactions, buttons

    async def call(
        self, interaction: discord.Interaction, command: Command, text: str, files: Sequence[discord.Attachment] = ()
    ) -> None:
        """Run a command as its text says it."""
        alone = (command.private or command.admin) and not in_private(interaction)
        waiting = Waiting(interaction, alone)
        await waiting.acknowledge()
        if any(file.size > MOST_FILE for file in files):
            await waiting.show(in_words_of(interaction, TOO_LARGE, megabytes=MOST_FILE // MEGABYTE), True, {})
            return
        said = to_call(interaction, text)
        if files and await self._engine.access.may_speak(said) and not self._engine.is_over(said):
            said = replace(said, attachments=tuple([await _read(file) for file in files]))
        await self._take(waiting, said)

    async def forget(self, interaction: discord.Interaction, message: discord.Message) -> None:
        """Forget a message; for an answer of the bot, the one that it answers."""
        own = interaction.client.user is not None and message.author.id == interaction.client.user.id
        reference = message.reference.message_id if message.reference else None
        said = reference if own else message.id
        waiting = Waiting(interaction, not in_private(interaction))
        await waiting.acknowledge()
        if said is None:
            await waiting.show(in_words_of(interaction, sentences.NOT_YOURS_TO_FORGET), True, {})
        else:
            await self._take(waiting, to_call(interaction, f"/forget message {said}"))

    async def pressed(self, interaction: discord.Interaction) -> None:
        """Take the press of a button, a choice from a list, or a form that was sent."""
        pressed = pressed_of(interaction)
        try:
            if interaction.type is discord.InteractionType.modal_submit:
                await self._press(interaction, pressed, written(interaction))
            elif pressed.asks:
                await self._ask(interaction, pressed)
            else:
                await self._press(interaction, pressed)
        except TROUBLES as error:
            logger.warning("a press was not taken: %s", type(error).__name__)
        except Exception as error:  # what one press meets is told, and costs no other
            logger.error("a press met a bug: %s", type(error).__name__)
            logger.debug("its traceback", exc_info=error)
            await tell(interaction, APOLOGY_COMMAND)

    async def _press(self, interaction: discord.Interaction, pressed: Pressed, words: str = "") -> None:
        waiting = Waiting(interaction, _is_alone(interaction))
        if is_kept(pressed.data):
            await waiting.acknowledge()
        press = await self._buttons.pressed(pressed, interaction.user.id)
        if press is None:
            await tell(interaction, sentences.NO_BUTTON)
            return
        await waiting.acknowledge()
        await self._take(waiting, to_press(interaction, press, words))

    async def _ask(self, interaction: discord.Interaction, pressed: Pressed) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                press = await self._buttons.pressed(pressed, interaction.user.id)
        except (StoreError, TimeoutError):
            await tell(interaction, APOLOGY_COMMAND)
            return
        if press is None:
            await tell(interaction, sentences.NO_BUTTON)
            return
        command, arguments = self._engine.commands.find(press.command) or (None, "")
        hint = command.summary_in(code_of(interaction.locale)) if command else ""
        title = label_of(interaction.message, f"{ASKING}{pressed.data}")
        words = await self._known(interaction, press, command, arguments)
        await interaction.response.send_modal(form(pressed, title, arguments or title, hint, words))

    async def _known(
        self, interaction: discord.Interaction, press: Press, command: Command | None, arguments: str
    ) -> str:
        """Give what the fact holds that a command is about, if that is quickly known."""
        if command is None or not command.parameters or command.parameters[0].type is not FactKey:
            return ""
        message = to_press(interaction, press)
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(PATIENCE):
                here = await self._engine.shared.store.load(message.chat, message.sender, private=message.private)
            fact = here.facts.by_key.get(arguments)
            return cards.editable(fact) if fact else ""
        return ""

    async def _take(self, waiting: Waiting, message: messages.Message) -> None:
        async def take() -> Reply | None:
            done = await self._engine.accept(message)
            return await asyncio.shield(done) if done is not None else None

        await self._interactions.carry(message.id, waiting, take)


async def _read(file: discord.Attachment) -> Attachment:
    data = await file.read()
    text = data.decode("utf-8", "replace")
    return Attachment("file", file.filename, file.content_type or "", text=text, data=data)


async def tell(interaction: discord.Interaction, sentence: str, **values: object) -> None:
    """Say a sentence to who made an interaction, to them alone; failing to is only logged."""
    said = in_words_of(interaction, sentence, **values)
    try:
        if interaction.response.is_done():
            await interaction.followup.send(said, ephemeral=True, allowed_mentions=discord.AllowedMentions.none())
        else:
            await interaction.response.send_message(said, ephemeral=True)
    except TROUBLES as error:
        logger.info("somebody could not be told what went wrong: %s", type(error).__name__)


def _is_alone(interaction: discord.Interaction) -> bool:
    """Tell whether the message whose button was pressed is shown to one person alone."""
    return interaction.message is not None and interaction.message.flags.ephemeral
