"""Reading documents: text of any kind, and PDF."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import PurePath

from adapters.documents import pdf_text
from core.errors import KeepmindError

MOST_CHARACTERS = 200_000
"""What is read of one document; the rest is left out with a mark."""
CUT = "\n[… the rest of the document is left out]"
PDF_SECONDS, PDF_MEMORY = 20, 1 << 30
"""What one PDF may take: seconds of a processor, bytes of memory."""
_PDF = pdf_text.__file__
_HANDED_ON = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "SYSTEMROOT")
_SAMPLE = 1 << 16
_CLEAR = 64
"""Bytes from which on an older encoding can be told."""
_TEXT_TYPES = {
    "application/json",
    "application/xml",
    "application/javascript",
    "application/x-javascript",
    "application/x-sh",
    "application/x-python",
    "application/x-yaml",
    "application/yaml",
    "application/toml",
    "application/sql",
    "application/csv",
}
_NAMES = """
txt text md markdown rst csv tsv json jsonl ndjson xml html htm css js mjs jsx ts tsx py pyi rb go rs c h cc cpp hpp
cs java kt kts swift scala php pl lua r jl sh bash zsh fish ps1 bat sql yaml yml toml ini cfg conf env log tex srt
vtt diff patch gradle dockerfile makefile gitignore proto graphql vue svelte dart ex exs erl hs ml clj
"""
_TEXT_NAMES = frozenset(_NAMES.split())


class Unreadable(KeepmindError):
    """The document is of a kind that is read, and yet it can't be."""


def is_readable(name: str, media_type: str) -> bool:
    """Tell whether a document of this name and type can be read."""
    return _is_pdf(name, media_type) or _is_text(name, media_type)


def read(name: str, media_type: str, data: bytes, *, seconds: int = PDF_SECONDS) -> str:
    """Give a document's text, also of older encodings; what can't be decoded becomes U+FFFD. Raises Unreadable."""
    text = _pdf_text(data, seconds) if _is_pdf(name, media_type) else _decoded(data)
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + CUT


def _is_pdf(name: str, media_type: str) -> bool:
    return media_type == "application/pdf" or name.lower().endswith(".pdf")


def _is_text(name: str, media_type: str) -> bool:
    kind = media_type.partition(";")[0]
    suffix = PurePath(name.lower()).suffix.removeprefix(".") or name.lower()
    return kind.startswith("text/") or kind in _TEXT_TYPES or kind.endswith(("+json", "+xml")) or suffix in _TEXT_NAMES


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    text = data.decode("utf-8-sig", "replace")
    is_clear = len(data) >= _CLEAR and text.count("\ufffd") * 100 > len(text)
    return _older(data) or text if is_clear else text


def _older(data: bytes) -> str:
    """Decode what is too much damaged for UTF-8 by the older encoding its beginning looks like; blank when by none."""
    from charset_normalizer import from_bytes

    guess = from_bytes(data[:_SAMPLE]).best()
    return data.decode(guess.encoding, "replace") if guess else ""


def _pdf_text(data: bytes, seconds: int) -> str:
    """Read a PDF in a process of its own, which what hostile files lead to can be kept from spreading."""
    limits = map(str, (seconds, PDF_MEMORY, MOST_CHARACTERS))
    try:
        done = subprocess.run(
            [sys.executable, "-P", _PDF, *limits],
            input=data,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
            timeout=2 * seconds,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise Unreadable(type(error).__name__) from error
    if done.returncode == pdf_text.EMPTY:
        raise Unreadable("no text in it, perhaps it is scanned")
    if done.returncode:
        raise Unreadable(f"reading it ended with {done.returncode}")
    return done.stdout.decode()


def environment() -> dict[str, str]:
    """Give what of the environment such a process gets: the rest may hold secrets."""
    return {name: os.environ[name] for name in _HANDED_ON if name in os.environ}
