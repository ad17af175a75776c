"""Reading documents: text of any kind, and PDF."""

from __future__ import annotations

import io
from pathlib import PurePath

from core.errors import KeepmindError

MOST_CHARACTERS = 200_000
"""What is read of one document; the rest is left out with a mark."""
CUT = "\n[… the rest of the document is left out]"
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


def read(name: str, media_type: str, data: bytes) -> str:
    """Give a document's text, also of older encodings; what can't be decoded becomes U+FFFD. Raises Unreadable."""
    text = _pdf_text(data) if _is_pdf(name, media_type) else _decoded(data)
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


def _pdf_text(data: bytes) -> str:
    from pypdf import PdfReader

    try:
        pages: list[str] = []
        for page in PdfReader(io.BytesIO(data)).pages:
            pages.append(page.extract_text().strip())
            if sum(map(len, pages)) > MOST_CHARACTERS:
                break
    except Exception as error:  # pypdf raises whatever a damaged file leads to
        raise Unreadable(type(error).__name__) from error
    text = "\n\n".join(page for page in pages if page)
    if not text:
        raise Unreadable("no text in it, perhaps it is scanned")
    return text
