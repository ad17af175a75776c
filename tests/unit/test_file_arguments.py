"""Files sent with a command are its arguments where it declares them."""

from __future__ import annotations

import pytest

from core import Attachment, Bot, Context, command
from tests.fakes import World

LETTER = Attachment("file", "letter.txt", "text/plain", text="Dear Ann")


@command
async def read(
    context: Context, file: Attachment, aloud: bool, why: str = "fun", other: Attachment | None = None
) -> str:
    """Read a file."""
    return f"{file.text} {aloud} {why} {other.name if other else None}"


@command
async def bring(context: Context, file: Attachment) -> str:
    """Bring a file."""
    return file.name


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("/bring", "Please send a file with it, as /bring FILE"),
        ("/bring leter.txt", "I found no file leter.txt. Please send one with it, as /bring FILE"),
    ],
)
async def test_a_file_that_is_named_and_not_there_is_told_by_its_name(text: str, reply: str) -> None:
    assert await World(bot=Bot(commands=[bring])).said(text) == reply


@pytest.mark.parametrize(
    ("text", "files", "reply"),
    [
        ("/read yes", (LETTER,), "Dear Ann True fun None"),
        ("/read no just for it", (LETTER, LETTER), "Dear Ann False just for it letter.txt"),
        ("/read yes", (), "Please send a file with it, as /read FILE ALOUD [WHY] [OTHER]"),
        ("/read", (LETTER,), "Please say it as /read FILE ALOUD [WHY] [OTHER]"),
    ],
)
async def test_files_are_given_in_order_beside_the_words(text: str, files: tuple[Attachment, ...], reply: str) -> None:
    assert await World(bot=Bot(commands=[read])).said(text, attachments=files) == reply
