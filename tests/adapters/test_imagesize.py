"""Pictures are taken for what their bytes say, and hostile ones are neither unpacked nor sent on."""

from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.imagesize import look
from core.messages import Attachment
from core.reading import Files, Picture, Readers, Unread, Wanted


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + pack(">I4sIIBBBBB", 13, b"IHDR", width, height, 8, 2, 0, 0, 0) + b"...."


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + pack("<HH", width, height) + b"\0\0\0;"


def jpeg(width: int, height: int) -> bytes:
    comment = b"\xff\xe0" + pack(">H", 18) + b"\xff\xc0" * 8
    return b"\xff\xd8" + comment + b"\xff\xff\xc2" + pack(">HBHHB", 17, 8, height, width, 3) + b"....."


def webp(width: int, height: int, kind: bytes = b"VP8X") -> bytes:
    size = {
        b"VP8X": bytes(4) + pack("<I", width - 1)[:3] + pack("<I", height - 1)[:3],
        b"VP8L": b"\x2f" + pack("<I", width - 1 | height - 1 << 14) + b".....",
        b"VP8 ": b"...\x9d\x01\x2a" + pack("<HH", width, height),
    }[kind]
    return b"RIFF" + pack("<I4s4sI", 30, b"WEBP", kind, 10) + size + b"...."


WHOLE = [
    (png(640, 480), "image/png"),
    (gif(640, 480), "image/gif"),
    (jpeg(640, 480), "image/jpeg"),
    (webp(640, 480), "image/webp"),
    (webp(640, 480, b"VP8L"), "image/webp"),
    (webp(640, 480, b"VP8 "), "image/webp"),
]


async def read(data: bytes, media_type: str = "image/png") -> Attachment:
    async def fetched(file: Wanted) -> bytes:
        return data

    return await Files(Readers(look=look), fetched).read(Wanted("image", "1", "../a.png", media_type, 10))


@pytest.mark.parametrize(("data", "media_type"), WHOLE)
async def test_a_picture_is_what_its_bytes_say(data: bytes, media_type: str) -> None:
    assert look(data) == Picture(media_type, 640, 480)
    assert (await read(data, "image/x-lie")).media_type == media_type


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"12345",
        b"<svg onload='x'/>",
        b"%PDF-1.7",
        b"GIF89a",
        png(0, 9),
        jpeg(9, 0),
        b"\xff\xd8\xff" + b"\xff" * 99,
    ],
)
async def test_what_is_no_picture_is_not_sent_to_the_model(data: bytes) -> None:
    with pytest.raises(Unread, match="it may be damaged"):
        await read(data)


@pytest.mark.parametrize("bomb", [png(2**31 - 1, 2**31 - 1), gif(32767, 32767), jpeg(65535, 65535), webp(16384, 16384)])
async def test_a_small_file_that_unpacks_to_much_is_not_sent_to_the_model(bomb: bytes) -> None:
    with pytest.raises(Unread, match="up to 64 million pixels"):
        await read(bomb)


@given(st.one_of(st.binary(max_size=99), *(st.binary(max_size=40).map(data[:12].__add__) for data, _ in WHOLE)))
def test_any_bytes_can_be_looked_at(data: bytes) -> None:
    look(data)


@given(st.sampled_from([data for data, _ in WHOLE]), st.integers(0, 60))
def test_a_picture_that_is_broken_off_can_be_looked_at(data: bytes, length: int) -> None:
    assert look(data[:length]) in (None, look(data))
