"""Buttons: whose they are and what pressing one says, written as the data a platform has room for, or kept."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from core.errors import StoreError
from core.messages import ChatKey, Person

logger = logging.getLogger("keepmind.delivery")
STORED, ELSEWHERE = "#", "@"
_DIGITS = 19
"""An id has fewer: what is larger fits no database."""


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


class ButtonData:
    """Writes and reads the data of one platform's buttons, each for the one person who may press it.

    What a button says is written into it, or kept in the store when it does not fit, or is said in another chat than
    the one where the button is shown. Either works after a restart.
    """

    def __init__(self, platform: str, fits: Callable[[str], bool]) -> None:
        self.keeper: Keeper | None = None
        self._platform, self._fits = platform, fits

    async def write(self, command: str, owner: Person, elsewhere: ChatKey | None = None) -> str:
        """Give the data of a button; empty when it does not fit and can't be kept."""
        data = f"{owner.user} {command}"
        return data if elsewhere is None and self._fits(data) else await self._kept(command, owner, elsewhere)

    async def _kept(self, command: str, owner: Person, elsewhere: ChatKey | None) -> str:
        said = f"{ELSEWHERE}{elsewhere} {command}" if elsewhere is not None else command
        try:
            return f"{STORED}{await self.keeper.button(said, owner, datetime.now(UTC))}" if self.keeper else ""
        except StoreError as error:
            logger.error("a button was left out: %s", error)
            return ""

    async def read(self, data: str, by: str) -> Press | None:
        """Read the data of a button that somebody pressed; None when it is not theirs, or gone. Raises StoreError."""
        if not is_kept(data):
            owner, _, command = data.partition(" ")
            return Press(command) if owner == by and command else None
        number = data.removeprefix(STORED)
        is_id = number.isascii() and number.isdecimal() and len(number) < _DIGITS
        found = await self.keeper.pressed(int(number)) if self.keeper and is_id else None
        return _press(found[0]) if found is not None and found[1] == Person(self._platform, by) else None


def is_kept(data: str) -> bool:
    """Say whether the store has to be asked what a button says."""
    return data.startswith(STORED)


def _press(said: str) -> Press:
    if not said.startswith(ELSEWHERE):
        return Press(said)
    chat, _, command = said.removeprefix(ELSEWHERE).partition(" ")
    return Press(command, ChatKey.parse(chat))
