"""The stores that tests of the bot stand on: in memory, or a database's, so that the same tests hold there as well.

KEEPMIND_TEST_STORE=postgresql python -m pytest tests/unit/test_engine.py
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import Any, cast

from adapters.inmemory import InMemoryStore
from adapters.sql import SqlStore
from core.store import ConversationStore

KIND = os.environ.get("KEEPMIND_TEST_STORE", "inmemory")
OPENED: list[SqlStore] = []
"""The databases that the test at hand has opened."""
MOST = 20
Open = Callable[[], Awaitable[SqlStore]]
opener: list[Open] = []
"""How the test at hand opens one."""


class Late:
    """A store that is opened by its first call."""

    def __init__(self) -> None:
        self._store: SqlStore | None = None
        self._opening = asyncio.Lock()

    def __getattr__(self, name: str) -> Any:
        if not iscoroutinefunction(getattr(SqlStore, name)):
            return getattr(self._store, name)

        async def call(*given: Any, **named: Any) -> Any:
            async with self._opening:
                if self._store is None:
                    self._store = await opener[-1]()
                    OPENED.append(self._store)
                if len(OPENED) > MOST:
                    await OPENED.pop(0).aclose()  # one of an example that is over
            return await getattr(self._store, name)(*given, **named)

        return call


def new_store() -> ConversationStore:
    """Give an empty store of the kind that is chosen."""
    return InMemoryStore() if KIND == "inmemory" else cast(ConversationStore, Late())
