"""What the shell shows, erases and checks of memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from adapters.inmemory import InMemoryStore
from bots.memory import clear, verify, view
from bots.output import as_json, as_sentence, as_text
from core.conversation import Answer, Segment, State, Turn
from core.facts import Change, Fact, Item, Source
from core.messages import ChatKey, Message, Person
from core.notes import Note

NOW = datetime(2026, 1, 2, tzinfo=UTC)
DEMO, CLUB = ChatKey("console", "demo"), ChatKey("console", "club")
ANNA, BOB = Person("console", "anna"), Person("console", "bob")
Say = Callable[[ChatKey, Person, str], Awaitable[Turn]]


@pytest.fixture
def store() -> InMemoryStore:
    return InMemoryStore()


@pytest.fixture
def say(store: InMemoryStore) -> Say:
    async def once(chat: ChatKey, person: Person, text: str) -> Turn:
        message = Message(uuid4().hex, chat, person, text, NOW, private=chat == DEMO)
        await store.receive(message)
        _, turn = await store.open([message], tokens=5, at=NOW)
        turn = replace(turn, state=State.DELIVERED, answer=Answer("Hello."))
        await store.save(turn)
        return turn

    return once


async def learn(store: InMemoryStore, turn: Turn, scope: str, key: str, value: str) -> None:
    source = Source(str(turn.chat), turn.id, turn.own_words, "2026-01-02", "model")
    fact = Fact(key, (Item(value, source),))
    await store.apply(turn.sender, scope, [Change("1", "add", key, None, fact, NOW)], turn=turn)


async def test_a_chat_is_shown_with_its_turns_segments_and_facts(store: InMemoryStore, say: Say) -> None:
    turn = await say(DEMO, ANNA, "My name is Anna")
    await learn(store, turn, "private", "name", "Anna")
    conversation = await store.load(DEMO)
    segment = Segment(0, None, turn.id, "Anna said her name.", 5, 1)
    await store.add_segment(DEMO, segment, covers=conversation.path, edition=conversation.edition)
    await say(DEMO, ANNA, "How are you?")
    seen = await view(store, DEMO)
    assert (seen["chat"], seen["turns"]) == ("console:demo", 2)
    assert [(one["text"], one["turns"], one["made_by"]) for one in seen["segments"]] == [
        ("Anna said her name.", 1, "model")
    ]
    assert seen["facts"] == [
        {
            "person": "console:anna",
            "scope": "private",
            "key": "name",
            "value": "Anna",
            "items": [
                {
                    "value": "Anna",
                    "source": {
                        "chat": "console:demo",
                        "turn": turn.id,
                        "quote": "My name is Anna",
                        "day": "2026-01-02",
                        "by": "model",
                    },
                }
            ],
            "pinned": False,
        }
    ]


async def test_a_group_shows_what_was_learned_there_of_everyone(store: InMemoryStore, say: Say) -> None:
    for person in (ANNA, BOB):
        await learn(store, await say(CLUB, person, f"I am {person.user}"), "console:club", "name", person.user)
    await learn(store, await say(DEMO, ANNA, "I love tea"), "private", "habits", "tea")
    facts = (await view(store, CLUB))["facts"]
    assert [(one["person"], one["scope"], one["value"]) for one in facts] == [
        ("console:anna", "console:club", "anna"),
        ("console:bob", "console:club", "bob"),
    ]


async def test_a_person_is_shown_in_every_scope(store: InMemoryStore, say: Say) -> None:
    await learn(store, await say(CLUB, ANNA, "I am Anna"), "console:club", "name", "Anna")
    await learn(store, await say(DEMO, ANNA, "I love tea"), "private", "habits", "tea")
    seen = await view(store, ANNA)
    assert seen["person"] == "console:anna"
    assert [(one["scope"], one["value"]) for one in seen["facts"]] == [("console:club", "Anna"), ("private", "tea")]


async def test_an_unknown_chat_is_an_empty_one(store: InMemoryStore) -> None:
    seen = await view(store, DEMO)
    assert seen == {"chat": "console:demo", "turns": 0, "segments": [], "facts": []}
    assert as_text(seen) == "console:demo: 0 turns"


async def test_what_is_shown_reads_well(store: InMemoryStore, say: Say) -> None:
    await learn(store, await say(DEMO, ANNA, "Меня зовут Анна"), "private", "name", "Анна")
    seen = await view(store, DEMO)
    fact = "  name: Анна  (console:anna, private; 2026-01-02, model: 'Меня зовут Анна')"
    assert as_text(seen).splitlines() == ["console:demo: 1 turns", "", "Facts:", fact]
    assert "Анна" in as_json(seen)


async def test_the_notes_about_a_person_are_shown(store: InMemoryStore) -> None:
    await store.note(ANNA, "private", Note("mine:ToDo", "buy milk", "2026-01-02", str(DEMO)))
    assert as_text(await view(store, ANNA)).splitlines()[-2:] == [
        "Notes:",
        "  buy milk: 2026-01-02  (mine:ToDo, private)",
    ]


@pytest.mark.parametrize("whom", [DEMO, ANNA])
async def test_what_is_erased_is_told_and_then_absent(store: InMemoryStore, say: Say, whom: ChatKey | Person) -> None:
    await learn(store, await say(DEMO, ANNA, "My name is Anna"), "private", "name", "Anna")
    assert await verify(store, ["Anna"])
    sentence = as_sentence(await clear(store, whom))
    assert sentence.startswith("Erased: ")
    assert "turns 1" in sentence
    assert await verify(store, ["Anna"]) == []
    assert as_sentence(await clear(store, whom)) == "Nothing was stored."
