"""Marks of Markdown that would take words away, escaped so that they are shown as written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

import pyromark
from telegramify_markdown.converter import STANDARD_OPTIONS

Event = tuple[Any, Any]
"""What the parser found, and the bytes it was found in."""
_SUSPECTS = re.compile(r"[<$]|`{3}|~{3}|\]:")
_LATEX = re.compile(r"[\\^_{}]")
_DEFINITION = re.compile(rb"\[[^\]]*\]:.*")
_CONTAINERS = ("BlockQuote", "List", "Item")
_ROUNDS = 5


def literal(markdown: str) -> str:
    """Escape HTML tags, dollars that hold no formula, fences without code, and links that nothing refers to."""
    for _ in range(_ROUNDS):
        places = _lost(markdown)
        if not places:
            break
        source = markdown.encode()
        parts = [source[a:b] for a, b in zip([0, *places], [*places, len(source)], strict=True)]
        markdown = b"\\".join(parts).decode()
    return markdown


def _lost(markdown: str) -> list[int]:
    """Find the byte offsets of the marks to escape."""
    if not _SUSPECTS.search(markdown):
        return []
    source, events = markdown.encode(), list(pyromark.events_with_range(markdown, options=STANDARD_OPTIONS))
    return sorted({*_tags(source, events), *_empty_fences(events), *_unused_definitions(source, events)})


def _tags(source: bytes, events: Iterable[Event]) -> Iterator[int]:
    for event, span in events:
        start, end = span["start"], span["end"]
        if "InlineHtml" in event or "Html" in event:
            yield from (start + match.start() for match in re.finditer(rb"<", source[start:end]))
        elif "InlineMath" in event and not _LATEX.search(event["InlineMath"]):
            yield from (start, end - 1)


def _empty_fences(events: Sequence[Event]) -> Iterator[int]:
    """Find fences with words behind them and no code: the words are shown nowhere."""
    for number, (event, span) in enumerate(events):
        if _info(event).strip() and not "".join(_code(events[number + 1 :])).strip():
            yield span["start"]


def _code(events: Iterable[Event]) -> Iterator[str]:
    return takewhile(lambda text: text is not None, (_part(event, "Text") for event, _ in events))


def _info(event: Any) -> str:
    begun = _part(event, "Start")
    block = begun.get("CodeBlock") if isinstance(begun, dict) else None
    return str(block.get("Fenced", "")) if isinstance(block, dict) else ""


def _unused_definitions(source: bytes, events: Iterable[Event]) -> Iterator[int]:
    """Find definitions of links, `[1]: https://…`, that no link goes to."""
    used = {link["dest_url"].encode() for event, _ in events if (link := _link(event))}
    for start, end in _unseen(events, len(source)):
        for line in _DEFINITION.finditer(source, start, end):
            if not any(url and url in line[0] for url in used):
                yield line.start()


def _link(event: Any) -> Any:
    begun = _part(event, "Start")
    return (begun.get("Link") or begun.get("Image")) if isinstance(begun, dict) else None


def _part(event: Any, name: str) -> Any:
    return event.get(name) if isinstance(event, dict) else None


def _unseen(events: Iterable[Event], length: int) -> Iterator[tuple[int, int]]:
    """Give the stretches of the source that no event tells of but what holds others."""
    seen = 0
    for event, span in events:
        if _is_container(event):
            continue
        if span["start"] > seen:
            yield seen, span["start"]
        seen = max(seen, span["end"])
    if length > seen:
        yield seen, length


def _is_container(event: Any) -> bool:
    begun = _part(event, "Start") or _part(event, "End")
    return any(name == begun or (isinstance(begun, dict) and name in begun) for name in _CONTAINERS)
