"""What every ConversationStore holds to about notes: they are kept, exported, moved and erased as facts are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.errors import StaleEpoch
from core.messages import PRIVATE, ChatKey
from core.notes import Note
from core.records import Brought
from core.store import ConversationStore
from tests.contract.talk import ANN, BOB, GROUP, PRIVATE_CHAT, Talk

MARKER = "zanzibar"


def note(key: str, text: str = MARKER, memory: str = "mine:ToDo", *, turn: int | None = None) -> Note:
    return Note(memory, key, text, str(PRIVATE_CHAT), turn)


async def texts(store: ConversationStore, scope: str = PRIVATE) -> dict[str, str]:
    return {n.key: n.text for n in await store.notes(ANN, scope)}


async def test_notes_stand_in_the_order_in_which_they_were_first_kept(store: ConversationStore) -> None:
    for key, text in [("b", "1"), ("a", "2"), ("b", "3"), ("c", "4"), ("a", "")]:
        await store.note(ANN, PRIVATE, note(key, text))
    assert await texts(store) == {"b": "3", "c": "4"}
    assert await store.notes(BOB, PRIVATE) == []
    assert await store.notes(ANN, GROUP.scope) == []
    assert await store.scopes(ANN) == [PRIVATE]


async def test_each_memory_has_its_own(store: ConversationStore) -> None:
    await store.note(ANN, PRIVATE, note("a", "1"))
    await store.note(ANN, PRIVATE, note("a", "2", "mine:Mood"))
    await store.note(ANN, PRIVATE, note("a", "", "mine:ToDo"))
    assert await store.notes(ANN, PRIVATE) == [note("a", "2", "mine:Mood")]


async def test_any_text_is_taken(store: ConversationStore) -> None:
    await store.note(ANN, PRIVATE, note("k\0\ud800", "t\0\udfff 😀 אב <|endoftext|>"))
    assert await texts(store) == {"k\ufffd\ufffd": "t\ufffd\ufffd 😀 אב <|endoftext|>"}


async def test_what_began_before_the_chat_was_stopped_is_not_kept(store: ConversationStore) -> None:
    turn = await Talk(store).says("one")
    await store.raise_epoch(PRIVATE_CHAT)
    with pytest.raises(StaleEpoch):
        await store.note(ANN, PRIVATE, note("a", turn=turn.id), turn=turn)
    assert await texts(store) == {}


async def test_a_note_goes_with_the_turn_it_was_said_in(store: ConversationStore) -> None:
    talk = Talk(store)
    one, two = await talk.says("one"), await talk.says("two")
    await store.note(ANN, PRIVATE, note("a", turn=one.id), turn=one)
    await store.note(ANN, PRIVATE, note("b", "stays", turn=two.id), turn=two)
    assert (await store.erase_turn(PRIVATE_CHAT, one.id)).counts == {"turns": 1, "notes": 1}
    assert await texts(store) == {"b": "stays"}
    assert await store.holds(MARKER) == []


async def test_a_note_goes_when_what_it_was_taken_from_is_edited(store: ConversationStore) -> None:
    turn = await Talk(store).says("one")
    await store.note(ANN, PRIVATE, note("a", turn=turn.id), turn=turn)
    assert await store.edit(PRIVATE_CHAT, turn.message.id, "nothing")
    assert await texts(store) == {}


async def test_notes_go_with_their_chat_and_with_their_person(store: ConversationStore) -> None:
    turn = await Talk(store).says("one")
    for person in (ANN, BOB):
        await store.note(person, PRIVATE, replace(note("a"), chat="elsewhere:1"))
        await store.note(person, GROUP.scope, replace(note("a"), chat=str(GROUP)))
    await store.note(ANN, PRIVATE, note("b", turn=turn.id))
    assert (await store.erase_chat(PRIVATE_CHAT)).counts["notes"] == 1
    assert (await store.erase_person(ANN)).counts == {"notes": 2}
    assert await store.notes(ANN, PRIVATE) == await store.notes(ANN, GROUP.scope) == []
    assert (await store.erase_notes(BOB, PRIVATE)).counts == {"notes": 1}
    assert [len(await store.notes(BOB, scope)) for scope in (PRIVATE, GROUP.scope)] == [0, 1]


async def test_an_export_holds_them(store: ConversationStore) -> None:
    await store.note(ANN, PRIVATE, note("a"))
    await store.note(BOB, PRIVATE, note("b", "another's"))
    exported = await store.export(ANN)
    assert exported["notes"] == {
        PRIVATE: [{"memory": "mine:ToDo", "key": "a", "text": MARKER, "chat": str(PRIVATE_CHAT), "turn": None}]
    }


async def test_notes_move_with_their_chat_and_what_stands_there_stays(store: ConversationStore) -> None:
    old, new = ChatKey("telegram", "-685960703"), ChatKey("telegram", "-1001502049385")
    topic = replace(old, topic="7")
    for chat in (old, topic):
        await Talk(store, chat).says("one")
    for chat, key, text in [(old, "a", "old"), (old, "b", "old"), (new, "a", "new")]:
        await store.note(ANN, chat.scope, replace(note(key, text), chat=str(chat)))
    await store.note(ANN, old.scope, replace(note("c", "old"), chat=str(topic)))
    await store.move_chat(old, new)
    assert await texts(store, old.scope) == {}
    assert await texts(store, new.scope) == {"a": "new", "b": "old", "c": "old"}
    moved = {n.key: n.chat for n in await store.notes(ANN, new.scope)}
    assert moved == {"a": str(new), "b": str(new), "c": str(replace(new, topic="7"))}


async def test_what_is_brought_along_leaves_what_is_known(store: ConversationStore) -> None:
    await store.note(ANN, PRIVATE, note("a", "here"))
    await store.bring_in(ANN, Brought(PRIVATE_CHAT, notes={PRIVATE: [note("a", "there"), note("b", "there")]}))
    assert await texts(store) == {"a": "here", "b": "there"}
