"""Buttons under a message, in Telegram's 64 bytes or in the store."""

from __future__ import annotations

from collections.abc import Sequence

from telegram import InlineKeyboardButton, InlineKeyboardMarkup

from adapters.telegram.conversion import PLATFORM
from core.adapter import Outgoing
from core.buttons import ButtonData, Press
from core.messages import ChatKey, Choice, Person

MOST_DATA = 64
"""Bytes of callback data: https://core.telegram.org/bots/api#inlinekeyboardbutton."""
ROW = 24
"""Characters of the labels of one row."""


class Buttons(ButtonData):
    """Makes the buttons of choices for the one person who may press them."""

    def __init__(self) -> None:
        super().__init__(PLATFORM, lambda data: len(data.encode()) <= MOST_DATA)

    async def keyboard(self, out: Outgoing, shown_in: int) -> InlineKeyboardMarkup | None:
        """Make the buttons of a message shown in a chat; None without choices, or with nobody they are for."""
        if out.asker is None:
            return None
        elsewhere = out.chat if out.chat.chat != str(shown_in) else None
        made = [await self._button(choice, out.asker, elsewhere) for choice in out.choices]
        buttons = [button for button in made if button is not None]
        return InlineKeyboardMarkup(_rows(buttons)) if buttons else None

    async def _button(self, choice: Choice, owner: Person, elsewhere: ChatKey | None) -> InlineKeyboardButton | None:
        data = await self.write(choice.command, owner, elsewhere)
        return InlineKeyboardButton(choice.label, callback_data=data) if data else None

    async def pressed(self, data: str, by: int) -> Press | None:
        """Read a button that somebody pressed; None when it is not theirs, or gone. Raises StoreError."""
        return await self.read(data, str(by))


def _rows(buttons: Sequence[InlineKeyboardButton]) -> list[list[InlineKeyboardButton]]:
    """Put buttons side by side as far as their labels stay readable."""
    rows: list[list[InlineKeyboardButton]] = []
    for button in buttons:
        if rows and sum(len(one.text) for one in [*rows[-1], button]) <= ROW:
            rows[-1].append(button)
        else:
            rows.append([button])
    return rows


def link(label: str, url: str) -> InlineKeyboardMarkup:
    """Make one button that opens an address."""
    return InlineKeyboardMarkup([[InlineKeyboardButton(label, url=url)]])
