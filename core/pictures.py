"""What a picture is by its own bytes, whatever it is called, and how large it would be unpacked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

MOST_PIXELS = 64_000_000
"""What a camera makes; what is more would take a model's server hundreds of megabytes to unpack."""
_MOST_PARTS = 1000
_SIZES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
"""Marks of a JPEG's parts that tell its size: https://www.w3.org/Graphics/JPEG/itu-t81.pdf, table B.1."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture's media type, and its width and height in pixels."""

    media_type: str
    width: int
    height: int

    @property
    def is_too_large(self) -> bool:
        """Whether unpacking it would take too much."""
        return self.width * self.height > MOST_PIXELS


def picture_of(data: bytes) -> Picture | None:
    """Read what a picture is; None for what is none of a kind that models see, or broken off."""
    kind, size = _size(data)
    return Picture(kind, *size) if size is not None and all(size) else None


def _size(data: bytes) -> tuple[str, tuple[int, int] | None]:
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR" and len(data) >= 24:
        return "image/png", (int.from_bytes(data[16:20]), int.from_bytes(data[20:24]))
    if data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        return "image/gif", (int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little"))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return "image/webp", _webp(data)
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg", next(_jpeg(data), None)
    return "", None


def _webp(data: bytes) -> tuple[int, int] | None:
    """Read the size of a WebP: https://developers.google.com/speed/webp/docs/riff_container."""
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF
    return None


def _jpeg(data: bytes) -> Iterator[tuple[int, int]]:
    """Read the sizes that the parts of a JPEG tell; each part begins with a mark and its length."""
    at = 2
    for _ in range(_MOST_PARTS):
        if at + 9 > len(data) or data[at] != 0xFF:
            return
        mark = data[at + 1]
        if mark in _SIZES:
            yield int.from_bytes(data[at + 7 : at + 9]), int.from_bytes(data[at + 5 : at + 7])
        at += 1 if mark == 0xFF else 2 + max(int.from_bytes(data[at + 2 : at + 4]), 2)
