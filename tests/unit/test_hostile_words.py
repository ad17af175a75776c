"""Words, ids and files made to break out of their place: commands, keys, chats and exports."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.console import place
from core import sentences
from core.draft import normal_key
from core.errors import CommandError, ToolError
from core.importing import read
from core.messages import Attachment, ChatKey, Person
from tests.fakes import World
from tests.spoilt import ODD, spoilt

COMMANDS = [
    "/memory",
    "/memory why",
    "/memory history",
    "/search",
    "/forget",
    "/forget message",
    "/link",
    "/export",
    "/incognito",
    "/timezone",
    "/usage",
    "/admin memory view",
    "/admin block",
    "/aside",
    "/no_such",
]
WORDS = [
    "' OR 1=1 --",
    "%_%",
    '"NEAR(a* b)" -x ^',
    "../../x",
    "\0",
    "\ud800",
    "9" * 400,
    "x" * 20_000,
    "𝕏\u202e\u200b",
    "{0} {x} %s",
]
ids = st.text(min_size=1, max_size=12).filter(str.strip)


@pytest.mark.parametrize("words", WORDS, ids=range(len(WORDS)))
async def test_no_words_behind_a_command_meet_a_bug(words: str) -> None:
    world = World()
    await world.say("hello")
    for who in ("anna", "root"):
        for command in COMMANDS:
            reply = await world.say(f"{command} {words}", who=who)
            assert reply is None or reply.text != sentences.APOLOGY_COMMAND, command


@given(ids, ids | st.none(), ids, ids | st.none())
def test_two_chats_are_written_alike_only_if_they_are_one(
    chat: str, topic: str | None, other_chat: str, other_topic: str | None
) -> None:
    one, other = ChatKey("a", chat, topic), ChatKey("a", other_chat, other_topic)
    assert (str(one) == str(other)) == (one == other)
    assert ChatKey.parse(str(one)) == one
    assert Person.parse(str(Person("a", chat))) == Person("a", chat)


@pytest.mark.parametrize("name", ["telegram:42", "discord:9/7", "console:anna", "telegram%3A42"])
def test_nobody_at_a_terminal_is_somebody_elsewhere(name: str) -> None:
    chat, person = place("", name)
    assert (chat.platform, person.platform) == ("console", "console")
    assert not str(person).startswith("telegram")
    assert Person.parse(str(person)) == person


@given(st.text(max_size=100))
def test_a_key_is_normal_or_refused_and_stays_what_it_is(one: str) -> None:
    try:
        key = normal_key(one)
    except ToolError:
        return
    assert normal_key(key) == key
    assert not set(key) & set("/.:%'\"<> \n\0")


@pytest.fixture(scope="module")
def export() -> Any:
    async def made() -> Any:
        world = World()
        await world.say("hello")
        reply = await world.say("/export")
        assert reply
        assert reply.file
        return json.loads(reply.file.data or reply.file.text)

    return asyncio.run(made())


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_a_spoilt_export_is_taken_or_refused_in_one_sentence(export: Any, data: st.DataObject) -> None:
    """Whatever of it is wrong, nothing but one's own chat is written."""
    spoiled = json.dumps(data.draw(spoilt(export)), ensure_ascii=True).encode()
    asyncio.run(_brought(spoiled))


async def _brought(data: bytes) -> None:
    world = World()
    await world.say("mine", who="bob")
    reply = await world.say("/import", attachments=(Attachment("file", "e.json", data=data),))
    assert reply
    assert reply.text != sentences.APOLOGY_COMMAND, data
    assert "\n" not in reply.text
    assert len((await world.store.load(ChatKey("test", "bob"))).turns) == 1


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[" * 300_000,
        b"\xff",
        b"null",
        b'{"schema": 1e999}',
        *(str(odd).encode("utf-8", "replace") for odd in ODD),
    ],
)
def test_what_is_no_export_is_refused(data: bytes) -> None:
    with pytest.raises(CommandError):
        read(data)
