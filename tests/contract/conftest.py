"""The stores under test: each test of this folder runs on every implementation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.inmemory import InMemoryStore
from adapters.sql import open_store
from core.store import ConversationStore


@pytest.fixture(params=["inmemory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ConversationStore]:
    opened: ConversationStore
    opened = InMemoryStore() if request.param == "inmemory" else await open_store(str(tmp_path / "keepmind.db"))
    yield opened
    assert await opened.verify() == []
    await opened.aclose()
