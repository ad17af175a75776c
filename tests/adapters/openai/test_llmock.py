"""The adapter under the faults of a server that is independent of us, which judges how a client behaves."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.openai import OpenAILLM
from core.errors import ContextOverflow, LLMRejected, LLMUnavailable
from core.llm import PromptMessage, Request
from tests.adapters.openai.scripted import HI, WEATHER


@pytest.fixture
async def llm(llmock: Any) -> AsyncIterator[OpenAILLM]:
    model = OpenAILLM(model="gpt-4o", api_key="test", base_url=llmock.base_url(), silence=0.5)
    yield model
    await model.aclose()


async def watch(text: str) -> None:
    """Look at the text."""


@pytest.mark.parametrize("on_text", [watch, None])
async def test_a_rate_limit_is_waited_for(llmock: Any, llm: OpenAILLM, on_text: Any) -> None:
    llmock.rate_limit(times=1, retry_after=0.3).reply("Hello")
    assert (await llm.complete(HI, on_text)).text == "Hello"
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("fault", ["truncate", "disconnect", "corrupt", "stall"])
async def test_no_broken_stream_is_taken_for_whole(llmock: Any, llm: OpenAILLM, fault: str) -> None:
    llmock.reply("one two three four five six")
    getattr(llmock, fault)(after_chunks=3)
    assert (await llm.complete(HI, watch)).finish == "interrupted"


async def test_a_dead_server_is_given_up(llmock: Any) -> None:
    llmock.outage()
    llm = OpenAILLM(model="gpt-4o", api_key="test", base_url=llmock.base_url(), retries=1)
    with pytest.raises(LLMUnavailable):
        await llm.complete(HI)
    await llm.aclose()
    llmock.assert_resilient(strict=True)


async def test_a_refused_key_is_not_tried_again(llmock: Any, llm: OpenAILLM) -> None:
    llmock.fail(401)
    with pytest.raises(LLMRejected, match="OPENAI_API_KEY"):
        await llm.complete(HI)
    llmock.assert_resilient(strict=True)


async def test_a_prompt_too_long_is_an_overflow(llmock: Any, llm: OpenAILLM) -> None:
    llmock.context_overflow()
    with pytest.raises(ContextOverflow):
        await llm.complete(HI)


@pytest.mark.parametrize("on_text", [watch, None])
async def test_a_tool_is_called(llmock: Any, llm: OpenAILLM, on_text: Any) -> None:
    llmock.call_tool("weather", {"city": "Oslo"})
    completion = await llm.complete(Request((PromptMessage("user", "Weather?"),), tools=(WEATHER,)), on_text)
    (call,) = completion.calls
    assert (call.name, json.loads(call.arguments)) == ("weather", {"city": "Oslo"})
    assert completion.usage is not None
