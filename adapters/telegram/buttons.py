"""Buttons under a message: whose they are and what pressing one says, all in Telegram's 64 bytes."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from telegram import InlineKeyboardButton, InlineKeyboardMarkup

from core.messages import Choice, Person

logger = logging.getLogger("keepmind.telegram")
MOST_DATA = 64
"""Bytes of callback data: https://core.telegram.org/bots/api#inlinekeyboardbutton."""


def keyboard(choices: Sequence[Choice], owner: Person | None) -> InlineKeyboardMarkup | None:
    """Make the buttons of choices for the one person who may press them; without an owner there are none.

    What a button says is written into it, so that it works as long as it is seen. One that says too much is left out:
    the text beside it names the command.
    """
    if owner is None:
        return None
    rows = [
        [InlineKeyboardButton(c.label, callback_data=data)] for c in choices if (data := _data(owner.user, c.command))
    ]
    return InlineKeyboardMarkup(rows) if rows else None


def _data(owner: str, command: str) -> str:
    data = f"{owner} {command}"
    if len(data.encode()) > MOST_DATA:
        logger.warning("a button was left out: its command is longer than Telegram's %s bytes", MOST_DATA)
        return ""
    return data


def pressed(data: str, by: int) -> str | None:
    """Give the command of a button, None when it was pressed by another than the one it was made for."""
    owner, _, command = data.partition(" ")
    return command if owner == str(by) and command else None


def link(label: str, url: str) -> InlineKeyboardMarkup:
    """Make one button that opens an address."""
    return InlineKeyboardMarkup([[InlineKeyboardButton(label, url=url)]])
