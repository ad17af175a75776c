"""What every test on the Discord test server begins with."""

from collections.abc import AsyncIterator

import pytest

from adapters.discord.server import DiscordServer
from tests.adapters.discord.life import Club, a_club


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    async with DiscordServer() as server:
        yield server


@pytest.fixture
def club(server: DiscordServer) -> Club:
    return a_club(server)
