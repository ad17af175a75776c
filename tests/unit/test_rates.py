"""Who says too much is told once, and then not heard until they have paused."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from adapters.inmemory import InMemoryStore
from core import sentences
from core.bot import Bot, Ports, build
from core.engine import Engine
from core.errors import StoreError
from core.messages import ChatKey, Message, Person
from core.rates import COMMANDS, MOST_KEPT, RateLimit, Rates, Verdict
from tests.fakes import START, WordCounter, World

HEARD, REACHED, OVER = Verdict.HEARD, Verdict.REACHED, Verdict.OVER
CLUB: dict[str, Any] = {"chat": "club", "group": True}


def at(seconds: float, who: str = "anna", chat: str = "") -> Message:
    return Message("1", ChatKey("test", chat or who), Person("test", who), "hi", START + timedelta(seconds=seconds))


def verdicts(limit: RateLimit, *messages: Message) -> list[Verdict]:
    return [limit.judge(message) for message in messages]


def test_the_first_over_the_limit_is_told_and_the_rest_passed_over_until_half_a_minute_is_gone() -> None:
    limit = RateLimit(Rates(person=4))
    assert verdicts(limit, *(at(0) for _ in range(7))) == [HEARD] * 4 + [REACHED, OVER, OVER]
    assert verdicts(limit, at(16), at(29)) == [OVER, OVER]
    assert limit.is_over(at(29))
    assert not limit.is_over(at(30))
    assert verdicts(limit, *(at(30) for _ in range(3))) == [HEARD, HEARD, REACHED]
    assert verdicts(limit, *(at(600) for _ in range(5))) == [HEARD] * 4 + [REACHED], "it is full, and no fuller"


def test_a_steady_talk_below_the_limit_is_never_told() -> None:
    limit = RateLimit(Rates(person=20, chat=40))
    assert {limit.judge(at(3.0 * n)) for n in range(500)} == {HEARD}


def test_a_person_is_counted_over_all_chats_and_a_chat_over_all_people() -> None:
    limit = RateLimit(Rates(person=2))
    assert verdicts(limit, at(0), at(0, chat="club"), at(0, chat="pub"), at(0, "bob")) == [HEARD, HEARD, REACHED, HEARD]
    limit = RateLimit(Rates(chat=2))
    assert verdicts(limit, *(at(0, who, "club") for who in "abcd"), at(0)) == [HEARD, HEARD, REACHED, OVER, HEARD]


def test_what_is_passed_over_takes_nothing_from_the_other_bucket() -> None:
    limit = RateLimit(Rates(person=1, chat=3))
    verdicts(limit, *(at(0, "anna", "club") for _ in range(9)))
    assert verdicts(limit, at(0, "bob", "club"), at(0, "eve", "club"), at(0, "dan", "club")) == [HEARD, HEARD, REACHED]


def test_a_backlog_counts_as_it_was_said_in_whatever_order_it_comes() -> None:
    limit = RateLimit(Rates(person=2))
    assert {limit.judge(at(60.0 * n)) for n in range(50)} == {HEARD}
    assert verdicts(limit, at(-500), at(-400)) == [HEARD, REACHED], "what is late fills nothing"


def test_zero_is_no_limit_and_few_are_kept_in_mind() -> None:
    free, limit = RateLimit(Rates()), RateLimit(Rates(person=1))
    assert {free.judge(at(0)) for _ in range(1000)} == {HEARD}
    for number in range(MOST_KEPT + 5):
        limit.judge(at(0, f"p{number}"))
    assert len(limit._buckets) == MOST_KEPT


@dataclass
class Limited(World):
    """A bot whose people may say two messages a minute."""

    def restart(self) -> Engine:
        ports = Ports(self.store, self.llm, WordCounter(), self.clock, [self.adapter])
        rates = Rates(person=2)
        self.engine = build(Bot(), ports, admins=self.admins, allowed=self.allowed, rates=rates)
        return self.engine


async def test_over_limit_messages_are_neither_answered_nor_stored_and_it_is_said_once() -> None:
    world = Limited()
    for number in range(6):
        await world.say(f"zebulon{number}")
    await world.engine.aclose()
    assert sorted(world.adapter.texts()) == sorted(["You said: zebulon0", "You said: zebulon1", sentences.TOO_MUCH])
    assert [await world.store.holds(f"zebulon{n}") for n in (1, 2, 5)] == [["turn"], [], []]
    assert len(world.llm.requests) == 2


async def test_after_a_pause_all_is_as_before() -> None:
    world = Limited()
    for _ in range(5):
        await world.say("hi")
    world.clock.time += timedelta(minutes=1)
    assert await world.said("again") == "You said: again"


@pytest.mark.parametrize("command", ["/stop", "/forget me", "/privacy", "/memory"])
async def test_commands_are_heard_when_messages_are_not_any_more(command: str) -> None:
    world = Limited()
    for _ in range(5):
        await world.say("hi")
    for _ in range(COMMANDS * 2):
        assert await world.said(command)


@pytest.mark.parametrize("command", ["/export", "/memory", "/nothing_like_it", "/search x"])
async def test_a_flood_of_commands_ends_in_one_sentence(command: str) -> None:
    world = Limited()
    for _ in range(50):
        await world.say(command)
    await world.engine.aclose()
    texts = world.adapter.texts()
    assert len(texts) == COMMANDS * 2 + 1
    assert texts.count(sentences.TOO_MUCH) == 1
    world.clock.time += timedelta(minutes=1)
    assert await world.said("/memory")


async def test_strangers_use_up_nothing_of_a_groups_limit() -> None:
    limit = RateLimit(Rates(person=2, chat=3))
    for number in range(9):
        limit.judge(at(0, f"stranger{number}", "club"), "stranger")
    assert limit.judge(at(0, "anna", "club")) is HEARD
    assert limit.judge(at(0, "eve", "club"), "stranger") is OVER, "theirs is used up"


async def test_a_stranger_is_held_to_the_limit_too_and_not_even_told() -> None:
    world = Limited(allowed=())
    for _ in range(9):
        await world.say("/start")
    assert len(world.adapter.texts()) == 2


async def test_admins_and_talk_that_is_not_for_the_bot_are_not_limited() -> None:
    world = Limited()
    for _ in range(9):
        assert await world.said("hi", who="root") == "You said: hi"
        await world.say("among us", addressed=False, **CLUB)
    assert await world.said("hi", **CLUB) == "You said: [anna] hi"
    assert sentences.TOO_MUCH not in world.adapter.texts()


async def test_what_can_not_be_read_counts_too() -> None:
    world = Limited()
    for number in range(5):
        await world.engine.decline(world.message("", id=f"s{number}"), "I can't read this.")
    await world.engine.decline(world.message("", id="s0", who="bob"), "I can't read this.")
    await world.engine.aclose()
    assert sorted(world.adapter.texts()) == sorted([*["I can't read this."] * 3, sentences.TOO_MUCH])


class Locked(InMemoryStore):
    """A store that takes nothing while it is locked."""

    locked = False

    async def receive(self, message: Message, *, keep: bool = True) -> bool:
        await asyncio.sleep(0)
        if self.locked:
            raise StoreError("The database is locked.")
        return await super().receive(message, keep=keep)


async def test_what_could_not_be_stored_and_repeats_count_once_however_often_the_platform_brings_them() -> None:
    store = Locked()
    world = Limited(store=store)
    hello, sticker = world.message("hello"), world.message("", id="s1")
    store.locked = True
    for _ in range(9):
        with pytest.raises(StoreError):
            await world.engine.handle(hello)
        with pytest.raises(StoreError):
            await world.engine.decline(sticker, "I can't read this.")
    store.locked = False
    for _ in range(9):
        await world.engine.handle(hello)
        await world.engine.decline(sticker, "I can't read this.")
    await world.say("one too many")
    await world.engine.aclose()
    assert sorted(world.adapter.texts()) == sorted(["You said: hello", "I can't read this.", sentences.TOO_MUCH])
