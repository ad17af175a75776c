"""What every ConversationStore holds to: vectors find what was told in other words, and go with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adapters.numpy import near
from core.conversation import Answer, State, Turn
from core.messages import ChatKey
from core.search.query import Query
from core.search.vectors import Asked, Vector, to_vector
from core.store import ConversationStore
from tests.contract.talk import ANN, GROUP, PRIVATE_CHAT, START, Talk

MODEL = "a model"
PET, FOOD, WORK = (to_vector(numbers) for numbers in ((1, 0, 0), (0, 1, 0), (0, 0, 1)))


async def told(store: ConversationStore, chat: ChatKey = PRIVATE_CHAT) -> list[Turn]:
    """Tell of a pet, of food and of work, with vectors."""
    turns = [await Talk(store, chat, said).says(text) for said, text in ((0, "a spaniel"), (1, "soup"), (2, "a desk"))]
    await store.embed(chat, MODEL, list(zip(turns, (PET, FOOD, WORK), strict=True)))
    return turns


async def found(store: ConversationStore, vector: Vector, text: str = "", chat: ChatKey = PRIVATE_CHAT) -> list[str]:
    query = Query(text, limit=1, asked=Asked(MODEL, vector, near))
    hits = await store.search(chat, query)
    await store.index(chat)
    assert await store.search(chat, query) == hits
    return [turn.message.text for turn in hits]


def ids(turns: Sequence[Turn]) -> list[int]:
    return [turn.id for turn in turns]


async def test_what_was_told_in_other_words_is_found(store: ConversationStore) -> None:
    await told(store)
    assert await found(store, PET, "dog") == ["a spaniel"]
    assert await found(store, WORK) == ["a desk"]


async def test_words_and_meaning_are_mixed(store: ConversationStore) -> None:
    await told(store)
    assert await found(store, to_vector((0.5, 0.6, 0)), "spaniel") == ["a spaniel"]


async def test_a_question_by_another_model_finds_by_words_alone(store: ConversationStore) -> None:
    await told(store)
    other = Asked("another", to_vector((0, 1)), near)
    assert await store.search(PRIVATE_CHAT, Query("dog", asked=other)) == []
    assert (await store.search(PRIVATE_CHAT, Query("desk", asked=other)))[0].message.text == "a desk"


async def test_vectors_of_another_length_are_passed_over(store: ConversationStore) -> None:
    await told(store)
    assert await found(store, to_vector((1, 0, 0, 0)), "dog") == []


async def test_what_has_no_vector_of_a_model_is_told_latest_first(store: ConversationStore) -> None:
    talk = Talk(store)
    first, second, third = [await talk.says(text) for text in ("one", "two", "three")]
    await talk.opens("four, still open")
    await store.embed(PRIVATE_CHAT, MODEL, [(second, PET)])
    assert ids(await store.unembedded(PRIVATE_CHAT, MODEL, limit=9)) == [third.id, first.id]
    assert ids(await store.unembedded(PRIVATE_CHAT, MODEL, limit=1)) == [third.id]
    assert ids(await store.unembedded(PRIVATE_CHAT, "another", limit=9)) == [third.id, second.id, first.id]
    assert await store.unembedded(GROUP, MODEL, limit=9) == []


async def test_a_turn_edited_since_gets_no_vector_of_what_it_was(store: ConversationStore) -> None:
    talk = Talk(store)
    turn = await talk.says("a spaniel")
    await store.edit(PRIVATE_CHAT, turn.message.id, "soup")
    await store.embed(PRIVATE_CHAT, MODEL, [(turn, PET)])
    assert await found(store, PET) == []
    assert ids(await store.unembedded(PRIVATE_CHAT, MODEL, limit=9)) == [turn.id]


async def test_a_turn_that_is_edited_loses_its_vector(store: ConversationStore) -> None:
    pet, *_ = await told(store)
    await store.edit(PRIVATE_CHAT, pet.message.id, "a guitar")
    assert ids(await store.unembedded(PRIVATE_CHAT, MODEL, limit=9)) == [pet.id]
    assert await found(store, PET) != ["a guitar"]


async def test_an_erased_turn_keeps_no_vector(store: ConversationStore) -> None:
    pet, *_ = await told(store)
    await store.erase_turn(PRIVATE_CHAT, pet.id)
    await store.embed(PRIVATE_CHAT, MODEL, [(pet, PET)])
    assert await found(store, PET) != ["a spaniel"]


async def test_an_erased_chat_or_person_keeps_no_vector(store: ConversationStore) -> None:
    await told(store)
    await told(store, GROUP)
    await store.erase_chat(GROUP)
    await store.erase_person(ANN)
    assert await store.holds(MODEL) == []


async def test_vectors_move_with_their_chat_and_are_found_in_no_other(store: ConversationStore) -> None:
    old, new = ChatKey("telegram", "-100"), ChatKey("telegram", "-1001")
    await told(store, old)
    assert await found(store, PET, chat=new) == []
    await store.move_chat(old, new)
    assert await found(store, PET, chat=old) == []
    assert await found(store, PET, chat=new) == ["a spaniel"]


async def test_a_newer_vector_takes_the_place_of_an_older(store: ConversationStore) -> None:
    pet, *_ = await told(store)
    await store.embed(PRIVATE_CHAT, "another", [(pet, PET)])
    assert ids(await store.unembedded(PRIVATE_CHAT, MODEL, limit=9)) == [pet.id]


async def test_an_answer_made_anew_has_a_vector_of_its_own(store: ConversationStore) -> None:
    talk = Talk(store)
    turn = await talk.says("a spaniel")
    await store.embed(PRIVATE_CHAT, MODEL, [(turn, PET)])
    anew = await store.retry(await talk.loaded(), turn, tokens=3, at=START)
    await store.save(replace(anew, state=State.DELIVERED, answer=Answer("soup")))
    assert ids(await store.unembedded(PRIVATE_CHAT, MODEL, limit=9)) == [anew.id]
