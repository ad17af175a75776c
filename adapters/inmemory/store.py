"""The in-memory store: everything a database would keep, gone when the process ends."""

from __future__ import annotations

import asyncio

from adapters.inmemory.access import Doors
from adapters.inmemory.importing import Importing
from adapters.inmemory.moving import Moving
from adapters.inmemory.seeing import Seeing
from adapters.inmemory.verify import Verifying
from core.duty import Duty


class InMemoryStore(Importing, Moving, Seeing, Verifying, Doors):
    """A ConversationStore in plain dictionaries. It yields once in every method, so that races show."""

    def duty(self) -> Duty:
        """Give the duty of one who is alone."""
        return self._duty

    async def aclose(self) -> None:
        """Let go of nothing: a bot started again on this store finds what it kept."""
        await asyncio.sleep(0)
