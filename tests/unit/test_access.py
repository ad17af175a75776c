"""Who may speak with the bot, and who is an admin."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.inmemory import InMemoryStore
from core.access import Access
from core.messages import ChatKey, Message, Person
from tests.fakes import World

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def message(who: str = "anna", chat: str = "anna", **more: Any) -> Message:
    return Message("1", ChatKey("test", chat), Person("test", who), "hi", NOW, **more)


def access(admins: list[str] | None = None, allowed: list[str] | None = None) -> Access:
    return Access(admins or [], allowed or [], InMemoryStore())


@pytest.mark.parametrize("entry", ["test:anna", "test:*", "*", "test:club"])
async def test_who_is_named_may_speak(entry: str) -> None:
    assert await access(allowed=[entry]).may_speak(message(chat="club"))
    of_table = access()
    await of_table._store.allow(entry, "test:root", NOW)
    assert await of_table.may_speak(message(chat="club"))
    await of_table._store.disallow(entry)
    assert not await of_table.may_speak(message(chat="club"))


async def test_a_chats_entry_holds_in_all_its_topics() -> None:
    topic = Message("1", ChatKey("test", "club", "17"), Person("test", "bob"), "hi", NOW)
    assert await access(allowed=["test:club"]).may_speak(topic)


@pytest.mark.parametrize("anonymous", [False, True])
async def test_a_servers_entry_holds_in_all_its_chats_and_nowhere_else(anonymous: bool) -> None:
    of = access(allowed=["test:house"])
    said = message(chat="club", private=False, anonymous=anonymous, server="house")
    assert await of.may_speak(said)
    assert not await of.may_speak(message())
    await of.block("test:house", "test:root", NOW)
    assert not await of.may_speak(said)


@pytest.mark.parametrize("allowed", [[], ["test:bob"], ["other:*"], ["test:ann"], ["anna"], ["@anna"], ["test"]])
async def test_nobody_else_may(allowed: list[str]) -> None:
    assert not await access(allowed=allowed).may_speak(message(chat="club"))


@pytest.mark.parametrize("admins", [["test:anna"], ["test:*"]])
async def test_an_admin_may_always_speak(admins: list[str]) -> None:
    of = access(admins)
    assert of.is_admin(Person("test", "anna"))
    assert await of.may_speak(message(chat="club"))


@pytest.mark.parametrize("admins", [[], ["*"], ["test:bob"], ["other:anna"], ["other:*"], ["anna"]])
async def test_nobody_becomes_admin_by_chance(admins: list[str]) -> None:
    assert not access(admins).is_admin(Person("test", "anna"))
    assert not await access(admins).may_speak(message(chat="club"))


async def test_the_allow_table_makes_nobody_admin() -> None:
    of = access()
    await of._store.allow("test:anna", "test:root", NOW)
    assert not of.is_admin(Person("test", "anna"))


async def test_who_stands_for_nobody_is_known_by_the_chat_alone() -> None:
    anonymous = message("root", "club", private=False, anonymous=True)
    assert not access(["test:root"]).is_admin(Person("test", "root"), anonymous=True)
    assert not await access(["test:root"], ["test:root"]).may_speak(anonymous)
    assert await access(allowed=["test:club"]).may_speak(anonymous)


async def test_without_an_allow_list_the_bot_is_closed() -> None:
    world = World(allowed=())
    assert await world.say("Hello, I am Zebulon") is None
    assert not world.llm.requests
    assert await world.store.holds("Zebulon") == []
    assert await world.store.waiting() == []
    assert await world.said("hello", who="root") == "You said: hello"


async def test_a_stranger_is_told_their_own_id_once_and_nothing_is_stored() -> None:
    world = World(allowed=("test:bob",))
    for text in ("Zebulon", "Zebulon", "/memory", "/forget me yes", "/whoami"):
        await world.say(text, who="5000000000")
    (told,) = world.adapter.texts()
    assert told.startswith("I don't know you yet. Tell the operator the code ")
    assert told.endswith("your id is test:5000000000.")
    assert await world.store.holds("Zebulon") == []
    assert await world.store.holds("5000000000") == ["pairing"]
    assert not (await world.store.stats()).people
    assert not world.llm.requests


async def test_start_always_tells_a_stranger_their_id() -> None:
    world = World(allowed=())
    for _ in range(2):
        await world.say("/start", who="42")
    assert [t.endswith("your id is test:42.") for t in world.adapter.texts()] == [True, True]


async def test_a_message_a_stranger_sends_again_after_being_let_in_is_heard() -> None:
    world = World(allowed=())
    said = world.message("Hello")
    await world.engine.handle(said)
    await world.store.allow("test:anna", "test:root", world.clock.now())
    reply = await world.engine.handle(said)
    assert reply is not None
    assert reply.text == "You said: Hello"


async def test_strangers_in_a_group_get_no_word_unless_they_address_the_bot() -> None:
    world = World(allowed=())
    await world.say("chat among people", chat="club", group=True, addressed=False)
    await world.say("post of a channel", chat="club", group=True, anonymous=True)
    assert world.adapter.texts() == []


async def test_everyone_who_may_speak_may_forget_their_own() -> None:
    world = World(allowed=("test:anna",))
    await world.say("Zebulon")
    assert "turns: 1" in await world.said("/forget me yes")
    assert await world.store.holds("Zebulon") == []


async def test_logs_hold_ids_but_no_words_and_no_names(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    with caplog.at_level("INFO"):
        await world.say("my words are Zebulon", name="Quux")
        world.llm.answer = lambda request: RuntimeError("Zebulon")
        await world.say("again Zebulon", name="Quux")
        await world.say("/memory why Zebulon", name="Quux")
    assert "Zebulon" not in caplog.text
    assert "Quux" not in caplog.text
