"""What `keepmind memory` shows, as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from core.conversation import Segment
from core.facts import Fact
from core.messages import PRIVATE, ChatKey, Person
from core.records import ChatInfo, Receipt
from core.store import ConversationStore

Data = dict[str, Any]


async def view(store: ConversationStore, whom: ChatKey | Person) -> Data:
    """Give what is remembered of a chat or a person."""
    return await (view_chat(store, whom) if isinstance(whom, ChatKey) else view_person(store, whom))


async def view_chat(store: ConversationStore, chat: ChatKey) -> Data:
    """Give what is stored of a chat: its turns counted, its segments, the facts of all who spoke there."""
    info = await _info(store, chat)
    private = info.private if info else True
    facts = [await _facts(store, chat, person, private) for person in await store.people(chat)]
    conversation = await store.load(chat, private=private)
    return {
        "chat": str(chat),
        "turns": info.turns if info else 0,
        "segments": [_segment(segment) for segment in conversation.segments],
        "facts": [fact for some in facts for fact in some],
    }


async def view_person(store: ConversationStore, person: Person) -> Data:
    """Give the facts of a person in every scope."""
    scopes = await store.scopes(person)
    facts = [await _facts(store, *_chat_of(scope, person)) for scope in scopes]
    notes = [{"scope": scope, **asdict(note)} for scope in scopes for note in await store.notes(person, scope)]
    return {"person": str(person), "facts": [fact for some in facts for fact in some], "notes": notes}


async def clear(store: ConversationStore, whom: ChatKey | Person) -> Receipt:
    """Erase all of a chat or a person."""
    return await (store.erase_chat(whom) if isinstance(whom, ChatKey) else store.erase_person(whom))


async def verify(store: ConversationStore, absent: Iterable[str]) -> list[str]:
    """Check what is stored, and that texts are nowhere in it; a sentence for each fault."""
    faults = list(await store.verify())
    for text in absent:
        holding = await store.holds(text) or await store.remains(text)
        faults += [f"the text that should be absent is in {place}" for place in holding]
    return faults


async def _info(store: ConversationStore, chat: ChatKey) -> ChatInfo | None:
    return next((info for info in await store.chats() if info.chat == chat), None)


def _chat_of(scope: str, person: Person) -> tuple[ChatKey, Person, bool]:
    if scope == PRIVATE:
        return ChatKey(person.platform, person.user), person, True
    return ChatKey.parse(scope), person, False


async def _facts(store: ConversationStore, chat: ChatKey, person: Person, private: bool) -> list[Data]:
    conversation = await store.load(chat, person, private=private)
    return [_fact(person, conversation.scope, fact) for fact in conversation.facts.by_key.values()]


def _fact(person: Person, scope: str, fact: Fact) -> Data:
    return {
        "person": str(person),
        "scope": scope,
        "key": fact.key,
        "value": fact.value,
        "items": [asdict(item) for item in fact.items],
        "pinned": fact.pinned,
    }


def _segment(segment: Segment) -> Data:
    return asdict(segment)
