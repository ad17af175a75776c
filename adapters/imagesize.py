"""Looks what a picture is, and how large it would be unpacked, by its own bytes."""

from __future__ import annotations

from io import BytesIO

import imagesize

from core.reading import Picture

_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"RIFF": "image/webp",
}
_LOOKED_AT = 2**20
"""Bytes within which a picture tells its size, whatever else lies before it."""


def look(data: bytes) -> Picture | None:
    """Give what a picture is; None for what is none of a kind that models see, or broken off."""
    kind = next((kind for beginning, kind in _BEGINNINGS.items() if data.startswith(beginning)), None)
    if kind is None:
        return None
    width, height = imagesize.get(BytesIO(data[:_LOOKED_AT]))
    return Picture(kind, width, height) if width > 0 and height > 0 else None
