"""What a server refuses is given up once, and not tried again."""

from collections.abc import Callable
from typing import Any

import pytest

from core.errors import LLMRejected
from core.llm import PromptMessage, Request, ToolCall
from core.messages import Attachment
from tests.adapters.openai.scripted import HI, WEATHER, Server, refused, said, stream, whole

CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
OPEN = {"type": "object", "properties": {"a": {"type": "string"}}}
LIMITED = {**CLOSED, "properties": {"a": {"type": "string", "maxLength": 9}}}
PHOTO = Attachment("image", media_type="image/jpeg", data=b"\xff\xd8")
SEE = Request((PromptMessage("user", "What is it?", images=(PHOTO,)),))
TOOLS = Request((PromptMessage("user", "Weather?"),), tools=(WEATHER,))


def test_n05_a_model_nobody_knows_needs_no_other_setting() -> None:
    assert Server(whole("")).llm(model="brand-new").context == 8192


@pytest.mark.parametrize(
    ("model", "context"),
    [("gpt-4o-mini", 128_000), ("openai/gpt-4.1-mini", 1_047_576), ("gpt-4-0613", 8192), ("gpt-5.2", 400_000)],
)
def test_the_context_of_a_known_model_need_not_be_set(model: str, context: int) -> None:
    assert Server(whole("")).llm(model=model).context == context


@pytest.mark.parametrize(
    ("message", "param", "sent", "then"),
    [
        (
            "Unsupported parameter: 'max_tokens' is not supported here. Use 'max_completion_tokens' instead.",
            "max_tokens",
            lambda body: body["max_tokens"] == 9,
            lambda body: body["max_completion_tokens"] == 9 and "max_tokens" not in body,
        ),
        (
            "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) is supported.",
            "temperature",
            lambda body: body["temperature"] == 0.7,
            lambda body: "temperature" not in body,
        ),
        (
            "Unrecognized request argument supplied: temperature",
            None,
            lambda body: body["temperature"] == 0.7,
            lambda body: "temperature" not in body and body["max_tokens"] == 9,
        ),
        (
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            "messages[0].role",
            lambda body: body["messages"][0]["role"] == "system",
            lambda body: body["messages"] == [{"role": "user", "content": "Be kind.\n\nHi"}],
        ),
        (
            "System messages are not supported, use role developer",
            None,
            lambda body: body["messages"][0]["role"] == "system",
            lambda body: body["messages"][0]["role"] == "developer",
        ),
    ],
    ids=["max_tokens", "temperature", "unrecognized", "system", "developer"],
)
async def test_n07_a_parameter_a_model_refuses_is_dropped_or_renamed_and_that_is_remembered(
    message: str, param: str | None, sent: Callable[[Any], bool], then: Callable[[Any], bool]
) -> None:
    server = Server(refused(400, message, param=param), whole("Hi"))
    llm = server.llm(reply_tokens=9, extra={"temperature": 0.7})
    assert (await llm.complete(HI)).text == (await llm.complete(HI)).text == "Hi"
    assert sent(server.asked[0])
    assert all(map(then, server.asked[1:]))
    assert (len(server.asked), server.naps) == (3, [])


async def test_n07_streaming_is_given_up_where_it_is_refused() -> None:
    server = Server(refused(400, "Streaming is not supported", param="stream"), whole("Hi"))
    assert (await server.llm().complete(HI, server.show)).text == "Hi"
    assert server.shown == ["Hi"]


async def test_a_server_that_only_streams_is_streamed_from() -> None:
    server = Server(refused(400, "This model only supports stream mode"), stream(said("Hi", "stop")))
    assert (await server.llm().complete(HI)).text == "Hi"


async def test_a_server_that_streams_unasked_is_streamed_from() -> None:
    server = Server(stream(said("Hi", "stop")), stream(said("Hi", "stop")))
    assert (await server.llm().complete(HI)).text == "Hi"
    assert [asked.get("stream") for asked in server.asked] == [None, True]


async def test_a_model_not_found_is_not_taken_for_tools_refused() -> None:
    server = Server(refused(404, "model 'my-tools' not found, try pulling it first"))
    with pytest.raises(LLMRejected, match="KEEPMIND_MODEL"):
        await server.llm().complete(TOOLS)
    assert len(server.asked) == 1


async def test_usage_in_streams_is_given_up_before_streams_are() -> None:
    server = Server(refused(400, "Unknown parameter: stream_options"), stream(said("Hi", "stop")))
    await server.llm().complete(HI, server.show)
    assert server.asked[1]["stream"] is True
    assert "stream_options" not in server.asked[1]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "registry.ollama.ai/library/gemma does not support tools"),
        (404, "No endpoints found that support tool use."),
        (500, "tools param requires --jinja flag"),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        (400, "Function calling is not enabled for this model"),
    ],
)
async def test_n07_tools_are_given_up_where_they_are_refused(status: int, message: str) -> None:
    server = Server(refused(status, message), whole("Hi"))
    llm = server.llm()
    before = llm.calls_tools
    assert (await llm.complete(TOOLS)).text == "Hi"
    assert (before, llm.calls_tools) == (True, False)
    assert "tools" not in server.asked[1]


