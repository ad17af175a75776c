"""What every test on the Telegram test server begins with."""

from collections.abc import AsyncIterator

import pytest

from adapters.telegram.server import TelegramServer, User


@pytest.fixture
async def server() -> AsyncIterator[TelegramServer]:
    async with TelegramServer() as server:
        yield server


@pytest.fixture
def ann(server: TelegramServer) -> User:
    return server.person("Ann", username="ann")
