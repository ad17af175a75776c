"""Fenced code blocks in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE_LINE = r"^(?P<indent>[ \t>]*)(?P<bullet>(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)(?P<marker>`{3,}|~{3,})(?P<info>.*)$"
_FENCE = re.compile(_FENCE_LINE, re.M)
_FENCE_OR_UNQUOTED = re.compile(r"^(?![ \t]*>)|" + _FENCE_LINE, re.M)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced code block: where its opening line, body and closing line begin, and where it stops."""

    start: int
    body: int
    end: int
    stop: int
    opening: str
    closing: str


def blocks(text: str) -> Iterator[Block]:
    """Find the fenced code blocks of a Markdown text, in order; one that is not closed ends with the text."""
    at = 0
    while opening := _FENCE.search(text, at):
        if opening["marker"][0] == "`" and "`" in opening["info"]:
            at = opening.end()
            continue
        block = _block(text, opening)
        yield block
        at = max(block.stop, opening.end())


def _block(text: str, opening: re.Match[str]) -> Block:
    body = min(opening.end() + 1, len(text))
    end = stop = len(text)
    indent, marker = opening["indent"] + " " * len(opening["bullet"]), opening["marker"]
    lines = _FENCE_OR_UNQUOTED if ">" in indent else _FENCE
    for line in lines.finditer(text, body):
        if line["marker"] is None:
            end = stop = line.start()
            break
        if line["marker"].startswith(marker) and not line["info"].strip() and not line["bullet"]:
            end, stop, marker = line.start(), line.end(), line["marker"]
            break
    return Block(
        opening.start(), body, end, stop, indent + opening["marker"] + opening["info"].rstrip(), indent + marker
    )
