"""A request larger than the model's context is told from all other refusals, in the words of many servers."""

from typing import Any

import pytest

from core.errors import ContextOverflow, LLMError
from tests.adapters.openai.scripted import HI, Server, refused, stream

WORDINGS = [
    (400, "Input length 131393 exceeds the maximum allowed input length of 131072"),
    (400, "request (18031 tokens) exceeds the available context size (4096 tokens), try increasing it"),
    (400, "the request exceeds the available context size. try increasing the context size"),
    (413, "prompt is too long"),
    (413, "Request Entity Too Large"),
    (400, "prompt is too long: 213462 tokens > 200000 maximum"),
    (400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens."),
    (400, "This endpoint's maximum context length is 16385 tokens. However, you requested about 118874 tokens"),
    (400, "Your input exceeds the context window of this model. Please adjust your input and try again."),
    (400, "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."),
    (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
    (400, "Please reduce the length of the messages or completion."),
    (400, "the input length exceeds the context length"),
    (400, "Trying to keep the first 5000 tokens when context the overflows. greater than the context length"),
    (400, "invalid params, context window exceeds limit (2013)"),
    (400, "Your request exceeded model token limit: 262144"),
    (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"),
    (422, "`inputs` must have less than 4096 tokens. Given: 5000"),
    (400, "Input is too long for requested model."),
    (400, "Prompt contains 40000 tokens ... too large for model with 32768 maximum context length"),
    (500, "context size has been exceeded"),
    (
        429,
        "Request too large for gpt-4 on tokens per min (TPM): Limit 10000, Requested 15000. The input or output "
        "tokens must be reduced in order to run successfully.",
    ),
]
OTHERS = [
    (400, "max_tokens is too large: 100000. This model supports at most 16384 completion tokens."),
    (400, "Invalid 'messages[3].content': string too short."),
    (401, "Your authentication token is too long"),
    (429, "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000."),
    (500, "The server had an error while processing your request."),
    (400, "The context field is required"),
]


@pytest.mark.parametrize(("status", "message"), WORDINGS)
async def test_i13_overflow_is_recognised_and_not_tried_again(status: int, message: str) -> None:
    server = Server(refused(status, message))
    with pytest.raises(ContextOverflow):
        await server.llm().complete(HI)
    assert len(server.asked) == 1


@pytest.mark.parametrize("more", [{"code": "context_length_exceeded"}, {"type": "exceed_context_size_error"}])
async def test_i13_a_code_is_enough(more: dict[str, Any]) -> None:
    with pytest.raises(ContextOverflow):
        await Server(refused(400, "Sorry.", **more)).llm().complete(HI)


async def test_i13_overflow_told_within_a_stream_is_recognised() -> None:
    server = Server(stream({"error": {"code": 400, "message": "exceeds the available context size"}}))
    with pytest.raises(ContextOverflow):
        await server.llm().complete(HI, server.show)


@pytest.mark.parametrize(("status", "message"), OTHERS)
async def test_i13_other_refusals_are_no_overflow(status: int, message: str) -> None:
    with pytest.raises(LLMError) as caught:
        await Server(refused(status, message)).llm(retries=0).complete(HI)
    assert not isinstance(caught.value, ContextOverflow)


@pytest.mark.parametrize(
    "message",
    [
        "request (18031 tokens) exceeds the available context size (4096 tokens)",
        "maximum context length is 4096 tokens",
    ],
)
async def test_the_context_a_server_tells_is_believed(message: str) -> None:
    llm = Server(refused(400, message)).llm()
    with pytest.raises(ContextOverflow):
        await llm.complete(HI)
    assert llm.context == 4096
