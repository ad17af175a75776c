"""What all tests share: property tests try the same examples each time, and other ones in the long runs."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.postgresql import Server, running

settings.register_profile("check", derandomize=True, deadline=None, database=None)
settings.register_profile("soak", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "check"))


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    with running() as server:
        yield server
