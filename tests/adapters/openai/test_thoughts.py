"""What a reasoning model thinks aloud is told from what it says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.openai.thoughts import Thoughts


def heard(*pieces: str) -> str:
    thoughts = Thoughts()
    for piece in pieces:
        thoughts.add(piece)
    thoughts.end()
    return thoughts.said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<think>a</think>b", "b"),
        ("  <THINK>a</Think>\n\nb", "b"),
        ("<thinking>a</thinking>b", "b"),
        ("a <think>b</think>c", "a c"),
        ("a</think>b", "b"),
        ("<think>a</think>b</think>c", "bc"),
        ("<think>a", ""),
        ("Write `<think>` first", "Write `<think>` first"),
        ("```\n<think>\n```", "```\n<think>\n```"),
        ("1 < 2 <b>x</b> <thin", "1 < 2 <b>x</b> <thin"),
    ],
)
def test_only_what_is_said_is_heard(text: str, said: str) -> None:
    assert heard(text) == said


@given(st.lists(st.sampled_from(["<think>", "</think>", "<", "/", "`", "a", "\n", "think>", "<thinking>"])), st.data())
def test_it_does_not_matter_where_a_text_is_cut(words: list[str], data: st.DataObject) -> None:
    text = "".join(words)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)))))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert heard(*pieces) == heard(text)


@given(st.text(alphabet="<thinkg>/ab`"))
def test_no_tag_is_lost_and_no_part_of_one_is_shown_early(text: str) -> None:
    thoughts = Thoughts()
    for character in text:
        before = thoughts.said
        thoughts.add(character)
        assert "</think>" in text or thoughts.said.startswith(before)
