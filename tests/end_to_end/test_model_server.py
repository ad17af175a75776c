"""The scripted model server itself: strict with requests, and understood by the adapter."""

import json
import sys
from asyncio import create_subprocess_exec, subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from adapters.openai import OpenAILLM
from core.errors import LLMRejected
from core.llm import PromptMessage, Request, ToolSpec
from tests.end_to_end.model_server import ModelServer, faults_of

HI = Request((PromptMessage("system", "Be kind."), PromptMessage("user", "I am Ada")))
NOTE = ToolSpec("note", "Note.", {"type": "object", "properties": {}})


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def llm(server: ModelServer) -> AsyncIterator[OpenAILLM]:
    llm = OpenAILLM(model="scripted", base_url=server.url, retries=1)
    yield llm
    await llm.aclose()


async def watch(text: str) -> None:
    """Look at the text."""


@pytest.mark.parametrize("on_text", [watch, None])
async def test_it_says_what_was_said(server: ModelServer, llm: OpenAILLM, on_text: Any) -> None:
    completion = await llm.complete(HI, on_text)
    assert (completion.text, completion.finish, server.faults) == ("You said: I am Ada", "stop", [])
    assert completion.usage is not None


@pytest.mark.parametrize("on_text", [watch, None])
async def test_it_calls_and_goes_on_with_the_result(server: ModelServer, llm: OpenAILLM, on_text: Any) -> None:
    server.rules += [{"match": r"I am (\w+)", "calls": [{"name": "note", "arguments": {"name": r"\1"}}]}]
    (call,) = (await llm.complete(Request(HI.messages, tools=(NOTE,)), on_text)).calls
    assert (call.name, json.loads(call.arguments)) == ("note", {"name": "Ada"})
    result = (PromptMessage("assistant", "", calls=(call,)), PromptMessage("tool", "noted", call_id=call.id))
    assert (await llm.complete(Request((*HI.messages, *result)), on_text)).text == "Done: noted"


async def test_it_fails_cuts_and_recovers_as_scripted(server: ModelServer, llm: OpenAILLM) -> None:
    server.rules += [
        {"times": 1, "status": 429, "headers": {"Retry-After": "0"}, "body": {"error": {"message": "slow down"}}},
        {"times": 1, "reply": "one two three four", "cut": 10},
    ]
    completion = await llm.complete(HI, watch)
    assert (completion.text, completion.finish) == ("one two", "interrupted")
    assert (await llm.complete(HI, watch)).finish == "stop"


async def test_summaries_and_facts_have_answers_of_their_own(llm: OpenAILLM) -> None:
    told = PromptMessage("user", "Ada: hi")
    summary = Request((PromptMessage("system", "You write the memory of a chat bot."), told), purpose="summary")
    assert (await llm.complete(summary)).text == "They spoke of: Ada: hi"
    facts = await llm.complete(Request((told,), schema={"type": "object"}, purpose="extract"))
    assert json.loads(facts.text) == {"facts": []}


async def test_a_fault_is_refused_and_kept(server: ModelServer, llm: OpenAILLM) -> None:
    with pytest.raises(LLMRejected, match=r"refused the request \(400\)"):
        await llm.complete(Request((PromptMessage("assistant", "Hi"), PromptMessage("user", "Hi"))))
    assert server.faults == ["message 0: the assistant speaks unasked"]


CALL = {"role": "assistant", "tool_calls": [{"id": "a"}]}
USER = {"role": "user", "content": "Hi"}


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([USER, {"role": "assistant", "content": " "}, USER], "is empty"),
        ([USER, CALL, USER], "comes before the results of"),
        ([USER, {"role": "tool", "tool_call_id": "a", "content": "x"}], "answers no call just made"),
        ([USER, CALL, {"role": "tool", "tool_call_id": "b", "content": "x"}], "answers no call just made"),
        ([USER, {"role": "system", "content": "x"}, USER], "a system message after"),
        ([USER, {"role": "assistant", "content": "x"}], "the last message is neither"),
        ([USER, CALL], "the last message is neither"),
    ],
)
def test_what_strict_servers_refuse_is_a_fault(messages: list[dict[str, Any]], fault: str) -> None:
    assert fault in "; ".join(faults_of({"model": "m", "messages": messages}))


def test_a_turn_with_calls_has_no_fault() -> None:
    calls = {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}, {"id": "b"}]}
    results = [{"role": "tool", "tool_call_id": id, "content": "x"} for id in ("b", "a")]
    last = {"role": "assistant", "content": "done"}
    assert list(faults_of({"model": "m", "messages": [USER, calls, *results, last, USER]})) == []


async def test_it_runs_as_a_program(tmp_path: Path) -> None:
    script, journal = tmp_path / "rules.json", tmp_path / "journal.jsonl"
    script.write_text('[{"match": "Ada", "reply": "Hello, Ada!"}]', encoding="utf-8")
    program = str(Path(__file__).with_name("model_server.py"))
    options = ("--script", str(script), "--journal", str(journal))
    process = await create_subprocess_exec(sys.executable, program, *options, stdout=subprocess.PIPE)
    assert process.stdout is not None
    llm = OpenAILLM(model="scripted", base_url=(await process.stdout.readline()).decode().strip())
    assert (await llm.complete(HI)).text == "Hello, Ada!"
    await llm.aclose()
    process.terminate()
    await process.wait()
    assert json.loads(journal.read_text(encoding="utf-8"))["faults"] == []
