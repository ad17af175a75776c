"""How tool calls come in, in the shapes that servers give them."""

import json

from core.llm import PromptMessage, Request, ToolCall
from tests.adapters.openai.scripted import WEATHER, Server, calling, said, stream, whole

ASK = Request((PromptMessage("user", "Weather?"),), tools=(WEATHER,))


def fragment(index: int | None, id: str | None, name: str | None, arguments: object) -> dict[str, object]:
    return {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


async def test_fragments_are_joined_by_their_index() -> None:
    parts = [fragment(0, "a", "weather", '{"ci'), fragment(1, "b", "time", ""), fragment(0, None, None, 'ty":1}')]
    server = Server(stream(*[calling(part) for part in parts], said("", "tool_calls")))
    completion = await server.llm().complete(ASK, server.show)
    assert completion.calls == (ToolCall("a", "weather", '{"city":1}'), ToolCall("b", "time", "{}"))
    assert completion.finish == "stop"


async def test_i11_arguments_as_an_object_and_calls_without_id_or_type_are_accepted() -> None:
    call = {"function": {"name": "weather", "arguments": {"city": "Köln"}}}
    completion = await Server(whole(None, "tool_calls", tool_calls=[call, call])).llm().complete(ASK)
    first, second = completion.calls
    assert json.loads(first.arguments) == {"city": "Köln"}
    assert first.id
    assert first.id != second.id


async def test_i11_the_generated_id_is_sent_back_with_the_result() -> None:
    call = {"function": {"name": "weather", "arguments": "{}"}}
    server = Server(whole(None, "tool_calls", tool_calls=[call]), whole("Sunny"))
    llm = server.llm()
    (made,) = (await llm.complete(ASK)).calls
    result = (PromptMessage("assistant", "", calls=(made,)), PromptMessage("tool", "sun", call_id=made.id))
    await llm.complete(Request((*ASK.messages, *result), tools=ASK.tools))
    _, assistant, tool = server.asked[1]["messages"]
    assert assistant["tool_calls"][0]["id"] == tool["tool_call_id"] == made.id
    assert assistant["content"] is None


async def test_broken_arguments_come_through_as_text() -> None:
    call = {"id": "a", "function": {"name": "weather", "arguments": '{"city": '}}
    completion = await Server(whole(None, "length", tool_calls=[call])).llm().complete(ASK)
    assert completion.calls == (ToolCall("a", "weather", '{"city": '),)


async def test_calls_that_all_have_the_same_index_are_told_apart_by_their_ids() -> None:
    parts = [fragment(0, "a", "weather", "{}"), fragment(0, "b", "weather", "{}")]
    server = Server(stream(calling(*parts, finish="tool_calls")))
    assert [call.id for call in (await server.llm().complete(ASK, server.show)).calls] == ["a", "b"]


async def test_calls_without_any_index_or_id_are_told_apart_by_their_names() -> None:
    parts = [fragment(None, None, "weather", {"city": 1}), fragment(None, None, "weather", {"city": 2})]
    server = Server(stream(calling(*parts, finish="tool_calls")))
    completion = await server.llm().complete(ASK, server.show)
    assert [call.arguments for call in completion.calls] == ['{"city": 1}', '{"city": 2}']


async def test_the_old_function_call_is_ignored() -> None:
    completion = await Server(whole("Hi", function_call={"name": "x", "arguments": "{}"})).llm().complete(ASK)
    assert (completion.text, completion.calls) == ("Hi", ())


async def test_calls_of_an_interrupted_answer_are_not_made() -> None:
    server = Server(stream(said("Let me see"), calling(fragment(0, "a", "weather", '{"ci'))))
    completion = await server.llm().complete(ASK, server.show)
    assert (completion.calls, completion.finish) == ((), "interrupted")


async def test_a_stream_that_breaks_within_a_call_is_tried_again() -> None:
    whole_call = calling(fragment(0, "a", "weather", "{}"), finish="tool_calls")
    server = Server(stream(calling(fragment(0, "a", "weather", '{"ci'))), stream(whole_call))
    assert (await server.llm().complete(ASK, server.show)).calls == (ToolCall("a", "weather", "{}"),)
