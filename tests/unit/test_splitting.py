"""Texts of any kind, cut into chunks and put together again."""

import re
import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.splitting import split, utf16_length

FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")


def squeeze(text: str) -> str:
    return "".join(char for char in text if not char.isspace())


def readings(chunk: str) -> Iterator[str]:
    """Give the chunk as it is, and without the fences that the cut may have added."""
    lines = chunk.split("\n")
    opened = len(lines) > 1 and FENCE.match(lines[0])
    closed = len(lines) > 1 and FENCE.match(lines[-1])
    yield chunk
    if opened:
        yield "\n".join(lines[1:])
    if closed:
        yield "\n".join(lines[:-1])
    if opened and closed:
        yield "\n".join(lines[1:-1])


def is_put_together(chunks: list[str], text: str) -> bool:
    """Tell whether the chunks are the text, but for whitespace and added fences."""
    rests = {squeeze(text)}
    for chunk in chunks:
        rests = {rest[len(part) :] for rest in rests for part in map(squeeze, readings(chunk)) if rest.startswith(part)}
    return "" in rests


def code_of(chunks: list[str]) -> str:
    return "".join(code for chunk in chunks for code in re.findall(r"^```\w*\n(.*?)^```$", chunk, re.M | re.S))


pieces = st.one_of(
    st.text(max_size=30),
    st.text(alphabet=st.characters(), max_size=10),
    st.text("ab .,!\n", max_size=60),
    st.sampled_from(
        [
            *(
                "\n",
                "\n\n",
                "\r\n",
                "    ",
                "```",
                "```py\n",
                "\n```\n",
                "~~~~ js\n",
                "\n~~~~\n",
                "> ```\n> a\n> ```\n",
            ),
            *("- ```sh\n  ls\n  ```\n", "`a b`", "``", "**bold text**", "__", "*", "||", "~~", "[", "](", ")", "\\"),
            *("[a link](https://x.example/a_b_(c))", "https://x.example/a_b?c=d*e", "&amp;", "😀" * 20, "👨‍👩‍👧‍👦" * 3),
            *(
                "🇺🇦🇵🇱🇫🇷",
                "e\u0301" * 9,
                "👍🏽" * 4,
                "\ud83d",
                "\ude00",
                "\x00",
                "שלום עולם ",
                "مرحبا ",
                "你好。今天天气很好。",
            ),
            *("a" * 70, "word " * 30, "line\n" * 20, "1. item\n2. item\n"),
        ]
    ),
)
texts = st.lists(pieces, max_size=25).map("".join)


def html_like(text: str) -> int:
    return utf16_length(text.replace("&", "&amp;").replace("<", "&lt;"))


def hides_links(text: str) -> int:
    return utf16_length(re.sub(r"\[([^][]*)\]\([^()\s]*\)", r"\1", text))


@given(texts, st.integers(20, 120), st.sampled_from([utf16_length, len, html_like, hides_links]))
def test_any_text_is_cut_within_the_limit_and_can_be_put_together(
    text: str, limit: int, measure: Callable[[str], int]
) -> None:
    chunks = split(text, limit, measure)
    assert all(measure(chunk) <= limit and chunk.strip() for chunk in chunks)
    assert is_put_together(chunks, text)
    assert bool(chunks) == bool(text.strip())
    assert chunks == split(text, limit, measure)


@given(texts, st.integers(1, 19))
def test_no_limit_is_too_small(text: str, limit: int) -> None:
    assert squeeze(text) == "" or split(text, limit, len)


@given(
    st.lists(st.text("ab(): #\t", max_size=30), min_size=1, max_size=60),
    st.sampled_from(["```", "~~~", "````"]),
    st.sampled_from(["", "  "]),
)
def test_a_block_is_continued_by_the_same_fence_and_no_line_is_cut(lines: list[str], fence: str, indent: str) -> None:
    code = "".join(f"{indent}{line}\n" for line in lines)
    text = f"Here it is.\n\n{indent}{fence}py title\n{code}{indent}{fence}\n\nDone."
    chunks = split(text, 60)
    bodies = ""
    for chunk in chunks:
        for found in re.finditer(rf"^{indent}{fence}py title\n(.*?)^{indent}{fence}$", chunk, re.M | re.S):
            bodies += found[1]
        assert len(re.findall(rf"^{indent}{fence}", chunk, re.M)) % 2 == 0
    assert bodies == code


@given(st.lists(st.sampled_from(["[two words](https://x.example/a_(b))", "`in code`", "https://y.example/c_d*e_f"])))
def test_links_and_inline_code_stay_whole(atoms: list[str]) -> None:
    text = " some words, ".join(atoms)
    chunks = split(text, 45)
    assert sum(chunk.count(atom) for chunk in chunks for atom in set(atoms)) == len(atoms)