async def test_earlier_calls_are_told_in_words_to_a_model_without_tools() -> None:
    server = Server(whole("Hi"))
    call = ToolCall("a", "weather", "{}")
    turn = (PromptMessage("assistant", "Let me see", calls=(call,)), PromptMessage("tool", "sun", call_id="a"))
    await server.llm(calls_tools=False).complete(Request((*TOOLS.messages, *turn), tools=TOOLS.tools))
    assert server.asked[0]["messages"][1:] == [
        {"role": "assistant", "content": "Let me see"},
        {"role": "user", "content": "[Result of a tool: sun]"},
    ]


async def test_m08_an_image_goes_along_as_a_data_url() -> None:
    server = Server(whole("A cat"))
    await server.llm().complete(SEE)
    text, image = server.asked[0]["messages"][0]["content"]
    assert text == {"type": "text", "text": "What is it?"}
    assert image == {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,/9g="}}


@pytest.mark.parametrize(
    "message",
    [
        "Invalid content type. image_url is only supported by certain models.",
        "This model does not support image input",
        "messages[0].content must be a string",
        "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
    ],
)
async def test_m08_images_are_stripped_where_they_are_refused_and_never_sent_again(message: str) -> None:
    server = Server(refused(400, message), whole("I can't see it"))
    llm = server.llm()
    await llm.complete(SEE)
    await llm.complete(SEE)
    assert len(server.asked) == 3
    for asked in server.asked[1:]:
        assert asked["messages"][0]["content"] == "What is it?\n[An image was sent here, which can't be seen now.]"


@pytest.mark.parametrize(
    "message",
    [
        "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png'].",
        "Invalid image data",
        "Could not process image",
        "image format image/gif is not supported",
        "The model does not support image format webp",
        "At least one of the image dimensions exceed max allowed size: 8000 pixels",
        "cannot identify image file <_io.BytesIO object at 0x7f>",
        "Failed to load image or audio file",
        "Unsupported MIME type: image/gif",
    ],
)
async def test_a_picture_that_is_refused_for_itself_blinds_nobody(message: str) -> None:
    other = Attachment("image", media_type="image/png", data=b"\x89PNG")
    server = Server(refused(400, message), whole("I can't see it"))
    llm = server.llm()
    await llm.complete(SEE)
    await llm.complete(SEE)
    await llm.complete(Request((PromptMessage("user", "And this?", images=(other,)),)))
    unseen = "What is it?\n[An image was sent here, which can't be seen now.]"
    assert [asked["messages"][0]["content"] for asked in server.asked[1:3]] == [unseen, unseen]
    assert [part["type"] for part in server.asked[3]["messages"][0]["content"]] == ["text", "image_url"]


async def test_an_image_whose_bytes_are_gone_is_told_of() -> None:
    server = Server(whole("Hi"))
    await server.llm().complete(Request((PromptMessage("user", "", images=(Attachment("image"),)),)))
    assert server.asked[0]["messages"][0]["content"] == "[An image was sent here, which can't be seen now.]"


@pytest.mark.parametrize(("schema", "strict"), [(CLOSED, True), (OPEN, False), (LIMITED, False)])
async def test_a_schema_constrains_the_answer_strictly_when_it_obeys_the_strict_rules(
    schema: dict[str, Any], strict: bool
) -> None:
    server = Server(whole("{}"))
    await server.llm().complete(Request(HI.messages, schema=schema, purpose="extract"))
    assert server.asked[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "extract", "schema": schema, "strict": strict},
    }


async def test_a_schema_falls_back_to_any_json_and_then_to_words() -> None:
    server = Server(
        refused(400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported"),
        refused(400, "'response_format.type' must be 'text'"),
        whole("{}"),
    )
    await server.llm().complete(Request(HI.messages, schema=CLOSED))
    first, second, third = server.asked
    assert (first["response_format"]["type"], second["response_format"]) == ("json_schema", {"type": "json_object"})
    assert "response_format" not in third
    assert third["messages"][-1]["content"].startswith("Answer with nothing but JSON that fits this schema: {")


async def test_roles_are_made_to_alternate_where_a_template_demands_it() -> None:
    two = (PromptMessage("user", "Hi"), PromptMessage("user", "You there?"))
    server = Server(refused(500, "Conversation roles must alternate user/assistant/user/assistant/..."), whole("Yes"))
    await server.llm().complete(Request(two))
    assert server.asked[1]["messages"] == [{"role": "user", "content": "Hi\n\nYou there?"}]


async def test_a_model_that_refuses_everything_is_asked_only_as_often_as_there_is_something_to_give_up() -> None:
    server = Server(refused(400, "system role, tools, image, stream and stream_options are not supported"))
    with pytest.raises(LLMRejected):
        await server.llm().complete(Request((*HI.messages, *SEE.messages), tools=(WEATHER,)), server.show)
    assert len(server.asked) <= 7


async def test_parameters_of_answers_are_not_sent_for_summaries() -> None:
    server = Server(whole("Hi"))
    llm = server.llm(answer_extra={"temperature": 0.7, "top_p": None})
    await llm.complete(HI)
    await llm.complete(Request(HI.messages, purpose="summary"))
    assert [asked.get("temperature") for asked in server.asked] == [0.7, None]
    assert "top_p" not in server.asked[0]


async def test_half_an_emoji_does_not_break_a_request() -> None:
    server = Server(whole("Hi"))
    await server.llm().complete(Request((PromptMessage("user", "\ud83d\ude00 and \ud83d"),)))
    assert server.asked[0]["messages"][0]["content"] == "😀 and \ufffd"
