"""Makes the catalogues of translations what the code needs: `make translations`, and `ARGS=de` for a new one."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from core.commands.admin import ADMIN_COMMANDS
from core.commands.person import PERSON_COMMANDS
from core.translation import CATALOGUES, DOMAIN

ROOT = Path(__file__).parents[1]
ROOMS = ("core", "adapters")
KEYWORDS = {"spoken": None, "marked": None, "counted": (1, 2)}


def catalogues() -> list[Path]:
    """Give the catalogues there are, one a language."""
    return sorted(CATALOGUES.glob(f"*/LC_MESSAGES/{DOMAIN}.po"))


def said() -> Catalog:
    """Collect all that is said: what stands in the code, and what the commands say of themselves."""
    template = Catalog(project="Keepmind", charset="utf-8")
    for message in _sentences():
        template.add(message)
    for command in (*PERSON_COMMANDS, *ADMIN_COMMANDS):
        for words in (command.summary, *re.findall(r"[A-Z][A-Z_]+", command.written)):
            template.add(words)
    return template


def _sentences() -> Iterator[str | tuple[str, ...]]:
    for room in ROOMS:
        for found in extract_from_dir(ROOT / room, [("**.py", "python")], keywords=KEYWORDS):
            yield found[2]


def opened(path: Path) -> Catalog:
    """Read a catalogue."""
    with path.open("rb") as file:
        return read_po(file, path.parents[1].name, DOMAIN)


def compiled(catalogue: Catalog) -> bytes:
    """Give a catalogue as gettext reads it."""
    out = BytesIO()
    write_mo(out, catalogue)
    return out.getvalue()


def update(path: Path) -> None:
    """Bring a catalogue up to date and compile it; what is not said any more goes, what is new waits to be written."""
    catalogue, template = opened(path), said()
    template.creation_date = catalogue.creation_date
    catalogue.update(template, no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    _write(path, catalogue)
    path.with_suffix(".mo").write_bytes(compiled(catalogue))


def begin(language: str) -> None:
    """Make the empty catalogue of a language, with its forms of number."""
    path = CATALOGUES / language / "LC_MESSAGES" / f"{DOMAIN}.po"
    path.parent.mkdir(parents=True)
    name = Locale.parse(language).english_name
    _write(path, Catalog(language, header_comment=f"# What Keepmind says in its own name, in {name}.", fuzzy=False))


def _write(path: Path, catalogue: Catalog) -> None:
    with path.open("wb") as file:
        write_po(file, catalogue, width=120, no_location=True, sort_output=True)


if __name__ == "__main__":
    for language in sys.argv[1:]:
        begin(language)
    for path in catalogues():
        update(path)
