"""Writes the published schema of exports: `make schema`."""

from __future__ import annotations

import json
from pathlib import Path

from core.exported import json_schema

PATH = Path(__file__).parents[1] / "docs" / "export.schema.json"


def written() -> str:
    """Give the schema as it is published."""
    return json.dumps(json_schema(), ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    PATH.write_text(written(), encoding="utf-8")
