"""What was exported comes back, here or elsewhere, whole or not at all; a hostile file is refused in one sentence."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adapters.sql import open_store
from core.exported import Export
from core.messages import Attachment, ChatKey, Person
from tests.export_schema import PATH, written
from tests.fakes import World
from tests.talks import a_world, facts, here, tell

CLUB: dict[str, Any] = {"chat": "club", "group": True}
Data = dict[str, Any]


async def exported(world: World, who: str = "anna") -> Data:
    reply = await world.say("/export", who)
    assert reply is not None
    assert reply.file is not None
    data: Data = json.loads(reply.file.data)
    return data


async def import_into(world: World, data: Data | str | bytes, who: str = "anna", **more: Any) -> str:
    raw = data if isinstance(data, bytes) else (data if isinstance(data, str) else json.dumps(data)).encode()
    file = Attachment("file", "export.json", "application/json", data=raw)
    return await world.said("/import", who, attachments=(file,), **more)


async def a_life() -> World:
    """A bot that has talked with Anna for a while, and folded the beginning."""
    world = a_world()
    await tell(world, "I am Anna and play chess", ("add", "name", "Anna"), ("add", "hobbies", "chess"))
    world.clock.time += timedelta(days=1)
    await tell(world, "I also play go, in Rome", ("add", "hobbies", "go"), ("add", "city", "Rome"))
    await tell(world, "not chess", ("remove", "hobbies", "chess"))
    await tell(world, "I row here", ("add", "hobbies", "rowing"), **CLUB)
    for number in range(30):
        await world.say(f"line {number}")
    await world.engine.compactor.compact(ChatKey("test", "anna"), low=True)
    await world.say("/memory ask")
    return world


async def test_everything_comes_back_into_an_empty_bot() -> None:
    data, world = await exported(await a_life()), a_world()
    told = await import_into(world, data, "bea")
    assert told == (
        "Imported. 3 facts are new or newer. I remember 33 turns of our talk. "
        "What is known of you from groups elsewhere was left out."
    )
    assert await facts(world, "bea") == {"name": "Anna", "hobbies": ["go"], "city": "Rome"}
    talk = await here(world, "bea")
    assert len(talk.segments) == 1
    assert talk.segments[0].turns + len(talk.turns) == 33
    assert talk.turns[-1].message.text == "line 29"
    assert talk.turns[-1].answer is not None
    assert all(turn.sender == Person("test", "bea") and turn.tokens for turn in talk.turns)
    assert (await world.store.settings(Person("test", "bea"))).memory == "ask"
    assert await world.store.verify() == []


async def test_what_came_back_is_used() -> None:
    data, world = await exported(await a_life()), a_world()
    await import_into(world, data, "bea")
    await world.say("hi", "bea")
    for part in ('"city": "Rome"', "line 29", "They talked."):
        assert part in world.prompt()


async def test_each_fact_says_that_it_was_imported_and_when_it_was_told() -> None:
    data, world = await exported(await a_life()), a_world()
    await import_into(world, data, "bea")
    assert await world.said("/memory why city", "bea") == (
        "city = Rome: on 2026-03-02 you said: «I also play go, in Rome» (written by: import)"
    )


async def test_the_history_comes_along_and_only_the_import_is_taken_back() -> None:
    data, world = await exported(await a_life()), a_world()
    await import_into(world, data, "bea")
    history = await world.said("/memory history", "bea")
    assert "2026-03-02 12:00 remove hobbies: chess, go → go" in history
    for _ in range(3):
        assert "Taken back" in await world.said("/memory undo", "bea")
    assert await facts(world, "bea") == {}
    assert await world.said("/memory undo", "bea") == "There is nothing to take back."


async def test_importing_twice_changes_nothing() -> None:
    data, world = await exported(await a_life()), a_world()
    await import_into(world, data, "bea")
    before = await exported(world, "bea")
    assert "0 facts" in await import_into(world, data, "bea")
    after = await exported(world, "bea")
    assert after == before


async def test_an_account_that_exports_and_imports_its_own_is_as_it_was() -> None:
    world = await a_life()
    before = await facts(world), await facts(world, "anna", "club", group=True), len((await here(world)).path)
    told = await import_into(world, await exported(world))
    assert "0 facts" in told
    assert "begun already" in told
    after = await facts(world), await facts(world, "anna", "club", group=True), len((await here(world)).path)
    assert after == before


async def test_groups_come_back_for_the_account_that_was_in_them() -> None:
    data, world = await exported(await a_life()), a_world()
    assert "left out" not in await import_into(world, data)
    assert await facts(world, "anna", "club", group=True) == {"hobbies": "rowing"}


async def branched() -> World:
    """A bot that has talked with Anna on several branches, and is aside."""
    world = a_world()
    for text in (
        "one",
        "left",
        "/undo",
        "two",
        "/retry",
        "/aside",
        "within",
        "/back keep",
        "three",
        "/aside",
        "deeper",
    ):
        await world.say(text)
        await until_calm(world)
    return world


async def until_calm(world: World) -> None:
    while await world.store.open_turns():  # noqa: ASYNC110 -- an answer made anew has no future to wait for
        await asyncio.sleep(0)


def shape(data: Data) -> list[object]:
    """The tree of a private chat with what was said, its turns numbered as they stand."""
    chat = chat_of(data)
    number = {None: None, **{turn["id"]: n for n, turn in enumerate(chat["turns"])}}
    turns = [
        (number[t["parent"]], t["inside"], number[t["retry_of"]], t["messages"][0]["text"], t["answer"]["text"])
        for t in chat["turns"]
    ]
    segments = [(number[s["before"]], number[s["last"]], s["text"], s["made_by"]) for s in chat["segments"]]
    return [turns, segments, number[chat["head"]], [number[turn] for turn in chat["asides"]]]


async def test_branches_come_back_as_they_were_and_the_talk_goes_on_where_it_was() -> None:
    old, world = await branched(), a_world()
    data = await exported(old)
    assert await import_into(world, data, "bea")
    assert shape(await exported(world, "bea")) == shape(data)
    for who, bot in (("anna", old), ("bea", world)):
        await bot.say("/back", who)
        await bot.say("and now?", who)
        assert "deeper" not in bot.prompt()
        assert "three" in bot.prompt()
        assert "left" not in bot.prompt()
    assert await world.store.verify() == []


async def test_what_is_known_here_counts_unless_the_file_is_newer() -> None:
    data, world = await exported(await a_life()), a_world()
    await tell(world, "I live in Oslo and ski", ("add", "city", "Oslo"), ("add", "hobbies", "skiing"), who="bea")
    await import_into(world, data, "bea")
    assert await facts(world, "bea") == {"city": "Rome", "hobbies": ["skiing", "go"], "name": "Anna"}
    world.clock.time += timedelta(days=5)
    await world.say("/memory set city Paris", "bea")
    await import_into(world, data, "bea")
    assert (await facts(world, "bea"))["city"] == "Paris"


async def test_a_talk_that_has_begun_stays_as_it_is() -> None:
    data, world = await exported(await a_life()), a_world()
    await world.say("hello", "bea")
    assert "begun already" in await import_into(world, data, "bea")
    assert [t.message.text for t in (await here(world, "bea")).turns] == ["hello"]


async def test_what_was_chosen_here_stays() -> None:
    data, world = await exported(await a_life()), a_world()
    await world.say("/memory share on", "bea")
    await import_into(world, data, "bea")
    settings = await world.store.settings(Person("test", "bea"))
    assert (settings.memory, settings.share) == ("on", True)


async def test_a_file_never_shares_nor_hides() -> None:
    data = await exported(await a_life())
    data["settings"] |= {"share": True, "incognito": True}
    world = a_world()
    await import_into(world, data, "bea")
    settings = await world.store.settings(Person("test", "bea"))
    assert not settings.share
    assert not settings.incognito


async def test_facts_of_linked_accounts_come_along() -> None:
    old = await a_life()
    await tell(old, "I have a cat", ("add", "pets", "cat"), who="ann2")
    await old.store.offer_link(Person("test", "anna"), "ONE", old.clock.now() + timedelta(hours=1))
    await old.store.link("ONE", Person("test", "ann2"), old.clock.now())
    world = a_world()
    await import_into(world, await exported(old), "bea")
    assert (await facts(world, "bea"))["pets"] == "cat"


async def test_an_imported_talk_gets_no_second_look() -> None:
    data, world = await exported(await a_life()), a_world()
    data["settings"]["memory"] = "on"
    await import_into(world, data, "bea")
    world.clock.time += timedelta(days=9)
    await world.engine.compactor.tick()
    await world.settle()
    assert not world.llm.of("extract")


async def test_forgetting_reaches_what_was_imported() -> None:
    data, world = await exported(await a_life()), a_world()
    await import_into(world, data, "bea")
    await world.say("/forget chat yes", "bea")
    assert await facts(world, "bea") == {}
    assert await world.store.holds("Rome") == []
    assert await world.store.holds("line 3") == []


@pytest.mark.parametrize(("command", "told"), [("/memory off", "Memory is off"), ("/incognito", "You are incognito")])
async def test_nothing_is_imported_where_nothing_may_be_kept(command: str, told: str) -> None:
    data, world = await exported(await a_life()), a_world()
    await world.say(command, "bea")
    assert told in await import_into(world, data, "bea")
    assert await facts(world, "bea") == {}


async def test_an_import_is_for_private_talk_and_needs_a_file() -> None:
    data, world = await exported(await a_life()), a_world()
    assert "in our private talk" in await import_into(world, data, "bea", **CLUB)
    assert "send a file with it" in await world.said("/import", "bea")


# -- what is refused: whole, in one sentence --------------------------------------------------------------------------


def fact_of(data: Data, key: str = "city") -> Data:
    return next(fact for fact in data["facts"]["private"] if fact["key"] == key)


def chat_of(data: Data) -> Data:
    return next(chat for chat in data["chats"] if chat["private"])


def set_in(path: str, value: object) -> Callable[[Data], None]:
    """Make a change of one place of an export, named as `facts/private/0/key`."""

    def change(data: Data) -> None:
        *way, last = path.split("/")
        place: Any = data
        for step in way:
            place = place[int(step) if isinstance(place, list) else step]
        place[int(last) if isinstance(place, list) else last] = value

    return change


def in_chat(change: Callable[[Data], None]) -> Callable[[Data], None]:
    return lambda data: change(chat_of(data))


def in_fact(change: Callable[[Data], None]) -> Callable[[Data], None]:
    return lambda data: change(fact_of(data))


HUGE = {"key": "notes", "items": [], "many": True, "pinned": False}
ITEM = {"value": "", "source": {"chat": "", "turn": None, "quote": "", "day": "", "by": "person"}}


def many_facts(data: Data) -> None:
    data["facts"]["private"] = [
        {"key": f"key{n}", "items": [ITEM | {"value": "v"}], "many": False, "pinned": False} for n in range(65)
    ]


def much_in_all(data: Data) -> None:
    items = [ITEM | {"value": f"{n} {'v' * 400}"} for n in range(30)]
    data["facts"]["private"] = [HUGE | {"items": items}]


def said_twice(chat: Data) -> None:
    chat["turns"][4]["messages"] = chat["turns"][3]["messages"]


BROKEN: dict[str, tuple[Callable[[Data], None], str]] = {
    "another version": (set_in("schema", "keepmind/export/2"), "version"),
    "no version": (set_in("schema", None), "damaged (schema)"),
    "facts that are a list": (set_in("facts", []), "damaged (facts)"),
    "a value that is a number": (in_fact(set_in("items/0/value", 7)), "damaged"),
    "a fact without items": (in_fact(set_in("items", [])), "damaged"),
    "a nested value": (in_fact(set_in("items/0/value", {"a": []})), "damaged"),
    "a key that is none": (in_fact(set_in("key", "No Key!")), "No Key!"),
    "a value too long": (in_fact(set_in("items/0/value", "x" * 501)), "at most 500"),
    "a secret by its key": (in_fact(set_in("key", "password")), "never stored"),
    "a secret by its value": (in_fact(set_in("items/0/value", "sk-aaaaaaaaaaaaaaaaaaaaaaaa")), "never stored"),
    "a day that is none": (in_fact(set_in("items/0/source/day", "yesterday")), "damaged"),
    "a quote without end": (in_fact(set_in("items/0/source/quote", "x" * 501)), "damaged"),
    "too many facts": (many_facts, "at most 64"),
    "too much in all": (much_in_all, "at most 8000"),
    "a secret in the history": (set_in("changes/private/0/after/items/0/value", "4111 1111 1111 1111"), "never stored"),
    "a history of another key": (set_in("changes/private/0/key", "other"), "damaged (changes)"),
    "a time without a zone": (set_in("changes/private/0/at", "2026-03-01T12:00:00"), "damaged (changes)"),
    "turns of somebody else": (in_chat(set_in("turns/3/messages/0/sender/user", "bob")), "somebody else"),
    "turns without messages": (in_chat(set_in("turns/3/messages", [])), "damaged (turns)"),
    "a turn that is its own parent": (in_chat(set_in("turns/3/parent", 10**9)), "damaged (turns)"),
    "two turns of one id": (in_chat(lambda chat: chat["turns"].append(chat["turns"][0])), "damaged (turns)"),
    "a scope that is none": (lambda data: data["facts"].update({"../../etc": []}), "damaged (facts)"),
    "one message in two turns": (in_chat(said_twice), "damaged (turns)"),
    "a parent that is not there": (in_chat(set_in("turns/3/parent", 0)), "damaged (turns)"),
    "a head that is not there": (in_chat(set_in("head", 10**9)), "damaged (turns)"),
    "an aside that leads from nowhere": (in_chat(set_in("asides", [10**9])), "damaged (asides)"),
    "more asides than can be": (in_chat(set_in("asides", [None] * 1001)), "damaged"),
    "a segment that ends nowhere": (in_chat(set_in("segments/0/last", 10**9)), "damaged (segments)"),
    "a segment that begins after its end": (in_chat(set_in("segments/0/before", 30)), "damaged (segments)"),
    "a segment of no such range": (in_chat(set_in("segments/0/turns", 2)), "damaged (segments)"),
    "a segment of a huge range": (in_chat(set_in("segments/0/turns", 10**30)), "damaged (segments)"),
    "a gist without end": (in_chat(set_in("segments/0/text", "x" * 20_001)), "damaged (segments)"),
    "calls without results": (in_chat(set_in("turns/0/rounds/0/results", [])), "damaged (turns)"),
    "a call that is no JSON": (in_chat(set_in("turns/0/rounds/0/calls/0/arguments", "{")), "damaged (turns)"),
    "a call of no name": (in_chat(set_in("turns/0/rounds/0/calls/0/name", "no name")), "damaged (turns)"),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_file_is_refused_whole_in_one_sentence(name: str) -> None:
    data, world = await exported(await a_life()), a_world()
    change, told = BROKEN[name]
    change(changed := copy.deepcopy(data))
    reply = await import_into(world, changed, "bea")
    assert told in reply
    assert len(reply) < 200
    assert reply.startswith("I can't import this file: ")
    assert "Traceback" not in reply
    assert await exported(world, "bea") == await exported(a_world(), "bea"), "nothing of it is kept"
    assert "Imported." in await import_into(world, data, "bea")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "damaged"),
        (b"\xff\xfe\x00", "damaged"),
        (b"null", "damaged"),
        (b"[" * 100_000, "damaged"),
        (b'{"a":' * 100_000, "damaged"),
        (b'{"schema": "keepmind/export/1"}', "damaged (person)"),
        (b'{"schema": NaN}', "damaged"),
        (b" " * (20 * 2**20 + 1), "up to 20 MB"),
        ('{"schema": "' + "x" * 10**6 + '"}', "version"),
    ],
)
async def test_what_is_no_export_is_refused_in_one_sentence(data: bytes | str, told: str) -> None:
    reply = await import_into(a_world(), data)
    assert told in reply
    assert len(reply) < 200


LONG_AGO = "0001-01-01T00:00:00+14:00"


@pytest.mark.parametrize("path", ["turns/3/at", "turns/3/messages/0/sent_at"])
@pytest.mark.parametrize("at", [LONG_AGO, "9999-12-31T23:59:59-14:00"])
async def test_a_time_that_no_machine_can_tell_does_no_harm(path: str, at: str, tmp_path: Path) -> None:
    data, world = await exported(await a_life()), a_world(store=await open_store(str(tmp_path / "keepmind.db")))
    set_in(path, at)(chat_of(data))
    data["changes"]["private"][0]["at"] = at
    assert "Imported." in await import_into(world, data, "bea")
    await world.say("hi", "bea")
    assert "line 29" in world.prompt()
    assert "Imported." in await import_into(a_world(), await exported(world, "bea"), "cleo")
    assert await world.store.verify() == []
    await world.store.aclose()


async def test_no_more_notes_come_along_than_a_memory_may_keep() -> None:
    data = await exported(await a_life())
    note = {"memory": "mine:ToDo", "text": "t", "chat": "test:anna", "turn": 1}
    data["notes"] = {"private": [note | {"key": str(n)} for n in range(201)]}
    assert "damaged (notes)" in await import_into(a_world(), data, "bea")


async def test_a_quote_that_holds_a_secret_is_not_kept() -> None:
    data, world = await exported(await a_life()), a_world()
    fact_of(data)["items"][0]["source"]["quote"] = "Rome, and my password is hunter2"
    await import_into(world, data, "bea")
    assert await facts(world, "bea")
    assert "hunter2" not in await world.said("/memory why city", "bea")


async def test_what_a_file_says_of_ids_and_costs_counts_for_nothing() -> None:
    data, world = await exported(await a_life()), a_world()
    for turn in chat_of(data)["turns"]:
        turn |= {"tokens": -(10**9), "epoch": 10**12, "chunk": 10**12, "preview": "x", "retry_of": 5}
    assert "Imported." in await import_into(world, data, "bea")
    assert all(0 < turn.tokens < 1000 and turn.retry_of is None for turn in (await here(world, "bea")).turns)
    assert await world.store.verify() == []


def test_the_published_schema_is_that_of_the_code() -> None:
    assert PATH.read_text(encoding="utf-8") == written(), "run `make schema`"


async def test_an_export_is_read_back_whole() -> None:
    data = await exported(await a_life())
    read = Export.model_validate(data).model_dump(mode="json", by_alias=True)
    assert read == data
