"""What Discord shows of an answer: its own Markdown, cut to its length; long code may become a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO

import discord

from core.adapter import Outgoing
from core.messages import Attachment
from core.sentences import BLANK
from core.text.fences import Block, blocks
from core.text.splitting import split
from core.translation import spoken

LIMIT = 2000
"""Most characters of one message: https://discord.com/developers/docs/resources/message#create-message.

They are counted as code points: https://github.com/discord/discord-api-docs/issues/1315.
"""
_UNSHOWN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_LONE = re.compile(r"[\ud800-\udfff]")
_ENDINGS = {
    "python": "py",
    "javascript": "js",
    "typescript": "ts",
    "rust": "rs",
    "ruby": "rb",
    "kotlin": "kt",
    "bash": "sh",
    "shell": "sh",
    "markdown": "md",
    "yaml": "yml",
}


def clean(text: str) -> str:
    """Take out what Discord refuses or doesn't show; never gives a blank text."""
    shown = _LONE.sub("\ufffd", _UNSHOWN.sub(" ", text))
    return shown if shown.strip() else spoken(BLANK)


def clipped(text: str) -> str:
    """Cut a text to what one message holds, for a preview."""
    text = clean(text)
    return text if len(text) <= LIMIT else text[: LIMIT - 1] + "…"


def chunks(text: str, longest_code: int = 0) -> list[str]:
    """Cut an answer so that each part fits a message; code longer than `longest_code` is a part of its own, whole.

    Zero: code is cut like the rest.
    """
    return [chunk for part in _parts(text, longest_code) for chunk in _cut(part, longest_code)]


def _parts(text: str, longest_code: int) -> Iterator[str]:
    start = 0
    for block in blocks(text) if longest_code else ():
        if block.end - block.body > longest_code:
            yield text[start : block.start]
            yield text[block.start : block.stop]
            start = block.stop
    yield text[start:]


def _cut(part: str, longest_code: int) -> list[str]:
    return [part] if longest_code and _long_code(part, longest_code) else split(part, LIMIT, len)


def _long_code(text: str, longest_code: int) -> Block | None:
    found = next(blocks(text), None)
    alone = found is not None and found.start == 0 and found.stop >= len(text.rstrip())
    return found if alone and found is not None and found.end - found.body > longest_code else None


def as_file(text: str, longest_code: int) -> Attachment | None:
    """Make a file of a part that is nothing but long code; None for any other."""
    block = _long_code(text, longest_code) if longest_code else None
    if block is None:
        return None
    language = block.opening.strip(" \t>`~").split()[:1]
    return Attachment("file", f"code.{_ending(language[0] if language else '')}", text=text[block.body : block.end])


def laid_out(out: Outgoing, longest_code: int) -> tuple[str, list[Attachment]]:
    """Give the words and the files that a final message is shown as."""
    code = as_file(out.text, longest_code)
    files = [file for file in (code, out.file) if file is not None]
    return "" if code or (files and not out.text.strip()) else clean(out.text), files


def to_file(file: Attachment) -> discord.File:
    """Make what is uploaded; it is used up by being sent."""
    return discord.File(BytesIO(file.data or file.text.encode("utf-8", "replace")), file.name or "file.txt")


def _ending(language: str) -> str:
    language = language.casefold()
    return _ENDINGS.get(language, language if re.fullmatch(r"[a-z0-9]{1,8}", language) else "txt")
