"""How the gateway packs what it sends: each message flushed, in one stream a connection."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Any

from adapters.discord.server.refusals import Json

Packing = Callable[[Json], str | bytes]


def packing(kind: str) -> Packing:
    """Give what packs one connection's messages: `zlib-stream`, `zstd-stream`, or none. Raises ValueError."""
    if not kind:
        return _written
    if kind == "zlib-stream":
        return _zlib()
    if kind == "zstd-stream":
        return _zstd()
    raise ValueError(kind)


def _written(payload: Json) -> str:
    return json.dumps(payload)


def _zlib() -> Packing:
    stream = zlib.compressobj()
    return lambda payload: stream.compress(_written(payload).encode()) + stream.flush(zlib.Z_SYNC_FLUSH)


def _zstd() -> Packing:
    stream, block = _zstd_stream()
    return lambda payload: bytes(stream.compress(_written(payload).encode()) + stream.flush(block))


def _zstd_stream() -> tuple[Any, int]:
    """Find the library that discord.py found, or it would not have asked for this."""
    try:
        stream = import_module("compression.zstd").ZstdCompressor()
        return stream, stream.FLUSH_BLOCK
    except ImportError:
        library = import_module("zstandard")
        return library.ZstdCompressor().compressobj(), library.COMPRESSOBJ_FLUSH_BLOCK
