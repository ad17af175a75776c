"""Writes the page on licences of what an installation holds: `make licences`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK, PAGE = ROOT / "requirements.lock", ROOT / "docs" / "licences.md"
STATED_ELSEWHERE = {"pyromark": "MIT"}
"""Licences that a package states in a file alone."""
HEAD = """\
# Licences

Keepmind itself is under the [MIT licence](../LICENSE). What is installed with it (`requirements.lock`), as each package
states its licence; written by `make licences`. The small local model, fetched only where no server is named, is
SmolLM2-135M-Instruct (Apache-2.0), run by xllamacpp (MIT).

"""


def locked() -> list[str]:
    """Name what is in the lock file and installed here: some is for other platforms."""
    names = re.findall(r"^([\w.-]+)==", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    return [name for name in names if _is_installed(name)]


def _is_installed(name: str) -> bool:
    try:
        return bool(distribution(name))
    except PackageNotFoundError:
        return False


def page() -> str:
    """Give the page as it should be; asks every installed package."""
    options = ["--from=mixed", "--format=json", "--with-urls", "--with-system", "--packages", *locked()]
    done = subprocess.run([sys.executable, "-m", "piplicenses", *options], capture_output=True, text=True, check=True)
    rows = [_row(package) for package in json.loads(done.stdout)]
    return HEAD + "| package | licence | |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def _row(package: dict[str, str]) -> str:
    """Give a line of the table; some packages put the whole text where the name of the licence belongs."""
    name, url = package["Name"], package["URL"]
    licence = STATED_ELSEWHERE.get(name) or package["License"].splitlines()[0]
    return f"| {name} | {licence} | {url} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
