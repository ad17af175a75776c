"""Writes the file of default settings and the page on configuration from the settings: `make configuration`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from config.complaint import allowed
from config.settings import Settings
from config.sources import PLAIN

ROOT = Path(__file__).parents[1]
DEFAULTS, PAGE = ROOT / "config" / "default.toml", ROOT / "docs" / "configuration.md"
FILE_HEAD = """\
# Keepmind's settings, each with its default. Take the # away from a line to change it, and name this file in
# KEEPMIND_CONFIG, or keep it as keepmind.toml where you start the bot. Any of them can also be set in the environment
# or in a .env file, as KEEPMIND_SECTION__NAME: KEEPMIND_WINDOW__HIGH_TURNS=80. A blank value means the default.
"""
PAGE_HEAD = """\
# Configuration

`keepmind init` asks for what is needed and writes it; everything else has a default. This page is made from the code
(`make configuration`), as is [config/default.toml](../config/default.toml), a file to begin with.

A setting is read from, the first that has it:
1. the environment, as `KEEPMIND_SECTION__NAME` (`KEEPMIND_WINDOW__HIGH_TURNS=80`) or by the short name told below;
2. a file `.env` in the folder where the bot is started;
3. the TOML file that `KEEPMIND_CONFIG` names, or else `keepmind.toml` in that folder;
4. the default.

A blank value means the default. Lists are written with commas in the environment. A setting that is misspelt or can
not be used is refused at start in one sentence; `keepmind doctor` looks further.
"""


def sections() -> Iterator[tuple[str, type[BaseModel]]]:
    """Give each section of the settings with its name."""
    for name, field in Settings.model_fields.items():
        assert isinstance(field.annotation, type)
        yield name, field.annotation


def defaults() -> str:
    """Give the file of defaults as it should be."""
    return FILE_HEAD + "".join(_section_of_file(name, section) for name, section in sections())


def _section_of_file(name: str, section: type[BaseModel]) -> str:
    lines = [f"# {section.__doc__}", f"[{name}]"]
    for key, field in section.model_fields.items():
        lines += [f"# {field.description}", f"#{key} = {_toml(field.default)}"]
    return "\n" + "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """Write a value as TOML; what there is none of, or is a matter of the machine, is blank."""
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    if value is None or not isinstance(value, bool | int | float | str):
        return '""'
    return json.dumps(value, ensure_ascii=False)


def page() -> str:
    """Give the page as it should be."""
    return PAGE_HEAD + "".join(_section_of_page(name, section) for name, section in sections())


def _section_of_page(name: str, section: type[BaseModel]) -> str:
    schema = section.model_json_schema()["properties"]
    rows = [_row(name, key, field, schema[key]) for key, field in section.model_fields.items()]
    head = f"\n## `[{name}]`\n{section.__doc__}\n\n| setting | default | may be | |\n|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def _row(section: str, key: str, field: Any, schema: dict[str, Any]) -> str:
    plain = next((name for name, place in PLAIN.items() if place == (section, key)), "")
    told = field.description.replace("|", "\\|")
    if plain and plain not in told:
        told += f" In the environment also `{plain}`."
    shown = _toml(field.default)
    default = "" if shown in ('""', "[]") else f"`{shown}`"
    return f"| `{key}` | {default} | {allowed(schema)} | {told} |"


if __name__ == "__main__":
    DEFAULTS.write_text(defaults(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
