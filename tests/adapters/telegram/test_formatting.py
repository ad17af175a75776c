"""Markdown on Telegram: whatever a model writes arrives, formatted where it can be."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.telegram.formatting import LIMIT, Formatted, clean, clipped, formatted, measure
from adapters.telegram.server.arguments import Arguments
from adapters.telegram.server.checks import text_of
from core.sentences import BLANK
from core.text.splitting import split, utf16_length

MARKS = st.text(alphabet="*_[]()~>#+-=|{}.!`\\<&$:/ \n\tab1😀é\u200d\ud800\x00", max_size=400)

OTHERS = [
    "```",
    "```py\n",
    "\n```\n",
    "~~~",
    "](https://x.example/",
    "[^1]",
    "[^1]: ",
    "[1]: ",
    "<b>",
    "</b>",
    "<!--",
    "- [x] ",
    "\n\n",
]
WORDLESS = st.lists(st.sampled_from([*"*_[]()~>#+-=|{}.!`<&:/ \n\t", *OTHERS]), max_size=3).map("".join)  # no formulas


def entities(markdown: str) -> list[tuple[str, str]]:
    found = formatted(markdown)
    units = found.text.encode("utf-16-le")
    return [
        (str(one.type), units[one.offset * 2 : (one.offset + one.length) * 2].decode("utf-16-le"))
        for one in found.entities
    ]


@pytest.mark.parametrize(
    ("markdown", "found"),
    [
        ("**bold** and _italic_", [("bold", "bold"), ("italic", "italic")]),
        ("```py\nx = 1\n```", [("pre", "x = 1")]),
        ("`a < b`", [("code", "a < b")]),
        ("😀 [a link](https://x.example/a_b)", [("text_link", "a link")]),
        ("> said\n> twice", [("blockquote", "said\ntwice")]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", [("pre", "a | b\n--+--\n1 | 2")]),
        ("~~gone~~", [("strikethrough", "gone")]),
    ],
)
def test_markdown_becomes_entities(markdown: str, found: list[tuple[str, str]]) -> None:
    assert entities(markdown) == found


def test_code_keeps_its_language_and_a_link_its_address() -> None:
    assert formatted("```rust\nlet x;\n```").entities[0].language == "rust"
    assert formatted("[l](https://x.example/?a=1&b=2)").entities[0].url == "https://x.example/?a=1&b=2"


@pytest.mark.parametrize(
    "text",
    [
        "https://x.example/a_b_c_d stays",
        "i < len(s) && a > b",
        "vector<int> x; <h1>Title</h1> <table> <thinking>",
        "export $HOME/bin:$PATH",
        "5 * 3 * 2 = 30",
        "snake_case_name",
        "an unbalanced **bold",
        "one unclosed ` mark",
        "Chat(type=<ChatType.PRIVATE>)",
        "&notanentity; & <",
        "[^1]: https://x.example/note",
        "Sources:\n\n[1]: https://x.example 'one'\n[2]: https://y.example",
        "Look:\n```print(1)",
        "Look:\n~~~ here it is",
    ],
)
def test_what_is_no_formatting_is_shown_as_written(text: str) -> None:
    assert formatted(text).text == text


def test_a_definition_that_a_link_goes_to_is_its_address() -> None:
    shown = formatted("see [this][1] or that\n\n[1]: https://x.example\n[2]: https://y.example")
    assert shown.text == "see this or that\n[2]: https://y.example"
    assert [entity.url for entity in shown.entities] == ["https://x.example"]


def _is_shown(word: str, shown: Formatted) -> bool:
    return word in shown.text or any(word in f"{entity.url} {entity.language}" for entity in shown.entities)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(WORDLESS, st.integers(100, 999)), min_size=1, max_size=8))
def test_no_word_is_lost(parts: list[tuple[str, int]]) -> None:
    shown = formatted("".join(f"{marks}w{number}x" for marks, number in parts))
    assert all(_is_shown(f"w{number}x", shown) for _, number in parts)


def test_an_address_in_angles_is_a_link() -> None:
    assert formatted("Name <user@mail.example>").text == "Name user@mail.example"


def test_text_that_can_not_be_shown_becomes_something_that_can() -> None:
    assert formatted("a\ud800b\x00c").text == "a\ufffdb c"
    assert formatted("\x01 \x02").text == BLANK


@settings(max_examples=300, deadline=None)
@given(MARKS | st.text(max_size=300))
@example("<h1>a</h1>")
@example("[^1]: a")
@example("<!-- a")
def test_any_markdown_arrives(markdown: str) -> None:
    for chunk in split(markdown, LIMIT, measure):
        shown = formatted(chunk)
        given_ = {"text": shown.text, "entities": [entity.to_dict() for entity in shown.entities]}
        text, _ = text_of(Arguments(given_))
        assert text.strip()


@settings(max_examples=30, deadline=None)
@given(
    st.lists(MARKS | st.sampled_from(["**b** ", "| a | b |\n|-|-|\n| 1 | 2 |\n\n", "```\n", "😀" * 300]), max_size=60)
)
def test_every_chunk_fits_after_formatting(parts: list[str]) -> None:
    text = "".join(part * 5 for part in parts)
    for chunk in split(text, LIMIT, measure):
        shown = formatted(chunk)
        assert utf16_length(shown.text) <= LIMIT
        assert len(shown.entities) <= 101
        assert clean(chunk).strip()


def test_formatting_is_never_lost_for_being_too_much() -> None:
    chunks = split("**a** " * 250, LIMIT, measure)
    assert len(chunks) > 2
    assert all(len(formatted(chunk).entities) <= 100 for chunk in chunks)


def test_a_preview_is_cut_between_characters() -> None:
    assert clipped("short") == "short"
    assert clipped("😀" * 3000) == "😀" * 2047 + "…"
