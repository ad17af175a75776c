"""Buttons under a message: whose they are and what pressing one says, in Telegram's 64 bytes or in the store."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from telegram import InlineKeyboardButton, InlineKeyboardMarkup

from adapters.telegram.conversion import PLATFORM
from core.adapter import Outgoing
from core.errors import StoreError
from core.messages import ChatKey, Choice, Person

logger = logging.getLogger("keepmind.telegram")
MOST_DATA = 64
"""Bytes of callback data: https://core.telegram.org/bots/api#inlinekeyboardbutton."""
ROW = 24
"""Characters of the labels of one row."""
STORED, ELSEWHERE = "#", "@"


class Keeper(Protocol):
    """What is asked of the store."""

    async def button(self, command: str, owner: Person, at: datetime) -> int:
        """Keep the command of a button; give its id."""
        ...

    async def pressed(self, id: int) -> tuple[str, Person] | None:
        """Give the command of a kept button and who may press it; None when it is gone."""
        ...


@dataclass(frozen=True, slots=True)
class Press:
    """What pressing a button says, and in which chat; None: in the one where it is shown."""

    command: str
    chat: ChatKey | None = None


class Buttons:
    """Makes the buttons of choices for the one person who may press them.

    What a button says is written into it, or kept in the store when that takes too many bytes, or is said in another
    chat than the one where the button is shown. Either works after a restart.
    """

    def __init__(self) -> None:
        self.keeper: Keeper | None = None

    async def keyboard(self, out: Outgoing, shown_in: int) -> InlineKeyboardMarkup | None:
        """Make the buttons of a message shown in a chat; None without choices, or with nobody they are for."""
        if out.asker is None:
            return None
        elsewhere = out.chat if out.chat.chat != str(shown_in) else None
        made = [await self._button(choice, out.asker, elsewhere) for choice in out.choices]
        buttons = [button for button in made if button is not None]
        return InlineKeyboardMarkup(_rows(buttons)) if buttons else None

    async def _button(self, choice: Choice, owner: Person, elsewhere: ChatKey | None) -> InlineKeyboardButton | None:
        data = f"{owner.user} {choice.command}"
        if elsewhere is not None or len(data.encode()) > MOST_DATA:
            data = await self._kept(choice.command, owner, elsewhere)
        return InlineKeyboardButton(choice.label, callback_data=data) if data else None

    async def _kept(self, command: str, owner: Person, elsewhere: ChatKey | None) -> str:
        said = f"{ELSEWHERE}{elsewhere} {command}" if elsewhere is not None else command
        try:
            return f"{STORED}{await self.keeper.button(said, owner, datetime.now(UTC))}" if self.keeper else ""
        except StoreError as error:
            logger.error("a button was left out: %s", error)
            return ""

    async def pressed(self, data: str, by: int) -> Press | None:
        """Read a button that somebody pressed; None when it is not theirs, or gone. Raises StoreError."""
        if not data.startswith(STORED):
            owner, _, command = data.partition(" ")
            return Press(command) if owner == str(by) and command else None
        number = data.removeprefix(STORED)
        found = await self.keeper.pressed(int(number)) if self.keeper and number.isdecimal() else None
        return _read(found[0]) if found is not None and found[1] == Person(PLATFORM, str(by)) else None


def _read(said: str) -> Press:
    if not said.startswith(ELSEWHERE):
        return Press(said)
    chat, _, command = said.removeprefix(ELSEWHERE).partition(" ")
    return Press(command, ChatKey.parse(chat))


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
