"""What every platform holds to, whatever its own words and limits are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from core.adapter import Outgoing
from core.errors import Unreachable
from core.messages import ChatKey
from core.spending.budget import Budget, Limit
from tests.adapters.discord.life import saying, until
from tests.contract.stages import STAGES, Stage
from tests.fakes import ScriptedLLM

LONG = "\n\n".join(f"Part {number}: " + "words and more " * 150 for number in range(5))
CODE = "Look:\n\n```py\n" + "\n".join(f"print({number})  # {'x' * 50}" for number in range(150)) + "\n```\n\nDone."


@pytest.fixture(params=STAGES)
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    async with STAGES[request.param](ScriptedLLM()) as stage:
        yield stage


def letters(shown: list[str]) -> str:
    return "".join("".join(shown).split())


async def test_what_is_said_in_private_is_a_message_of_its_sender(stage: Stage) -> None:
    await stage.answered("hello")
    (turn,) = (await stage.store.load(stage.chat)).turns
    message = turn.message
    assert message.chat == stage.chat
    assert (message.text, message.private, message.addressed, message.anonymous) == ("hello", True, True, False)
    assert message.sender.platform == stage.chat.platform == stage.adapter.platform
    assert message.sent_at.utcoffset() is not None


async def test_each_message_is_answered_once_and_in_order(stage: Stage) -> None:
    for text in ("one", "two", "three"):
        await stage.answered(text)
    assert await stage.turns() == ["one", "two", "three"]
    assert letters(stage.seen()) == letters([f"You said: {text}" for text in ("one", "two", "three")])


async def test_a_long_answer_is_seen_whole(stage: Stage) -> None:
    stage.llm.answer = saying(LONG)
    assert letters(await stage.answered("tell me")) == letters([LONG])


async def test_no_line_of_long_code_is_lost(stage: Stage) -> None:
    stage.llm.answer = saying(CODE)
    shown = "\n".join(await stage.answered("show me"))
    assert [f"print({number})" in shown for number in range(150)] == [True] * 150


async def test_a_blank_answer_is_one_sentence(stage: Stage) -> None:
    stage.llm.answer = saying("  \n ")
    (shown,) = await stage.answered("well?")
    assert shown.strip()


async def test_a_command_is_answered_and_kept_out_of_the_conversation(stage: Stage) -> None:
    stage.say("/help")
    await until(lambda: "/memory" in "".join(stage.seen()))
    assert await stage.turns() == []
    assert stage.llm.requests == []


async def test_at_the_end_of_a_budget_one_sentence_is_said_and_usage_is_told(stage: Stage) -> None:
    await stage.answered("one")
    stage.engine.shared.ledger.budget = Budget(person=Limit(day=1))
    assert "I have used up what I may spend on answers to you." in (await stage.answered("two"))[-1]
    await stage.answered("three")
    stage.say("/usage")
    await until(lambda: any("Your budget of a day: " in text for text in stage.seen()))
    assert len(stage.llm.requests) == 1
    assert sum("I have used up" in text for text in stage.seen()) == 1


async def test_it_serves_its_own_chats_and_no_others(stage: Stage) -> None:
    assert stage.adapter.serves(stage.chat)
    assert not stage.adapter.serves(ChatKey("elsewhere", stage.chat.chat))


async def test_a_text_is_always_cut_the_same_way(stage: Stage) -> None:
    for text in ("hi", LONG, CODE, "😀" * 5000):
        chunks = list(stage.adapter.split(text))
        assert chunks
        assert chunks == list(stage.adapter.split(text))


async def test_a_preview_gives_way_to_the_answer(stage: Stage) -> None:
    held = stage.llm.gate = asyncio.Event()
    stage.llm.answer = saying("Once upon a time")
    stage.say("a story")
    await until(lambda: stage.llm.requests)
    held.set()
    await until(lambda: "".join(stage.seen()).strip() == "Once upon a time")


async def test_showing_that_it_types_is_nobodys_error(stage: Stage) -> None:
    await stage.adapter.typing(stage.chat)
    await stage.adapter.typing(stage.gone)


async def test_what_is_sent_can_be_replaced_and_by_the_same_too(stage: Stage) -> None:
    sent = await stage.adapter.send(Outgoing(stage.chat, "first"))
    for text in ("second", "second"):
        await stage.adapter.edit(sent, Outgoing(stage.chat, text))
    assert "second" in "".join(stage.seen())


async def test_where_nothing_can_be_said_is_unreachable(stage: Stage) -> None:
    with pytest.raises(Unreachable):
        await stage.adapter.send(Outgoing(stage.gone, "hello?"))
