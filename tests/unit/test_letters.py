"""Words are told apart in every script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.letters import holds_whole


@pytest.mark.parametrize(
    ("text", "part", "holds"),
    [
        ("i am eve", "i am eve", True),
        ("well, i am eve!", "i am eve", True),
        ("i am evelyn", "i am eve", False),
        ("hi am eve", "i am eve", False),
        ("i am evelyn. no, i am eve", "i am eve", True),
        ("i am 30", "i am 3", False),
        ("меня зовут анна", "меня зовут анн", False),
        ("你好我叫小明，我住在北京", "我叫小明", True),
        ("ผมชื่อสมชายครับ", "ผมชื่อสมชาย", True),
        ("i am eve", "", True),
        ("", "", True),
        ("", "eve", False),
    ],
)
def test_a_text_holds_only_whole_words_of_another(text: str, part: str, holds: bool) -> None:
    assert holds_whole(text, part) is holds


@given(st.text(), st.text(), st.text())
def test_what_stands_between_spaces_is_held(before: str, part: str, after: str) -> None:
    assert holds_whole(f"{before} {part} {after}", part)
    assert not holds_whole(before, part) or part in before
