"""What was said in any language is found by a question in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from adapters.inmemory import InMemoryStore
from adapters.snowball import stem
from core.conversation import State
from core.search.query import Query
from tests.contract.talk import PRIVATE_CHAT, Talk
from tests.questions import ASKED, FILLER

FIRST = 5


async def found(said: Sequence[tuple[str, str]]) -> list[str]:
    """Say everything amid other talk, ask every question, and give those whose answer is not among the first."""
    store = InMemoryStore(stem)
    talk = Talk(store)
    for text in (*[text for text, _ in said], *FILLER):
        turn = await talk.opens(text)
        await store.save(replace(turn, state=State.DELIVERED))
    missed = []
    for text, question in said:
        hits = await store.search(PRIVATE_CHAT, Query(question, limit=FIRST))
        if text not in [turn.message.text for turn in hits]:
            missed.append(question)
    return missed


@pytest.mark.parametrize("language", ASKED)
async def test_nine_of_ten_questions_find_what_was_said(language: str) -> None:
    everything = [pair for pairs in ASKED.values() for pair in pairs]
    missed = set(await found(everything)) & {question for _, question in ASKED[language]}
    assert 10 * len(missed) <= len(ASKED[language]), missed
