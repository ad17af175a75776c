"""Vectors of texts, through the embeddings of an OpenAI-compatible server."""

from __future__ import annotations

import math
from collections.abc import Sequence

import httpx2

from adapters.openai.client import safe_url, to_client
from adapters.openai.trouble import LIBRARY_ERRORS, Server, to_trouble
from core.errors import LLMUnavailable


class ServerEmbedder:
    """Asks once a call, for at most `seconds`: who asks does without, or asks again later.

    Raises ConfigError for a key that can't stand in a header.
    """

    def __init__(
        self,
        api_key: str,
        base_url: str | None,
        model: str,
        *,
        seconds: float = 60.0,
        http_client: httpx2.AsyncClient | None = None,
    ) -> None:
        self.model = model
        self._seconds = seconds
        self._client = to_client(api_key, base_url, http_client)
        self._server = Server(safe_url(self._client.base_url), api_key.strip())

    async def embed(self, texts: Sequence[str], *, asked: bool = False) -> Sequence[Sequence[float]]:  # noqa: ARG002
        """Give a vector for each text, asked for or said alike. Raises LLMError."""
        try:
            given: object = await self._client.embeddings.create(
                input=list(texts), model=self.model, encoding_format="float", timeout=self._seconds
            )
        except LIBRARY_ERRORS as error:
            raise to_trouble(error, self.model, self._server).error from None
        vectors = _vectors(given)
        if len(vectors) != len(texts) or not all(vectors):
            raise LLMUnavailable(f"The server at {self._server.url} gave no vector for some texts.")
        return vectors

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()


def _vectors(given: object) -> list[list[float]]:
    """Read the vectors of an answer in order; one that can't be read is left out or empty."""
    try:
        entries = sorted(getattr(given, "data", None) or (), key=lambda entry: int(entry.index))
        vectors = [list(map(float, entry.embedding)) for entry in entries]
    except (AttributeError, TypeError, ValueError):  # whatever some server sends
        return []
    return [vector if all(map(math.isfinite, vector)) else [] for vector in vectors]
