"""The stores under test: each test of this folder runs on every implementation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.inmemory import InMemoryStore
from adapters.snowball import stem
from adapters.sql import open_store
from core.store import ConversationStore
from tests.postgresql import Server


@pytest.fixture(params=["inmemory", "sqlite", "postgresql"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ConversationStore]:
    opened = await _opened(request, tmp_path)
    yield opened
    assert await opened.verify() == []
    await opened.aclose()


async def _opened(request: pytest.FixtureRequest, folder: Path) -> ConversationStore:
    if request.param == "inmemory":
        return InMemoryStore(stem)
    if request.param == "sqlite":
        return await open_store(str(folder / "keepmind.db"), stem=stem)
    server: Server = request.getfixturevalue("postgresql")
    return await open_store(server.cleared(), stem=stem)
