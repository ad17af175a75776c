"""The port to what turns texts into vectors, which are near where their meaning is, and how these are kept."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.conversation import Turn
from core.errors import KeepmindError
from core.messages import ChatKey, Message
from core.search.vectors import Asked, Near, to_vector
from core.store import ConversationStore

logger = logging.getLogger("keepmind.embedding")
SAID, REPLIED = 1000, 500
"""Most characters of what was said, and of the answer, that a vector is made of."""
AT_ONCE, MOST = 32, 2000
"""Turns that are embedded at once, and while a chat is compacted."""
PATIENCE = 5.0
"""Seconds that a question may take to be embedded: an answer waits for it."""


class Embedder(Protocol):
    """Turns texts into vectors. Only those of one `model` are compared."""

    model: str

    async def embed(self, texts: Sequence[str], *, asked: bool = False) -> Sequence[Sequence[float]]:
        """Give a vector for each text, that was said or is `asked` for. Raises KeepmindError."""
        ...


@dataclass(frozen=True)
class Meaning:
    """Finds what was told in other words: an embedder, and what tells how near vectors are. It never raises."""

    embedder: Embedder
    near: Near

    async def asked(self, text: str) -> Asked | None:
        """Give what is asked as a vector; None where it can't be had now, and words must do."""
        if not text.strip():
            return None
        try:
            async with asyncio.timeout(PATIENCE):
                [vector] = await self.embedder.embed([text], asked=True)
        except (KeepmindError, TimeoutError) as error:
            _warn(error)
            return None
        return Asked(self.embedder.model, to_vector(vector), self.near)

    async def keep(self, store: ConversationStore, chat: ChatKey) -> None:
        """Make the vectors of what was told in a chat and has none yet, the latest first."""
        try:
            for _ in range(MOST // AT_ONCE):
                turns = await store.unembedded(chat, self.embedder.model, limit=AT_ONCE)
                if not turns:
                    return
                vectors = await self.embedder.embed([told(turn) for turn in turns])
                kept = zip(turns, map(to_vector, vectors), strict=True)
                await store.embed(chat, self.embedder.model, list(kept))
        except KeepmindError as error:
            _warn(error)


def _warn(error: Exception) -> None:
    logger.warning("searching by words alone for now: %s", error or "the embedder took too long")


def told(turn: Turn) -> str:
    """Write what a turn tells, to be embedded: in a group with the name of who said it."""
    said = "\n".join(map(_said, turn.messages))[:SAID]
    return f"{said}\n{turn.answer.text[:REPLIED]}" if turn.answer else said


def _said(message: Message) -> str:
    parts = [message.text, *(part for a in message.attachments for part in (a.name, a.text))]
    said = " ".join(filter(None, parts))
    return said if message.private else f"{message.name}: {said}"
