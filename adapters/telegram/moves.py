"""Groups that become supergroups, which are new chats: their memory moves along."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Protocol

from adapters.telegram.conversion import PLATFORM
from adapters.telegram.groups import Groups
from core.errors import StoreError
from core.messages import ChatKey

logger = logging.getLogger("keepmind.telegram")


class Mover(Protocol):
    """What is asked of the engine."""

    async def move(self, old: ChatKey, new: ChatKey) -> None:
        """Let a chat become another once its turn in progress has ended; again is harmless."""
        ...


class Moves:
    """Where chats have moved to.

    Whichever notice comes first moves the memory. A later one moves what was said in the old chat meanwhile.
    """

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._mover: Mover | None = None
        self._moved: dict[int, int] = {}
        self._moving: set[asyncio.Task[None]] = set()

    def attach(self, mover: Mover, before: Mapping[ChatKey, ChatKey]) -> None:
        """Take who moves memory, and let it move what was found to have moved; `before` is what has."""
        self._mover = mover
        for old in self._moved:
            self._begin(old)
        for chat, new in before.items():
            if chat.platform == PLATFORM:
                self._note(int(chat.chat), int(new.chat))

    def now(self, chat: int) -> int:
        """Give a chat's present id."""
        return self._moved.get(chat, chat)

    def found(self, old: int, new: int) -> None:
        """Note, while sending, that a group has a new id; its memory moves when the turn in progress has ended."""
        if self._moved.get(old) != new:
            self._note(old, new)
            self._begin(old)

    async def moved(self, old: int, new: int) -> None:
        """Take notice that a group has a new id. Raises StoreError when its memory can't be moved."""
        self._note(old, new)
        await self._move(old)

    def _note(self, old: int, new: int) -> None:
        self._moved[old] = new
        self._groups.follow(old, new)

    def _begin(self, old: int) -> None:
        task = asyncio.create_task(self._move_aside(old))
        self._moving.add(task)
        task.add_done_callback(self._moving.discard)

    async def _move_aside(self, old: int) -> None:
        try:
            await self._move(old)
        except StoreError as error:  # the notice is still to come
            logger.error("the memory of the group %s could not be moved: %s", old, error)

    async def _move(self, old: int) -> None:
        new = self._moved[old]
        if self._mover is not None:
            await self._mover.move(ChatKey(PLATFORM, str(old)), ChatKey(PLATFORM, str(new)))
            logger.info("the group %s has become the supergroup %s; its memory has moved along", old, new)
