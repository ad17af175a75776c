"""What the model takes: counted with each turn and each job, once, whose it is, and told to who asks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, timedelta

import pytest

from core.bot import Bot
from core.commands.spending import Overview, told
from core.errors import LLMUnavailable
from core.llm import Completion, Usage
from core.memory.keepmind import Keepmind
from core.memory.profile import Profile
from core.memory.window import WindowLimits
from core.messages import ChatKey, Person
from core.spending.prices import Price, Prices
from core.tools import tool
from core.translation import speaking
from core.usage import Spent
from tests.driving import ANNA, hold
from tests.fakes import START, ScriptedLLM, World, calling

DAY = START.date()
WHO = Person("test", "anna")


def reported(prompt: int = 100, completion: int = 20, cached: int = 40, model: str = "m-1") -> ScriptedLLM:
    return ScriptedLLM(lambda _: Completion("ok", usage=Usage(prompt, completion, cached), model=model))


async def of_anna(world: World) -> list[Spent]:
    return list(await world.store.spent(DAY, person=WHO))


# -- counting -----------------------------------------------------------------------------------------------------


async def test_an_answer_counts_as_the_server_reported_it() -> None:
    world = World(llm=reported())
    await world.say("hello")
    [one] = await of_anna(world)
    assert (one.model, one.purpose, one.requests) == ("m-1", "answer", 1)
    assert (one.prompt, one.cached, one.completion) == (100, 40, 20)
    assert await world.store.spent(DAY, chat=ANNA) == [one]


async def test_where_the_server_reports_nothing_it_is_counted_here() -> None:
    world = World(llm=ScriptedLLM(lambda _: Completion("three words here")))
    await world.say("hello")
    [one] = await of_anna(world)
    [request] = world.llm.of("answer")
    assert one.completion == 3
    assert one.prompt >= sum(len(m.content.split()) for m in request.messages)


async def test_each_request_of_a_turn_counts() -> None:
    @tool
    async def look() -> str:
        """Look."""
        return "blue"

    usage = Usage(50, 5)
    answers = [calling(("look", "{}")), Completion("Blue.")]
    llm = ScriptedLLM(lambda _: Completion("", answers[0].calls, usage=usage) if not llm.requests[1:] else done)
    done = Completion("Blue.", usage=usage)
    world = World(bot=Bot(tools=[look]), llm=llm)
    await world.say("which colour?")
    [one] = await of_anna(world)
    assert (one.requests, one.tokens) == (2, 110)


async def test_what_of_a_prompt_is_remembered_is_known() -> None:
    world = World(llm=ScriptedLLM(lambda _: Completion("ok")))
    await world.say("hello")
    [first] = await of_anna(world)
    assert first.memory == 0
    await world.say("and again " + "word " * 50)
    await world.say("and again")
    [one] = await of_anna(world)
    assert 50 < one.memory < one.prompt


async def test_a_failed_request_counts_for_what_is_known_of_it() -> None:
    answers: list[Completion | Exception] = [calling(("nothing", "{}")), LLMUnavailable("down")]
    world = World(llm=ScriptedLLM(lambda _: answers.pop(0)))
    await world.say("hello")
    assert [one.requests for one in await of_anna(world)] == [1]


async def test_a_stopped_answer_counts_with_what_was_heard_of_it() -> None:
    llm = ScriptedLLM(lambda _: Completion("one two three four", usage=Usage(9999, 9999), model="m-1"))
    world = World(llm=llm)
    await world.say("hello", "bob")
    gate = hold(world)
    asking = await world.engine.accept(world.message("tell me"))
    await gate.held.wait()
    await world.say("/stop")
    assert asking is not None
    await asking
    [one] = await of_anna(world)
    assert 0 < one.completion < 4
    assert 0 < one.prompt < 9999
    assert one.model == "m-1"


async def test_a_turn_taken_up_after_a_restart_is_counted_once() -> None:
    world = World(llm=reported())
    await world.say("hello")
    world.restart()
    await world.engine.recover()
    await world.engine.idle()
    assert [one.requests for one in await of_anna(world)] == [1]


async def test_what_was_spent_on_an_erased_turn_is_nobody_s() -> None:
    world = World(llm=reported())
    gate = hold(world)
    asking = await world.engine.accept(world.message("tell me"))
    await gate.held.wait()
    await world.say("/forget me yes")
    gate.set()
    assert asking is not None
    await asking
    assert await of_anna(world) == []
    assert [one.requests for one in await world.store.spent(DAY)] == [1]


async def test_a_summary_counts_for_the_person_of_a_private_chat_and_in_a_group_for_the_chat() -> None:
    world = World(llm=reported(), bot=Bot(memory=[Keepmind(WindowLimits(high_turns=4, low_turns=2))]))
    world.llm.summary = lambda _: Completion("gist", usage=Usage(70, 7), model="m-2")
    for n in range(5):
        await world.say(f"turn {n}")
        await world.say(f"turn {n}", "bob", "group", group=True)
    await world.settle()
    assert [one.model for one in await of_anna(world)] == ["m-1", "m-2"]
    assert [one.purpose for one in await world.store.spent(DAY, person=Person("test", "bob"))] == ["answer"]
    assert [one.purpose for one in await world.store.spent(DAY, chat=ChatKey("test", "group"))] == ["answer", "summary"]


async def test_an_extraction_counts_for_who_is_spoken_of() -> None:
    llm = reported()
    llm.calls_tools = False
    llm.extract = lambda _: Completion('{"facts": []}', usage=Usage(30, 3), model="m-1")
    world = World(llm=llm, bot=Bot(memory=[Keepmind(), Profile()]))
    await world.say("I live in Rome", group=True, chat="group")
    await world.settle()
    assert [(one.purpose, one.tokens) for one in await of_anna(world)] == [("answer", 120), ("extract", 33)]


async def test_who_speaks_as_nobody_spends_as_nobody() -> None:
    world = World(llm=reported(), allowed=("test:*", "test:group"))
    await world.say("hello", chat="group", group=True, anonymous=True)
    assert await of_anna(world) == []
    assert [one.tokens for one in await world.store.spent(DAY, chat=ChatKey("test", "group"))] == [120]


async def test_what_is_said_in_topics_counts_for_their_group() -> None:
    world = World(llm=reported())
    message = world.message("hello", group=True)
    await world.engine.handle(replace(message, chat=ChatKey("test", "group", "7")))
    assert [one.tokens for one in await world.store.spent(DAY, chat=ChatKey("test", "group"))] == [120]


# -- telling ------------------------------------------------------------------------------------------------------


PRICES = Prices({"m": Price(1, 0.5, 10), "m-1": Price(2, 1, 20)}, "EUR")


async def test_a_person_is_told_what_was_used_for_them_in_money_too() -> None:
    world = World(llm=reported(), prices=PRICES)
    await world.say("hello")
    await world.say("hello", "bob")
    world.clock.time += timedelta(days=1)
    await world.say("hello again")
    lines = (await world.said("/usage")).splitlines()
    assert lines[0].startswith("Today: 120 tokens in 1 request, ")
    assert lines[0].endswith("; 0.0006 EUR.")
    assert lines[1].startswith("This month: 240 tokens in 2 requests, ")


async def test_without_prices_no_money_is_told() -> None:
    world = World(llm=reported())
    nothing = "0 tokens in 0 requests, 0% of them for memory."
    assert await world.said("/usage") == f"Today: {nothing}\nThis month: {nothing}"


async def test_an_admin_is_told_of_all_and_of_one() -> None:
    world = World(llm=reported(), prices=PRICES)
    for _ in range(2):
        await world.say("hello")
    await world.say("hello", "bob", "group", group=True)
    lines = (await world.said("/admin usage", "root")).splitlines()
    assert lines[0].startswith("Today: 360 tokens in 3 requests")
    assert any(line.startswith("m-1: 360 tokens in 3 requests") for line in lines)
    assert "Most this month, of persons: test:anna 240, test:bob 120" in lines
    assert "Most this month, of chats: test:anna 240, test:group 120" in lines
    assert any(line.endswith("█ today 360, in 14 days 360") for line in lines)
    assert (await world.said("/admin usage test:group", "root")).startswith("Today: 120 tokens in 1 request")
    assert (await world.said("/admin usage test:anna", "root")).startswith("Today: 240 tokens in 2 requests")
    assert await world.said("/admin usage test:nobody", "root") == "No tokens were used of late."
    assert await world.said("/admin usage") == "Only an admin can do that."


def test_a_price_is_found_by_the_longest_beginning_of_the_name() -> None:
    assert PRICES.known("m-1") == PRICES.known("m-1-2026-01-01") == Price(2, 1, 20)
    assert PRICES.known("m:latest") == Price(1, 0.5, 10)
    assert PRICES.known("mini") is None


@pytest.mark.parametrize(("amount", "written"), [(0.0, "0.00 EUR"), (0.00064, "0.0006 EUR"), (1234.5, "1,234.50 EUR")])
def test_small_amounts_are_written_more_exactly(amount: float, written: str) -> None:
    assert PRICES.written(amount) == written


def test_what_a_cache_held_costs_less_and_an_unknown_model_leaves_the_cost_open() -> None:
    one = Spent(DAY, None, None, "m-1", "answer", 1, 1_000_000, 400_000, 100_000)
    assert PRICES.cost([one]) == pytest.approx(1.2 + 0.4 + 2)
    assert PRICES.cost([one, Spent(DAY, None, None, "other", "answer", 1, 1)]) is None


def test_it_is_said_in_the_language_spoken() -> None:
    with speaking("ru"):
        lines = told(Overview(date(2026, 3, 1), [Spent(DAY, None, None, "m", "answer", 2, 50)]), Prices(), UTC)
    assert lines[0].startswith("Сегодня: токенов — 50, 2 запроса")
