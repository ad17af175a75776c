"""How an answer comes in, whatever servers leave out of it or break off."""

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest

from core.errors import LLMRejected, LLMUnavailable
from core.llm import Usage
from tests.adapters.openai.scripted import HI, Server, said, stream, whole

LONG = "x" * 120


async def test_the_whole_text_so_far_is_shown_each_time() -> None:
    server = Server(stream(said("Hel"), said("lo"), said("", "stop")))
    completion = await server.llm().complete(HI, server.show)
    assert (server.shown, completion.text, completion.finish) == (["Hel", "Hello"], "Hello", "stop")


async def test_usage_is_asked_for_and_read() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 8}}
    server = Server(stream(said("Hi", "stop"), {"choices": [], "usage": usage, "model": "gpt-4o-1"}))
    completion = await server.llm().complete(HI, server.show)
    assert server.asked[0]["stream_options"] == {"include_usage": True}
    assert (completion.usage, completion.model) == (Usage(10, 2, 8), "gpt-4o-1")


async def test_without_anyone_watching_the_answer_comes_in_one_piece() -> None:
    server = Server(whole("Hello"))
    assert (await server.llm().complete(HI)).text == "Hello"
    assert "stream" not in server.asked[0]


async def test_i03_chunks_without_choices_and_blank_ones_are_skipped() -> None:
    odd = [{"choices": []}, {"choices": None}, {"choices": [None]}, {"choices": [{"delta": None}]}, 7, said("")]
    null = {"choices": [{"delta": {"content": None}, "finish_reason": None}], "usage": None}
    server = Server(stream(*odd, said("Hi"), null, said("", "stop"), {"choices": [], "usage": {}}))
    completion = await server.llm().complete(HI, server.show)
    assert (completion.text, completion.usage, server.shown) == ("Hi", None, ["Hi"])


async def test_i05_no_content_because_of_a_filter_is_a_declined_answer() -> None:
    completion = await Server(whole(None, "content_filter")).llm().complete(HI)
    assert (completion.text, completion.finish) == ("", "declined")


async def test_i05_a_refusal_is_declined_and_its_words_are_kept() -> None:
    completion = await Server(whole(None, "stop", refusal="I can't help with that.")).llm().complete(HI)
    assert (completion.text, completion.finish) == ("I can't help with that.", "declined")


async def test_i07_when_only_the_limit_came_it_is_asked_once_more_with_a_larger_one() -> None:
    server = Server(whole("", "length"), whole("At last", "stop"))
    assert (await server.llm(reply_tokens=100).complete(HI)).text == "At last"
    assert [asked["max_tokens"] for asked in server.asked] == [100, 400]


async def test_i07_an_answer_that_never_comes_ends_as_length_after_two_requests() -> None:
    server = Server(whole(None, "length"))
    completion = await server.llm(reply_tokens=100).complete(HI)
    assert (completion.text, completion.finish, len(server.asked)) == ("", "length", 2)


async def test_i09_an_answer_cut_at_its_limit_says_so() -> None:
    completion = await Server(whole("Once upon a", "length")).llm().complete(HI)
    assert (completion.text, completion.finish) == ("Once upon a", "length")


@pytest.mark.parametrize(
    "answer",
    [
        lambda: stream(said(LONG)),
        lambda: stream(said(LONG), "{broken"),
        lambda: stream(said(LONG), broken=httpx2.ReadError("reset")),
        lambda: stream(said(LONG), broken=httpx2.ReadTimeout("silence")),
        lambda: stream(said(LONG), {"error": {"message": "overloaded", "code": 502}}),
        lambda: stream(said(LONG), said("", "error")),
    ],
    ids=["no end", "malformed", "reset", "silence", "error event", "error reason"],
)
async def test_i10_a_stream_that_breaks_after_text_was_shown_is_interrupted_and_not_repeated(answer: object) -> None:
    assert callable(answer)
    server = Server(answer())
    completion = await server.llm().complete(HI, server.show)
    assert (completion.text, completion.finish, len(server.asked)) == (LONG, "interrupted", 1)


@pytest.mark.parametrize(
    "answer",
    [
        lambda: stream(),
        lambda: stream(said(" ")),
        lambda: stream("{broken"),
        lambda: stream({"error": {"message": "overloaded", "code": 502}}),
        lambda: stream(broken=httpx2.ReadError("reset")),
    ],
    ids=["empty", "blank", "malformed", "error event", "reset"],
)
async def test_a_stream_that_breaks_before_any_text_is_tried_again(answer: object) -> None:
    assert callable(answer)
    server = Server(answer(), stream(said("Hi", "stop")))
    completion = await server.llm().complete(HI, server.show)
    assert (completion.text, len(server.asked)) == ("Hi", 2)


async def test_a_stream_that_never_comes_is_given_up() -> None:
    server = Server(*[stream() for _ in range(5)])
    with pytest.raises(LLMUnavailable, match="broke off"):
        await server.llm(retries=3).complete(HI, server.show)
    assert len(server.asked) == 4


async def test_i15_thoughts_are_not_shown_even_when_their_tags_are_cut() -> None:
    pieces = ["<th", "ink>let me", " see</", "thi", "nk>\n\n", "Four", "."]
    server = Server(stream(*map(said, pieces), said("", "stop")))
    completion = await server.llm().complete(HI, server.show)
    assert (completion.text, server.shown) == ("Four.", ["Four", "Four."])


async def test_i15_reasoning_beside_the_text_is_ignored() -> None:
    server = Server(stream(said("", reasoning_content="hmm"), said("Four", "stop", reasoning="hm")))
    assert (await server.llm().complete(HI, server.show)).text == "Four"


async def test_i15_thoughts_never_closed_are_no_blank_answer_but_a_limit_reached() -> None:
    server = Server(whole("<think>I wonder", "stop"))
    completion = await server.llm().complete(HI)
    assert (completion.text, completion.finish) == ("", "length")


async def test_content_given_in_parts_is_read_without_its_thoughts() -> None:
    message = {"content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": "Hi"}]}
    body = {"choices": [{"message": message, "finish_reason": "stop"}]}
    assert (await Server(httpx2.Response(200, json=body)).llm().complete(HI)).text == "Hi"


async def test_a_server_that_ignores_streaming_is_understood() -> None:
    server = Server(whole("Hello"))
    assert (await server.llm().complete(HI, server.show)).text == "Hello"
    assert server.shown == ["Hello"]


@pytest.mark.parametrize("watching", [True, False])
async def test_a_web_page_instead_of_an_answer_names_the_setting(watching: bool) -> None:
    server = Server(httpx2.Response(200, html="<h1>It works!</h1>"))
    with pytest.raises(LLMRejected, match="OPENAI_BASE_URL, which usually ends in /v1"):
        await server.llm().complete(HI, server.show if watching else None)
    assert len(server.asked) == 1


async def test_what_the_watcher_raises_comes_through() -> None:
    async def stop(text: str) -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await Server(stream(said("Hi", "stop"))).llm().complete(HI, stop)


async def test_a_server_that_only_keeps_the_line_open_is_left_in_the_end() -> None:
    async def pings() -> AsyncIterator[bytes]:
        while True:
            yield b": ping\n\n"
            await asyncio.sleep(0.01)

    server = Server(httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=pings()))
    with pytest.raises(LLMUnavailable, match="did not come to an end"):
        await server.llm(longest=0.05).complete(HI, server.show)
