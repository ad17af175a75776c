"""What all tests share: property tests try the same examples each time, and other ones in the long runs."""

import os
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from adapters.sql import SqlStore, open_store
from bots import garbage
from tests import stores
from tests.postgresql import Server, running

settings.register_profile("check", derandomize=True, deadline=None, database=None, max_examples=50)
settings.register_profile("soak", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "check"))


def pytest_configure() -> None:
    garbage.defer()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Let Python look for garbage among what tests make, not in all that was loaded: that takes a fifth of the time."""
    garbage.resume()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    with running() as server:
        yield server


if stores.KIND != "inmemory":

    @pytest.fixture(autouse=True)
    async def databases(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[None]:
        """Let a test open databases, each empty; what it has opened is whole at the end, and closed."""
        numbers = count()

        async def opened() -> SqlStore:
            number = next(numbers)
            if stores.KIND == "sqlite":
                return await open_store(str(tmp_path / f"test-{number}.db"))
            server: Server = request.getfixturevalue("postgresql")
            return await open_store(server.fresh() if number else server.cleared(), connections=1)

        stores.opener.append(opened)
        yield
        stores.opener.pop()
        while stores.OPENED:
            store = stores.OPENED.pop()
            faults = await store.verify()
            await store.aclose()
            assert faults == []
