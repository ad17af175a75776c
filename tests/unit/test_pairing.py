"""Strangers are let in by an admin: by a code, or by their id."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta

import pytest

from core.messages import ChatKey, Person
from core.pairing import LENGTH, LETTERS
from tests.fakes import World


async def code_of(world: World, who: str = "eve") -> str:
    """Ask as a stranger; give the code."""
    await world.say("/start", who=who)
    found = re.search(rf"code ([{LETTERS}]{{{LENGTH}}})", world.adapter.texts()[-1])
    assert found
    return found[1]


async def admitted(world: World, whom: str) -> str:
    return await world.said(f"/admin allow {whom}", who="root")


def closed() -> World:
    return World(allowed=())


async def test_a_code_lets_in_whose_it_is_once() -> None:
    world = closed()
    code = await code_of(world)
    assert await admitted(world, code) == "test:eve may talk to me now."
    assert await world.said("hello", who="eve") == "You said: hello"
    assert "no such code" in await admitted(world, code)
    assert await world.store.holds(code) == ["audit"]


@pytest.mark.parametrize(
    "written", [str.lower, lambda code: f" {code[:4]}-{code[4:]} ", lambda code: f"{code[:4]} {code[4:]}"]
)
async def test_a_code_may_be_written_in_any_way(written: object) -> None:
    world = closed()
    code = await code_of(world)
    assert callable(written)
    assert "may talk" in await admitted(world, written(code))


async def test_a_code_is_good_for_a_day_and_then_another_is_given() -> None:
    world = closed()
    first = await code_of(world)
    world.clock.time += timedelta(hours=23)
    assert await code_of(world) == first
    world.clock.time += timedelta(hours=1)
    assert "no such code" in await admitted(world, first)
    assert await code_of(world) != first


async def test_wrong_codes_are_limited_by_admin_and_hour() -> None:
    world = World(allowed=(), admins=("test:root", "test:other"))
    code = await code_of(world)
    for _ in range(5):
        assert "no such code" in await admitted(world, "ABCDEFGH")
    assert "too many wrong codes" in await admitted(world, code)
    assert "may talk" in await admitted(world, "test:mallory"), "an id is no guess"
    assert "no such code" in await world.said("/admin allow ABCDEFGH", who="other")
    world.clock.time += timedelta(hours=1)
    assert "may talk" in await admitted(world, code)


async def test_spam_of_a_stranger_costs_one_code_and_one_answer() -> None:
    world = closed()
    for number in range(20):
        await world.say(f"Zebulon {number}", who="eve")
    assert len(world.adapter.shown) == 1
    assert await world.store.holds("Zebulon") == []
    assert await world.store.holds("eve") == ["pairing"]


async def test_a_stranger_is_told_once_while_their_code_is_good_also_after_a_restart() -> None:
    world = closed()
    await world.say("hello", who="eve")
    world.restart()
    await world.say("hello?", who="eve")
    assert len(world.adapter.shown) == 1
    world.clock.time += timedelta(days=1)
    await world.say("hello!", who="eve")
    assert len(world.adapter.shown) == 2, "the first code is good no more"


async def test_of_two_first_messages_of_a_stranger_one_is_answered() -> None:
    world = closed()
    await asyncio.gather(world.say("hello", who="eve"), world.say("hello?", who="eve"))
    assert len(world.adapter.shown) == 1


async def test_wrong_codes_count_after_a_restart_and_when_entered_at_once() -> None:
    world = closed()
    code = await code_of(world)
    await asyncio.gather(*(admitted(world, "ABCDEFGH") for _ in range(3)))
    world.restart()
    told = await asyncio.gather(*(admitted(world, "ABCDEFGH") for _ in range(4)))
    assert sum("no such code" in text for text in told) == 2
    assert "too many wrong codes" in await admitted(world, code)


@pytest.mark.parametrize("by", ["code", "id"])
async def test_a_stranger_who_is_let_in_is_told_so_in_private_in_their_language(by: str) -> None:
    world = closed()
    await world.say("/start", who="eve", language="ru", chat="club", group=True)
    found = re.search(rf"код ([{LETTERS}]{{{LENGTH}}})", world.adapter.texts()[-1])
    assert found
    for _ in range(2):
        await admitted(world, found[1] if by == "code" else "test:eve")
        await world.engine.aclose()
    told = [one.out for one in world.adapter.shown if one.out.chat == ChatKey("test", "eve")]
    assert [(out.text.partition(":")[0], out.only_for) for out in told] == [("Вас впустили", Person("test", "eve"))]


async def test_who_can_not_be_told_that_they_are_let_in_is_let_in_all_the_same() -> None:
    world = closed()
    code = await code_of(world)
    world.adapter.unreachable = {ChatKey("test", "eve")}
    assert "may talk" in await admitted(world, code)
    await world.engine.aclose()
    world.adapter.unreachable = set()
    world.restart()
    assert await world.said("hello", who="eve") == "You said: hello"


async def test_who_never_asked_is_told_nothing() -> None:
    world = closed()
    await admitted(world, "test:mallory")
    await admitted(world, "elsewhere:mallory")
    await world.engine.aclose()
    assert len(world.adapter.shown) == 2, "the admin alone is answered"


async def test_letting_in_is_audited_with_whom() -> None:
    world = closed()
    code = await code_of(world)
    await admitted(world, code)
    assert [e.action for e in await world.store.audited()] == ["/admin allow test:eve", f"/admin allow {code}"]


@pytest.mark.parametrize("whom", ["test:*", "*:*", "test:@eve", "test:club/17", "test:", ":eve"])
async def test_only_an_id_is_let_in(whom: str) -> None:
    world = closed()
    await admitted(world, whom)
    assert await world.store.allowed() == []


async def test_who_is_blocked_gets_no_word_until_unblocked() -> None:
    world = World()
    assert await world.said("hello") == "You said: hello"
    assert await world.said("/admin block test:anna", who="root") == "test:anna is blocked."
    shown = len(world.adapter.shown)
    for text in ("hello", "/start", "/forget me"):
        assert await world.say(text) is None
    assert await world.say("hello", chat="club", group=True) is None
    assert len(world.adapter.shown) == shown
    assert await world.said("/admin unblock test:anna", who="root") == "test:anna is blocked no more."
    assert await world.said("hello") == "You said: hello"
    assert await world.said("/admin unblock test:anna", who="root") == "test:anna was not blocked."


async def test_a_block_holds_after_a_restart_and_for_whole_groups() -> None:
    world = World()
    await world.say("/admin block test:club", who="root")
    world.restart()
    assert await world.say("hello", chat="club", group=True) is None
    assert await world.said("hello", who="root", chat="club", group=True) == "You said: [root] hello"
    assert await world.said("hello") == "You said: hello"


async def test_an_admin_can_not_be_blocked() -> None:
    world = World()
    assert "is an admin" in await world.said("/admin block test:root", who="root")
    assert await world.said("hello", who="root") == "You said: hello"
