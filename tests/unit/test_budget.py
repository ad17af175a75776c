"""Budgets: what happens near the end of one, at its end, and when it begins anew."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pytest

from adapters.inmemory import InMemoryStore
from core import sentences
from core.bot import Bot
from core.collaborators import Limits
from core.conversation import Segment, State
from core.errors import LLMError, LLMRejected, LLMUnavailable
from core.llm import Completion, Request, Usage
from core.memory.keepmind import Keepmind
from core.memory.window import WindowLimits
from core.messages import ChatKey, Person
from core.spending.budget import Budget, Limit
from core.usage import Spent
from tests.driving import ANNA, hold, turns, until, waits
from tests.fakes import START, HeldClock, ScriptedLLM, World

OVER_PERSON = "I have used up what I may spend on answers to you. I answer again from 2026-03-02 00:00 on."
OVER_BOT = "I have used up what I may spend on answers. I answer again from 2026-03-02 00:00 on."
KEPT = "What you say until then is kept, and commands still work."


def taking(tokens: int, word: str = "ok") -> ScriptedLLM:
    return ScriptedLLM(lambda _: Completion(word, usage=Usage(tokens - 10, 10), model="m"))


def of(*, person: int = 0, chat: int = 0, bot: int = 0, **more: float) -> Budget:
    return Budget(Limit(person), Limit(chat), Limit(bot), **more)  # type: ignore[arg-type]


async def test_without_a_budget_nothing_is_read_and_everybody_is_answered() -> None:
    class Unread(InMemoryStore):
        async def spent(
            self, since: date, *, person: Person | None = None, chat: ChatKey | None = None
        ) -> Sequence[Spent]:
            raise AssertionError("nothing is to be read")

    world = World(llm=taking(10**9), store=Unread())
    for _ in range(3):
        assert await world.said("hello") == "ok"


async def test_at_the_end_one_sentence_says_until_when_and_what_is_said_is_kept() -> None:
    world = World(llm=taking(100), budget=of(person=150))
    assert [await world.said("one"), await world.said("two")] == ["ok", "ok"]
    assert await world.said("three") == f"{OVER_PERSON} {KEPT}"
    assert len(world.llm.requests) == 2
    last = (await turns(world))[-1]
    assert (last.message.text, last.state, last.failure) == ("three", State.FAILED, "budget")
    assert (await world.store.days(START, count=1))[0].failed == 0


async def test_the_sentence_is_not_said_again_and_again() -> None:
    world = World(llm=taking(100), budget=of(person=100))
    await world.say("one")
    assert await world.say("two") is not None
    assert await world.say("three") is None
    world.clock.time += timedelta(minutes=61)
    assert await world.say("four") is not None
    assert len(world.adapter.shown) == 3


async def test_it_goes_on_the_next_day_knowing_what_was_said_meanwhile() -> None:
    world = World(llm=taking(100), budget=of(person=100))
    await world.say("one")
    await world.say("my cat is called Tom")
    world.clock.time = START.replace(day=2, hour=0)
    assert await world.said("three") == "ok"
    assert "my cat is called Tom" in world.prompt()


async def test_a_month_is_its_own_limit_and_says_when_the_next_begins() -> None:
    world = World(llm=taking(100), budget=Budget(person=Limit(day=1000, month=150)))
    await world.say("one")
    world.clock.time += timedelta(days=1)
    await world.say("two")
    assert "2026-04-01 00:00" in await world.said("three")
    world.clock.time = START.replace(month=4, day=1)
    assert await world.said("four") == "ok"


async def test_days_are_those_of_the_operator_s_time_zone() -> None:
    world = World(llm=taking(100), budget=of(person=100), zone=ZoneInfo("Asia/Tokyo"))
    await world.say("one")
    assert "2026-03-02 00:00" in await world.said("two")
    world.clock.time = START.replace(hour=15)  # midnight there
    assert await world.said("three") == "ok"


async def test_a_person_is_told_the_time_in_their_own_zone() -> None:
    world = World(llm=taking(100), budget=of(person=100))
    await world.say("one")
    await world.store.choose(Person("test", "anna"), lambda settings: replace(settings, zone="Europe/Moscow"))
    assert "2026-03-02 03:00" in await world.said("two")


async def test_commands_go_on_working() -> None:
    world = World(llm=taking(100), budget=of(person=100))
    await world.say("one")
    assert "100% of 100 tokens are used; it begins anew at 2026-03-02 00:00." in await world.said("/usage")
    assert (await world.said("/memory")) != ""


async def test_admins_are_held_to_the_budget_of_the_bot_alone() -> None:
    world = World(llm=taking(100), budget=of(person=100, chat=100, bot=350))
    for _ in range(3):
        assert await world.said("hello", "root") == "ok"
    assert await world.said("hello") == "ok"
    assert await world.said("hello", "root") == f"{OVER_BOT} {KEPT}"


async def test_the_admins_are_told_once_that_nobody_is_answered_any_more() -> None:
    world = World(llm=taking(100), budget=of(bot=100))
    await world.say("one")
    for who in ("anna", "bob"):
        assert await world.said("hello", who) == f"{OVER_BOT} {KEPT}"
    [told] = world.adapter.texts(ChatKey("test", "root"))
    assert told.startswith("The budget of the whole bot is used up, so I answer nobody until 2026-03-02 00:00 UTC.")


async def test_the_budget_of_a_chat_is_that_of_all_its_topics_and_persons() -> None:
    world = World(llm=taking(100), budget=of(chat=200))
    for who, topic in (("anna", "1"), ("bob", "2")):
        message = world.message("hello", who, group=True)
        await world.engine.handle(replace(message, chat=ChatKey("test", "group", topic)))
    reply = await world.said("hello", "carl", "group", group=True)
    assert reply.startswith("I have used up what I may spend on answers in this chat.")
    assert await world.said("hello", "carl") == "ok"


async def test_what_nobody_in_particular_took_counts_once_for_the_bot() -> None:
    world = World(llm=taking(100), budget=of(bot=250), allowed=("test:*", "test:group"))
    for n in range(3):
        answered = await world.said(f"turn {n}", chat="group", group=True, anonymous=True)
        assert answered == "ok"
    assert (await world.said("more", chat="group", group=True, anonymous=True)).startswith(OVER_BOT)


async def test_an_answer_asked_for_before_midnight_counts_for_the_day_before() -> None:
    world = World(llm=taking(100), budget=Budget(person=Limit(day=100, month=1000)))
    await world.say("/usage")
    gate = hold(world)
    asking = await world.engine.accept(world.message("hello"))
    await gate.held.wait()
    world.clock.time = START.replace(day=2, hour=0)
    assert "Your budget of a day: 0% of 100 tokens" in await world.said("/usage")
    gate.set()
    assert asking is not None
    await asking
    told = await world.said("/usage")
    assert "Your budget of a day: 0% of 100 tokens" in told
    assert "Your budget of a month: 10% of 1,000 tokens" in told


async def test_others_are_answered_when_one_person_has_nothing_left() -> None:
    world = World(llm=taking(100), budget=of(person=100))
    await world.say("one")
    await world.say("two")
    assert await world.said("one", "bob") == "ok"


async def test_what_was_used_is_known_after_a_restart() -> None:
    world = World(llm=taking(100), budget=of(person=100))
    await world.say("one")
    world.restart()
    assert await world.said("two") == f"{OVER_PERSON} {KEPT}"


async def test_what_another_process_stores_is_seen_after_a_while() -> None:
    world = World(llm=taking(100), budget=of(bot=200))
    await world.say("one")
    [one] = await world.store.spent(START.date())
    await world.store.spend([one] * 5)
    assert await world.said("two") == "ok"
    world.clock.time += timedelta(minutes=6)
    assert (await world.said("three")).startswith(OVER_BOT)


async def test_to_be_forgotten_is_no_way_round_a_budget() -> None:
    world = World(llm=taking(100), budget=of(person=100))
    await world.say("one")
    await world.say("/forget me yes")
    assert await world.store.spent(START.date(), person=Person("test", "anna")) == []
    world.clock.time += timedelta(minutes=6)
    assert (await world.said("two")).startswith(OVER_PERSON)


async def test_what_is_said_incognito_counts_and_is_not_kept_at_the_end_either() -> None:
    world = World(llm=taking(100), budget=of(person=100))
    await world.say("/incognito")
    await world.say("one")
    assert (await world.said("secret thing")).endswith("You are incognito, so what you say until then is not kept.")
    assert await world.store.holds("secret thing") == []
    assert await world.store.spent(START.date(), person=Person("test", "anna")) == []
    assert [one.tokens for one in await world.store.spent(START.date())] == [100]
    assert await world.store.open_turns() == []


# -- near the end -------------------------------------------------------------------------------------------------


async def test_near_the_end_a_cheaper_model_answers() -> None:
    cheap = taking(10, "cheap")
    world = World(llm=taking(85), frugal=cheap, budget=of(person=100))
    assert [await world.said(f"turn {n}") for n in range(3)] == ["ok", "cheap", "cheap"]
    assert await world.said("hello", "bob") == "ok"


@pytest.mark.parametrize("error", [LLMUnavailable("down"), LLMRejected("no such model"), LLMError("nonsense")])
async def test_while_the_cheaper_model_can_not_be_used_the_usual_one_answers(error: LLMError) -> None:
    cheap = taking(1, "cheap")
    cheap.answer = lambda _: error
    world = World(llm=taking(10), frugal=cheap, budget=of(person=100, near=0.1))
    assert [await world.said(f"turn {n}") for n in range(4)] == ["ok"] * 4
    assert len(cheap.requests) == 1, "it is left alone for a while"
    assert await world.said("hello", "bob") == "ok"
    assert not list(world.engine.shared.outage)
    cheap.answer = taking(1, "cheap").answer
    world.clock.time += timedelta(minutes=1)
    assert await world.said("and now") == "cheap"


async def test_a_cheaper_model_that_is_down_is_no_outage_but_both_are() -> None:
    cheap = taking(1, "cheap")
    cheap.answer = lambda _: LLMUnavailable("down")
    llm = taking(90)
    world = World(llm=llm, frugal=cheap, budget=of(person=1000, near=0.01), clock=HeldClock())
    usual = llm.answer
    assert await world.said("one") == "ok"
    llm.answer = lambda _: LLMUnavailable("down as well")
    assert await world.said("two") == sentences.WAITS
    llm.answer = usual
    await waits(world, 60)
    assert world.adapter.texts()[-1] == "ok"


async def test_near_the_end_prompts_are_short_and_nothing_falls_out_of_memory() -> None:
    llm = taking(100)
    world = World(llm=llm, budget=of(person=10_000, near=0.3, near_tokens=700))
    for n in range(40):
        await world.say(f"turn {n} " + "word " * 40)
    sizes = [sum(len(m.content.split()) for m in request.messages) for request in llm.of("answer")]
    assert max(sizes) > 900
    assert max(sizes[35:]) < 700
    path = (await world.store.load(ANNA)).path
    assert sum(step.turns if isinstance(step, Segment) else 1 for step in path) == 40
    assert await world.store.verify() == []


# -- jobs ---------------------------------------------------------------------------------------------------------


def folding(**more: object) -> World:
    llm = taking(100)
    llm.summary = lambda _: Completion("gist", usage=Usage(10, 10), model="m")
    bot = Bot(memory=[Keepmind(WindowLimits(high_turns=4, low_turns=2))])
    return World(llm=llm, bot=bot, **more)  # type: ignore[arg-type]


async def test_jobs_wait_while_the_bot_has_nothing_left_and_are_done_then() -> None:
    world = folding(budget=of(bot=500))
    for n in range(5):
        await world.say(f"turn {n}")
    await world.settle()
    assert world.llm.of("summary") == []
    world.clock.time += timedelta(hours=12, minutes=1)
    await world.settle()
    assert len(world.llm.of("summary")) == 1


async def test_jobs_go_on_when_only_a_person_has_nothing_left() -> None:
    world = folding(budget=of(person=500))
    for n in range(6):
        await world.say(f"turn {n}")
    await world.settle()
    assert world.llm.of("summary")


async def test_near_the_end_of_the_bot_s_budget_the_cheaper_model_does_the_jobs() -> None:
    def gist(_: Request) -> Completion:
        return Completion("cheap gist", usage=Usage(5, 5), model="c")

    cheap = taking(10, "cheap")
    cheap.summary = gist
    world = folding(budget=of(bot=600), frugal=cheap)
    for n in range(5):
        await world.say(f"turn {n}")
    await world.settle()
    assert (world.llm.of("summary"), len(cheap.of("summary"))) == ([], 1)


@pytest.mark.parametrize("budget", [of(person=1), of(chat=1), of(bot=1)])
async def test_a_turn_in_progress_is_finished_however_much_it_takes(budget: Budget) -> None:
    world = World(llm=taking(10_000), budget=budget)
    assert await world.said("hello") == "ok"


@pytest.mark.parametrize("budget", [of(person=1), of(bot=1)])
async def test_who_waits_for_the_model_is_not_answered_when_nothing_is_left_by_then(budget: Budget) -> None:
    llm = taking(100)
    world = World(llm=llm, budget=budget, limits=Limits(parallel=2))
    llm.gate = asyncio.Event()
    asking = [asyncio.create_task(world.say("hello", "anna", f"club{n}", group=True)) for n in range(20)]
    await until(lambda: len(llm.requests) == 2 and world.engine.busy == 20)
    llm.gate.set()
    await asyncio.gather(*asking)
    assert len(llm.requests) == 2, "what is under way is all that goes beyond a limit"
    [spent] = await world.store.spent(START.date())
    assert spent.tokens == 200


async def test_commands_that_ask_the_model_do_not_when_nothing_is_left() -> None:
    world = World(llm=taking(100), budget=of(person=250))
    for text in ("one", "/aside", "two", "three"):
        await world.say(text)
    before = len(world.llm.requests)
    assert "Nothing is left to spend" in await world.said("/back keep")
    assert "I answer again from" in await world.said("/retry")
    assert len(world.llm.requests) == before
    assert "We are back" in await world.said("/back")
