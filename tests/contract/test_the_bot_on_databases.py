"""The bot's own tests, which stand on the store in memory, hold on the databases as well."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [
    "engine",
    "exchange",
    "compactor",
    "coverage",
    "delivery",
    "keepmind",
    "histories",
    "standby",
    "moving",
    "branch_commands",
    "isolation",
    "retracting",
    "profile",
    "linking",
]


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_what_holds_of_the_bot_holds_on_a_database(kind: str) -> None:
    files = [f"tests/unit/test_{name}.py" for name in FILES]
    killed = ("-W", "ignore::pytest.PytestUnraisableExceptionWarning")  # what is killed closes nothing
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not soak", "--timeout", "300", *killed, *files]
    environment = os.environ | {"KEEPMIND_TEST_STORE": kind, "HYPOTHESIS_PROFILE": "check"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:]
