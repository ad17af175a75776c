"""Writes the text of a PDF given on standard input: a program of its own, so that a hostile file costs it alone.

It takes the most seconds of processor, bytes of memory and characters of text. It holds no secret of the bot's.
"""

from __future__ import annotations

import io
import sys
from contextlib import suppress

BROKEN, EMPTY = 3, 4
"""What it ends with: the file can't be read; there is no text in it."""


def main(seconds: int, memory: int, characters: int) -> int:
    """Read, write, and say how it ended."""
    _limit(seconds, memory)
    try:
        text = _text(sys.stdin.buffer.read(), characters)
    except Exception:  # pypdf raises whatever a damaged file leads to
        return BROKEN
    sys.stdout.buffer.write(text.encode(errors="replace"))
    return 0 if text else EMPTY


def _limit(seconds: int, memory: int) -> None:
    with suppress(ImportError, ValueError, OSError):  # not every system has them
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _text(data: bytes, characters: int) -> str:
    from pypdf import PdfReader

    pages: list[str] = []
    for page in PdfReader(io.BytesIO(data)).pages:
        pages.append(page.extract_text().strip())
        if sum(map(len, pages)) > characters:
            break
    return "\n\n".join(page for page in pages if page)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
