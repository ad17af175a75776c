"""Texts made to keep a pattern busy: each way through one ends at once, where some once took minutes or hours."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from adapters.openai.marks import unmarked
from adapters.openai.overflow import overflows
from adapters.telegram.formatting import LIMIT, formatted, measure
from core.rendering import neutral, speaker
from core.search.names import names_in
from core.secrets import holds_secret, stated_as_secret
from core.text.disguise import disarmed
from core.text.splitting import split

WAYS: dict[str, Callable[[str], object]] = {
    "a secret": holds_secret,
    "a stated secret": lambda text: stated_as_secret("hush", text),
    "names": names_in,
    "a tag": neutral,
    "a disguised tag": lambda text: disarmed(text, "conversation"),
    "a name": speaker,
    "marks of templates": unmarked,
    "too large a request": lambda text: overflows(400, text),
}
ATOMS = ["a", "Al ", "\n", "A\n", "<", "<r", "password=", "a is my ", "eyJ-", "1", "\u200b", "«", "(", "中"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("atom", ATOMS)
def test_no_text_is_looked_at_again_and_again(way: str, atom: str) -> None:
    WAYS[way](atom * (40_000 // len(atom)))


@pytest.mark.parametrize("atom", ["[a]: b\n", "\\(", "$", "~~~\n", "```\n", "<x>", "||", "**a", "[", "> ", "#\n"])
def test_no_answer_takes_long_to_be_cut_and_formatted(atom: str) -> None:
    text = atom * (20_000 // len(atom))
    for chunk in split(text, LIMIT, measure):
        assert formatted(chunk).text
