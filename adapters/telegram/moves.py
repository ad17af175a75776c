"""Groups that become supergroups, which are new chats: their memory moves along."""

from __future__ import annotations

import logging
from typing import Protocol, runtime_checkable

from adapters.telegram.conversion import PLATFORM
from core.messages import ChatKey
from core.store import ConversationStore

logger = logging.getLogger("keepmind.telegram")


@runtime_checkable
class Mover(Protocol):
    """What is asked of the store."""

    async def move_chat(self, old: ChatKey, new: ChatKey) -> None:
        """Move all that is kept of one chat to another, in one transaction; again is harmless."""
        ...


class Moves:
    """Where chats have moved to. Whichever notice comes first moves the memory; later ones change nothing."""

    def __init__(self) -> None:
        self.store: ConversationStore | None = None
        self._moved: dict[int, int] = {}

    def now(self, chat: int) -> int:
        """Give a chat's present id."""
        return self._moved.get(chat, chat)

    async def moved(self, old: int, new: int) -> None:
        """Take notice that a group has a new id. Raises StoreError when its memory can't be moved."""
        if self._moved.get(old) == new or self.store is None:
            return
        if isinstance(self.store, Mover):
            await self.store.move_chat(ChatKey(PLATFORM, str(old)), ChatKey(PLATFORM, str(new)))
            logger.info("the group %s has become the supergroup %s; its memory has moved along", old, new)
        else:
            logger.error("the group %s has become the supergroup %s; its memory can't move along", old, new)
        self._moved[old] = new
