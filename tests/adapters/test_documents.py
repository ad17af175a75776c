"""Documents as people save them: in UTF-8, and in the encodings of before."""

from __future__ import annotations

import zlib

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


def pdf(content: bytes, pages: int = 1) -> bytes:
    """Make a PDF of pages that all show the same packed content."""
    packed = zlib.compress(content, 9)
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [" + b"3 0 R " * pages + b"] /Count %d >>" % pages,
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(packed) + packed + b"\nendstream",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    written, at = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        at.append(len(written))
        written += b"%d 0 obj\n%b\nendobj\n" % (number, part)
    table = b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in at)
    return written + table + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(written)


def test_a_pdf_is_read() -> None:
    assert documents.read("a.pdf", "", pdf(b"BT /F1 12 Tf (hello) Tj ET")) == "hello"


def test_a_pdf_that_would_take_hours_is_given_up_and_costs_nobody_else_anything() -> None:
    bomb = pdf(b"BT /F1 12 Tf " + b"() Tj " * 400_000 + b" ET", pages=10_000)
    assert len(bomb) < 100_000
    with pytest.raises(documents.Unreadable, match=r"ended with|TimeoutExpired"):
        documents.read("a.pdf", "", bomb, seconds=1)


def test_what_reads_a_pdf_knows_nothing_of_the_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hole in the library would be one into a process without a secret."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hush")
    assert documents.read("a.pdf", "", pdf(b"BT /F1 12 Tf (hello) Tj ET")) == "hello"
    assert "OPENAI_API_KEY" not in documents.environment()


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4", b"\0" * 1000, pdf(b"[" * 100_000), pdf(b"BT ET")])
def test_a_pdf_without_sense_is_only_unreadable(data: bytes) -> None:
    with pytest.raises(documents.Unreadable):
        documents.read("a.pdf", "", data)