def test_an_answer_of_any_length_arrives_in_order() -> None:  # A01, A15
    text = "\n\n".join(f"{number}. " + "All of it was said, word for word. " * 9 for number in range(30))
    chunks = split(text, 4096)
    assert [utf16_length(chunk) <= 4096 for chunk in chunks] == [True] * 3
    assert "\n\n".join(chunks).split() == text.split()
    assert all(re.match(r"\d+\. ", chunk) for chunk in chunks), "cut at paragraphs"


def test_emoji_are_counted_as_the_platform_counts_them() -> None:  # A02
    chunks = split("\U0001f600" * 2049, 4096)
    assert [utf16_length(chunk) for chunk in chunks] == [4096, 2]


def test_what_is_really_sent_is_measured() -> None:  # A04
    chunks = split("!" * 4096, 4096, lambda chunk: 2 * len(chunk))
    assert [len(chunk) for chunk in chunks] == [2048, 2048]


def test_discord_takes_fewer_characters() -> None:  # A07
    text = "This clause is one of many clauses. " * 78
    chunks = split(text, 2000, len)
    assert [len(chunk) <= 2000 for chunk in chunks] == [True, True]
    assert all(chunk.endswith("clauses.") for chunk in chunks)


def test_a_long_block_is_closed_and_opened_again() -> None:  # A08
    code = "".join(f"    print({number})  # a line\n" for number in range(300))
    chunks = split(f"Here you are:\n\n```py\n{code}```\n\nDone.", 2000, len)
    assert len(chunks) > 3
    assert all(chunk.count("```") == 2 for chunk in chunks)
    assert code_of(chunks) == code
    assert chunks[0].startswith("Here you are:\n\n```py\n    print(0)")
    assert chunks[-1].endswith("```\n\nDone.")


def test_a_block_that_fits_is_moved_whole() -> None:
    block = "```\n" + "x = 1\n" * 10 + "```"
    assert split("word " * 10 + "\n" + block, 80) == [("word " * 10).strip(), block]


def test_a_code_line_longer_than_a_message_is_cut_as_the_last_resort() -> None:
    chunks = split("```js\n" + "x" * 90 + "\n```", 50)
    assert chunks == ["```js\n" + "x" * 40 + "\n```", "```js\n" + "x" * 40 + "\n```", "```js\n" + "x" * 10 + "\n```"]


def test_a_block_left_open_is_closed_in_the_last_chunk_too() -> None:
    assert split("```\n" + "code\n" * 6, 30) == ["```\ncode\ncode\ncode\ncode\n```", "```\ncode\ncode\n```"]


def test_a_quoted_block_and_one_in_a_list_keep_their_indentation() -> None:
    assert split("> ```py\n" + "> a = 1\n" * 5 + "> ```\nend", 40) == [
        "> ```py\n" + "> a = 1\n" * 3 + "> ```",
        "> ```py\n" + "> a = 1\n" * 2 + "> ```\nend",
    ]
    assert split("- ```py\n" + "  a = 1\n" * 5 + "  ```", 40)[1] == "  ```py\n" + "  a = 1\n" * 2 + "  ```"


def test_lines_keep_their_indentation() -> None:
    assert split("- one\n  - two\n  - three", 12) == ["- one", "  - two", "  - three"]


@pytest.mark.parametrize("unit", ["👨‍👩‍👧‍👦", "🇺🇦", "👍🏽", "e\u0301", "❤️"])
def test_what_is_seen_as_one_character_is_not_parted(unit: str) -> None:
    chunks = split(unit * 40, 25)
    assert "".join(chunks) == unit * 40
    assert all(chunk == unit * (len(chunk) // len(unit)) for chunk in chunks)


def test_emphasis_that_fits_stays_whole() -> None:
    assert split("some words before **these bold words** here", 30) == [
        "some words before",
        "**these bold words** here",
    ]


@pytest.mark.parametrize("blank", ["", " ", "\n\n", "\u2003\t" * 9000])
def test_blank_text_gives_nothing(blank: str) -> None:
    assert split(blank, 20) == []


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "word ",
            "x",
            "\n",
            " ",
            "*a* ",
            "**a ",
            "[",
            "[a](",
            "`",
            "`` a ",
            "```\n",
            "a\n\n",
            "> ```\n",
            "😀",
            "\u0301",
        ),
        *("\\", "&a", "a.a://", "```py\ncode\n```\n", "](((", "- ", "🇺🇦", "“a.” 你好。", "https://x.example/a "),
    ],
)
def test_no_text_makes_cutting_slow(unit: str) -> None:
    text = "a" + unit * (200_000 // len(unit)) + "b"
    begun = time.process_time()
    chunks = split(text, 4096)
    assert time.process_time() - begun < 1.5, "0.1 to 0.4 seconds on one core"
    assert chunks


def test_a_megabyte_of_prose_takes_a_second_or_less() -> None:
    text = "Some **bold words**, `code` and a [link](https://x.example/a). And so on.\n" * 13_000
    begun = time.process_time()
    assert len(split(text, 4096)) > 200
    assert time.process_time() - begun < 4, "0.8 seconds on one core; test machines are slower"
