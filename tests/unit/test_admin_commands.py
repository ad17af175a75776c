"""What admins may see and do, and nobody else."""

from __future__ import annotations

import re
from typing import Any

import pytest

from core.commands.admin import ADMIN_COMMANDS
from core.errors import LLMUnavailable
from core.messages import ChatKey, Person
from core.notes import Note
from tests.fakes import World
from tests.talks import a_world, facts, tell

CLUB: dict[str, Any] = {"chat": "club", "group": True}


async def a_town() -> World:
    """Anna has talked in private and in a group, bob in the group."""
    world = a_world()
    await tell(world, "I am Zebulon", ("add", "name", "Zebulon"))
    await tell(world, "I play chess", ("add", "hobbies", "chess"), **CLUB)
    await tell(world, "bob plays go", ("add", "hobbies", "go"), who="bob", **CLUB)
    return world


@pytest.mark.parametrize("command", [f"/{c.name} test:anna yes" for c in ADMIN_COMMANDS])
@pytest.mark.parametrize("who", [{"who": "anna"}, {"who": "root", "anonymous": True, **CLUB}])
async def test_nobody_else_may_use_them(command: str, who: dict[str, Any]) -> None:
    world = await a_town()
    reply = await world.said(command, **who)
    assert "Only an admin" in reply or "nobody in particular" in reply
    assert "Zebulon" not in reply
    assert await facts(world) == {"name": "Zebulon"}
    assert not await world.store.audited()


async def test_every_use_is_audited_with_who_what_and_where() -> None:
    world = await a_town()
    for command in ("/admin stats", "/admin memory view test:anna", "/admin memory view nonsense"):
        await world.say(command, who="root")
    entries = [(e.admin, e.action, e.target) for e in await world.store.audited()]
    assert entries == [
        ("test:root", "/admin memory view nonsense", "test:root"),
        ("test:root", "/admin memory view test:anna", "test:root"),
        ("test:root", "/admin stats", "test:root"),
    ]


async def test_a_chat_is_shown_with_its_people_and_summaries() -> None:
    world = await a_town()
    for n in range(30):
        await world.say(f"line {n}", **CLUB)
    await world.engine.compactor.compact(ChatKey("test", "club"), low=True)
    shown = await world.said("/admin memory view", who="root", **CLUB)
    assert shown.startswith("test:club: 32 turns, 1 segment, last active 2026-03-01 12:00 UTC")
    assert "test:anna (test:club) hobbies: chess" in shown
    assert "test:bob (test:club) hobbies: go" in shown
    assert "They talked." in shown
    assert "Zebulon" not in shown


async def test_a_person_is_shown_with_all_their_scopes() -> None:
    world = await a_town()
    await world.store.note(Person("test", "anna"), "private", Note("mine:ToDo", "buy milk", "today", "test:anna"))
    shown = (await world.said("/admin memory view test:anna", who="root")).splitlines()
    assert "test:anna (private) mine:ToDo buy milk: today" in shown
    assert "test:anna (private) name: Zebulon" in shown
    assert "test:anna (test:club) hobbies: chess" in shown
    assert len(shown) == len(set(shown))
    assert await world.said("/admin memory view test:nobody", who="root") == "Nothing is stored of test:nobody."


@pytest.mark.parametrize("whom", ["yes", "anna", "test:", ":anna", "test:a/", "🦊", "test"])
async def test_a_wrong_name_is_told(whom: str) -> None:
    world = await a_town()
    for command in ("view", "clear"):
        assert "is not a chat" in await world.said(f"/admin memory {command} {whom}", who="root")


async def test_clearing_asks_first() -> None:
    world = await a_town()
    reply = await world.say("/admin memory clear test:anna", who="root")
    assert reply is not None
    assert await facts(world)
    assert (await world.said(reply.choices[0].command, who="root")).startswith("Erased: ")
    assert await facts(world) == {}


async def test_the_owner_can_erase_a_person_who_is_gone_wherever_they_spoke() -> None:
    world = await a_town()
    await world.say("/admin memory clear test:anna yes", who="root")
    assert await world.store.holds("Zebulon") == []
    assert await world.store.holds("chess") == []
    assert await world.store.scopes(Person("test", "anna")) == []
    assert await facts(world, "bob", "club", group=True) == {"hobbies": "go"}
    assert await world.said("/admin memory clear test:anna yes", who="root") == "There was nothing to erase."
    assert not await world.store.verify()


async def test_clearing_a_group_takes_its_topics_and_its_peoples_facts_there() -> None:
    world = await a_town()
    message = world.message("in a topic", **CLUB)
    values = {field: getattr(message, field) for field in message.__slots__} | {"chat": ChatKey("test", "club", "17")}
    await world.engine.handle(type(message)(**values))
    await world.say("/admin memory clear test:club/17 yes", who="root")
    assert await world.store.holds("in a topic") == []
    assert await world.store.holds("bob plays go")
    await world.engine.handle(type(message)(**values | {"id": "again"}))
    await world.say("/admin memory clear test:club yes", who="root")
    for text in ("in a topic", "bob plays go", "chess"):
        assert await world.store.holds(text) == []
    assert await facts(world) == {"name": "Zebulon"}


async def test_a_chat_whose_name_has_spaces_can_be_cleared() -> None:
    world = a_world()
    await world.say("Zebulon", chat="my chat", who="anna")
    assert await world.said("/admin memory clear test:my chat YES", who="root") == "Erased: turns: 1."


async def test_compacting_tells_what_came_of_it() -> None:
    world = await a_town()
    assert await world.said("/admin compact", who="root") == "There was nothing to compact here."
    for n in range(30):
        await world.say(f"line {n}", who="root")
    assert await world.said("/admin compact everything", who="root") == "Please say it as /admin compact [all]"
    world.llm.summary = lambda request: LLMUnavailable("the server is down")
    assert "nothing has changed: the server is down" in await world.said("/admin compact", who="root")
    world.llm.summary = lambda request: type(world.llm.answer(request))("They counted lines.")
    assert await world.said("/admin compact", who="root") == "This chat is compacted."
    for n in range(30):
        await world.say(f"line {n}")
    assert await world.said("/admin compact all", who="root") == "Compacted: 1 chat."


async def test_stats_count_what_is_stored_and_delivered() -> None:
    world = await a_town()
    stats = await world.said("/admin stats", who="root")
    for line in ("chats: 2", "people: 2", "turns: 3", "facts: 3", "failed jobs since the start: 0"):
        assert line in stats.splitlines()
    assert "test: 3 chunks sent" in stats
    assert any(re.fullmatch(r"turns by day: ▁{13}█ today 3, in 14 days 3", line) for line in stats.splitlines())
    assert "seconds to an answer: " in stats


async def test_an_admins_replies_in_a_group_are_for_them_alone() -> None:
    world = await a_town()
    for command in ("/admin stats", "/admin memory view", "/admin memory clear test:anna", "/admin compact"):
        await world.say(command, who="root", **CLUB)
        assert world.adapter.shown[-1].out.only_for == Person("test", "root")
