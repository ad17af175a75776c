"""When a failing server is asked again, when not, and what the operator is told."""

import logging

import httpx2
import pytest

from core.errors import ConfigError, LLMError, LLMRejected, LLMUnavailable
from tests.adapters.openai.scripted import HI, KEY, Server, refused, said, stream, whole


async def test_i01_an_account_without_quota_is_not_asked_twice() -> None:
    server = Server(refused(429, "You exceeded your current quota.", code="insufficient_quota"))
    with pytest.raises(LLMRejected, match="no quota left; check its plan and billing"):
        await server.llm().complete(HI)
    assert (len(server.asked), server.naps) == (1, [])


@pytest.mark.parametrize(
    ("status", "message", "sentence"),
    [
        (401, f"Incorrect API key provided: {KEY}", r"^The model server refused the API key; check OPENAI_API_KEY\.$"),
        (402, "Insufficient Balance", "no quota left"),
        (403, "Country not supported", "denies access; check OPENAI_API_KEY"),
        (
            404,
            "The model `gpt-4o` does not exist",
            "'gpt-4o' is unknown to the server at http://model.test/v1; set KEEP",
        ),
        (404, "Not Found", "check OPENAI_BASE_URL, which usually ends in /v1"),
        (400, "gpt-4o is not a valid model ID", "set KEEPMIND_MODEL"),
        (400, "Something is wrong", r"refused the request \(400\)"),
    ],
)
async def test_what_waiting_does_not_cure_is_not_tried_again(status: int, message: str, sentence: str) -> None:
    server = Server(refused(status, message))
    with pytest.raises(LLMRejected, match=sentence):
        await server.llm().complete(HI)
    assert len(server.asked) == 1


async def test_a_server_that_is_down_is_named() -> None:
    server = Server(httpx2.ConnectError("refused"))
    with pytest.raises(LLMUnavailable, match=r"at http://model.test/v1 can't be reached; start it or check OPENAI_B"):
        await server.llm().complete(HI)
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    ("headers", "message", "least"),
    [
        ({"retry-after": "7"}, "", 7),
        ({"retry-after-ms": "1500"}, "", 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:09 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, "", 9),
        ({}, "Rate limit reached. Please try again in 20s.", 20),
        ({}, "Please try again in 1m0.5s.", 60.5),
        ({}, "Please try again in 350ms.", 0.35),
        ({}, "You exceeded your current quota, check your billing. Please retry in 34.07s.", 34.07),
    ],
)
async def test_i02_the_wait_a_server_asks_for_is_honoured(headers: dict[str, str], message: str, least: float) -> None:
    server = Server(refused(429, message, headers), whole("Hi"))
    assert (await server.llm(retry_seconds=100).complete(HI)).text == "Hi"
    assert least <= server.naps[0] <= least * 1.1 + 0.1


async def test_i02_the_total_time_is_bounded_whatever_the_server_asks() -> None:
    server = Server(refused(429, "", {"retry-after": "3600"}))
    with pytest.raises(LLMUnavailable, match="429"):
        await server.llm().complete(HI)
    assert server.naps == []


async def test_i02_one_question_makes_no_more_requests_than_stated() -> None:
    server = Server(refused(503, "overloaded"))
    with pytest.raises(LLMUnavailable, match="503"):
        await server.llm(retries=2).complete(HI)
    assert len(server.asked) == 3


async def test_waits_grow_and_differ() -> None:
    server = Server(refused(500, "oops"))
    with pytest.raises(LLMUnavailable):
        await server.llm(chance=lambda: 1.0).complete(HI)
    assert server.naps == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("failure", [refused(503, "down"), refused(404, "model not found", code="model_not_found")])
async def test_the_fallback_answers_when_the_main_model_fails(failure: httpx2.Response) -> None:
    server = Server(failure, stream(said("Hi", "stop")))
    completion = await server.llm(fallback_model="small", retries=0).complete(HI, server.show)
    assert (completion.text, [asked["model"] for asked in server.asked]) == ("Hi", ["gpt-4o", "small"])


async def test_the_fallback_is_not_asked_after_text_was_shown() -> None:
    server = Server(stream(said("Hel")))
    completion = await server.llm(fallback_model="small").complete(HI, server.show)
    assert (completion.finish, len(server.asked)) == ("interrupted", 1)


async def test_the_fallback_is_not_asked_when_the_key_is_refused() -> None:
    server = Server(refused(401, "no"))
    with pytest.raises(LLMRejected):
        await server.llm(fallback_model="small").complete(HI)
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [400, 403, 404, 422, 429, 500])
async def test_no_key_and_nothing_said_gets_into_errors_or_logs(status: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "keepmind")
    server = Server(refused(status, f"Bad key {KEY} and Bearer {KEY}; 'input': 'Be kind.'"))
    with pytest.raises(LLMError) as caught:
        await server.llm().complete(HI)
    assert caught.value.__suppress_context__
    for text in (str(caught.value), caplog.text):
        assert KEY[:8] not in text
        assert "Be kind" not in text


async def test_without_an_address_openai_is_asked_though_one_is_blank_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "")
    with pytest.raises(LLMUnavailable, match=r"at https://api\.openai\.com/v1 can't be reached"):
        await Server(httpx2.ConnectError("refused")).llm(base_url=None).complete(HI)


async def test_an_address_is_told_without_its_password() -> None:
    server = Server(httpx2.ConnectError("refused"))
    with pytest.raises(LLMUnavailable) as caught:
        await server.llm(base_url="http://me:secret@model.test/v1?key=secret").complete(HI)
    assert "http://model.test/v1 " in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-1\nsk-2", "sk-ключ", "sk 1"])
def test_a_key_that_is_none_is_refused_at_the_start_without_repeating_it(key: str) -> None:
    with pytest.raises(ConfigError, match=r"^OPENAI_API_KEY holds characters that no key has; copy it again\.$"):
        Server(whole("")).llm(api_key=key)


async def test_a_key_copied_with_a_line_end_works() -> None:
    assert (await Server(whole("Hi")).llm(api_key=f" {KEY}\n").complete(HI)).text == "Hi"


async def test_an_error_within_a_good_response_is_an_error() -> None:
    server = Server(httpx2.Response(200, json={"error": {"message": "upstream", "code": 502}}), whole("Hi"))
    assert (await server.llm().complete(HI)).text == "Hi"
    assert len(server.naps) == 1
