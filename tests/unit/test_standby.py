"""One process serves a bot, others stand by: what these receive waits in the inbox and is answered once."""

from __future__ import annotations

import asyncio

import pytest

from adapters.inmemory import InMemoryStore
from core.errors import Relieved, StoreError
from core.messages import Message
from core.rates import RateLimit, Rates
from tests.driving import turns
from tests.fakes import World


def standing_by() -> tuple[World, World]:
    """Give a bot that serves, and one on the same store that stands by."""
    serving = World()
    standby = World(store=serving.store, clock=serving.clock)
    standby.engine.standby.add("test")
    return serving, standby


async def test_what_a_standby_hears_is_answered_by_who_serves() -> None:
    serving, standby = standing_by()
    assert await standby.say("hello") is None
    assert await standby.say("and more") is None
    assert await serving.engine.take_up() == 2
    await serving.engine.idle()
    assert serving.adapter.texts() == ["You said: hello", "You said: and more"]
    assert standby.adapter.texts() == []


async def test_a_command_heard_by_a_standby_is_run_by_who_serves_once() -> None:
    serving, standby = standing_by()
    await standby.say("/help")
    for _ in range(2):
        await serving.engine.take_up()
        await serving.restart().recover()
        await serving.engine.aclose()
    assert len(serving.adapter.texts()) == 1
    assert await serving.store.waiting() == []


async def test_what_who_serves_heard_itself_is_not_taken_up_again() -> None:
    serving, _ = standing_by()
    saying = [asyncio.create_task(serving.say(f"text {n}")) for n in range(5)]
    for _ in range(50):
        await serving.engine.take_up()
    await asyncio.gather(*saying)
    assert len(await turns(serving)) == len(serving.llm.of("answer")) == 5


async def test_a_stranger_heard_by_a_standby_is_refused_and_nothing_of_it_is_kept() -> None:
    serving, standby = standing_by()
    serving.allowed = ()
    serving.restart()
    await standby.say("let me in, I am Zoe")
    await serving.engine.take_up()
    await serving.engine.aclose()
    assert await serving.store.holds("Zoe") == []
    assert len(serving.adapter.texts()) == 1


async def test_too_much_said_to_standbys_is_passed_over_but_not_what_a_stopped_process_left() -> None:
    serving, standby = standing_by()
    serving.engine.limit = RateLimit(Rates(person=1))
    for n in range(3):
        await standby.say(f"text {n}")
    await serving.engine.take_up()
    await serving.engine.idle()
    assert len(await turns(serving)) == 1
    assert await serving.store.waiting() == []
    for n in range(3):
        await standby.say(f"later {n}")
    serving.engine.limit = RateLimit(Rates(person=1))
    await serving.engine.recover()
    await serving.engine.idle()
    assert len(await turns(serving)) == 4


async def test_who_takes_over_answers_what_waited() -> None:
    _, standby = standing_by()
    await standby.say("hello")
    assert await standby.engine.take_up() == 0
    standby.engine.standby.discard("test")
    assert await standby.engine.recover("other") == 0
    assert await standby.engine.recover("test") == 1
    await standby.engine.idle()
    assert standby.adapter.texts() == ["You said: hello"]


class Unsure(InMemoryStore):
    """A store that keeps what it receives, and says that it could not."""

    async def receive(self, message: Message, *, keep: bool = True) -> bool:
        await super().receive(message, keep=keep)
        raise StoreError("The connection was lost.")


async def test_a_message_stored_without_an_answer_is_found_in_the_inbox() -> None:
    world = World(store=Unsure())
    with pytest.raises(StoreError):
        await world.say("hello")
    await world.engine.take_up()
    await world.engine.idle()
    assert world.adapter.texts() == ["You said: hello"]


class Taken(InMemoryStore):
    """A store whose bot another process serves from the moment that a turn is begun."""

    async def save(self, *_: object, **__: object) -> None:
        raise Relieved("Another process serves test:1 now.")

    async def audit(self, *_: object) -> None:
        raise Relieved("Another process serves test:1 now.")


async def test_who_was_relieved_says_nothing_more() -> None:
    world = World(store=Taken())
    assert await world.say("hello") is None
    assert await world.say("/admin stats", "root") is None
    assert world.adapter.texts() == []
