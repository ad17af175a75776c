"""Vectors of texts from a server."""

from __future__ import annotations

import asyncio
import json

import httpx2
import pytest

from adapters.openai.embeddings import ServerEmbedder
from core.errors import LLMError
from tests.adapters.openai.scripted import KEY


def embedder(answer: httpx2.Response, asked: list[object]) -> ServerEmbedder:
    async def reply(request: httpx2.Request) -> httpx2.Response:
        assert request.url.path == "/v1/embeddings"
        asked.append(json.loads(await request.aread()))
        await asyncio.sleep(0)
        return answer

    client = httpx2.AsyncClient(transport=httpx2.MockTransport(reply))
    return ServerEmbedder(KEY, "http://model.test/v1", "small", http_client=client)


def vectors(*numbers: list[float]) -> httpx2.Response:
    data = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(numbers)]
    return httpx2.Response(200, json={"object": "list", "model": "small", "data": data[::-1]})


async def test_texts_are_asked_for_together_and_come_back_in_order() -> None:
    asked: list[object] = []
    server = embedder(vectors([1.0, 0.0], [0.0, 1.0]), asked)
    assert await server.embed(["one", "two"]) == [[1.0, 0.0], [0.0, 1.0]]
    assert asked == [{"input": ["one", "two"], "model": "small", "encoding_format": "float"}]
    await server.aclose()


@pytest.mark.parametrize(
    "answer",
    [vectors([1.0]), vectors([], []), httpx2.Response(404, json={}), httpx2.Response(200, text="no"), vectors()],
)
async def test_an_answer_without_a_vector_for_each_text_is_one_clear_error(answer: httpx2.Response) -> None:
    server = embedder(answer, [])
    with pytest.raises(LLMError) as raised:
        await server.embed(["one", "two"])
    assert KEY not in str(raised.value)
    await server.aclose()
