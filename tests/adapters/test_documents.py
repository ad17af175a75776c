"""Documents as people save them: in UTF-8, and in the encodings of before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters import documents

RUSSIAN = "Договор аренды квартиры заключён двадцатого мая, оплата производится ежемесячно до пятого числа.\n" * 3
JAPANESE = "契約は五月二十日に結ばれ、家賃は毎月五日までに支払われます。よろしくお願いいたします。\n" * 3


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (RUSSIAN, "utf-8"),
        (RUSSIAN, "utf-8-sig"),
        (RUSSIAN, "utf-16"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
    ],
)
def test_text_is_read_in_the_encoding_it_was_saved_in(text: str, encoding: str) -> None:
    assert documents.read("note.txt", "text/plain", text.encode(encoding)) == text


def test_a_byte_gone_wrong_does_not_make_another_encoding_of_it() -> None:
    data = RUSSIAN.encode() + b"\xff" + RUSSIAN.encode()
    assert documents.read("note.txt", "text/plain", data) == f"{RUSSIAN}\ufffd{RUSSIAN}"


@given(st.binary(max_size=2_000))
def test_any_bytes_give_some_text(data: bytes) -> None:
    assert isinstance(documents.read("note.txt", "text/plain", data), str)
