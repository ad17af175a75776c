"""How the shell commands print: sentences for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.records import Receipt


def as_json(data: Any) -> str:
    """Write data as JSON, any alphabet as it is."""
    return json.dumps(data, ensure_ascii=False, indent=2)


def as_text(view: dict[str, Any]) -> str:
    """Write what is remembered of a chat or a person."""
    return "\n".join(_lines(view))


def as_sentence(receipt: Receipt) -> str:
    """Write what an erasure removed."""
    counts = ", ".join(f"{kind} {count}" for kind, count in receipt.counts.items())
    return f"Erased: {counts}." if receipt.total else "Nothing was stored."


def tell(text: str) -> None:
    """Say something that is no result, on standard error."""
    print(text, file=sys.stderr, flush=True)


def _lines(view: dict[str, Any]) -> Iterator[str]:
    yield f"{view['chat']}: {view['turns']} turns" if "chat" in view else view["person"]
    for segment in view.get("segments", ()):
        yield f"\nSummary of {segment['turns']} turns:\n{segment['text']}"
    if view["facts"]:
        yield "\nFacts:"
    for fact in view["facts"]:
        yield from _fact(fact)
    if view.get("notes"):
        yield "\nNotes:"
    for note in view.get("notes", ()):
        yield f"  {note['key']}: {note['text']}  ({note['memory']}, {note['scope']})"


def _fact(fact: dict[str, Any]) -> Iterator[str]:
    for item in fact["items"]:
        source = item["source"]
        where = f"{fact['person']}, {fact['scope']}{', pinned' if fact['pinned'] else ''}"
        yield f"  {fact['key']}: {item['value']}  ({where}; {source['day']}, {source['by']}: {source['quote']!r})"
