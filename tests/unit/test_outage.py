"""The model is down: what is said waits in order, its person is told once, and all of it is answered as one turn."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from core import sentences
from core.bot import Bot
from core.conversation import State
from core.errors import LLMUnavailable
from core.llm import Completion, Request
from core.messages import ChatKey
from core.personas import Persona
from core.records import Job
from core.tools import tool
from tests.driving import ANNA, BOB, HeldAdapter, turns, until, waits
from tests.fakes import HeldClock, ScriptedLLM, World, calling, echo

CLUB = ChatKey("test", "club")


def down(request: Request) -> Completion:
    raise LLMUnavailable("nobody answers")


@pytest.fixture
def world() -> World:
    """Give a world whose model is down."""
    return World(llm=ScriptedLLM(down), clock=HeldClock())


async def is_back(world: World, seconds: float = 60) -> None:
    """Let the model be back, and time pass until that is noticed."""
    world.llm.answer = echo
    await waits(world, seconds)


async def said(world: World, chat: ChatKey = ANNA) -> Sequence[list[str]]:
    """Give what each turn holds; none may be open or wait."""
    assert await world.store.open_turns() == []
    assert await world.store.waiting() == []
    return [[message.text for message in turn.messages] for turn in await turns(world, chat)]


async def test_after_an_hour_all_that_was_said_is_answered_as_one_turn_and_was_told_once(world: World) -> None:
    assert await world.said("one") == sentences.WAITS
    for text in ("two", "three"):
        await waits(world, 1800)
        assert await world.say(text) is None
    await waits(world, 60)
    assert world.adapter.texts() == [sentences.WAITS]
    await is_back(world)
    assert await said(world) == [["one", "two", "three"]]
    assert world.adapter.texts() == [sentences.WAITS, "You said: three"]
    assert "user: one\ntwo\nthree" in world.prompt()
    (turn,) = await turns(world)
    assert (turn.state, turn.failure) == (State.DELIVERED, "")
    assert await world.said("four") == "You said: four"


async def test_it_is_asked_ever_more_rarely_and_for_one_chat_at_a_time_however_many_wait(world: World) -> None:
    people = [f"p{n}" for n in range(100)]
    for text in ("one", "two", "three"):
        await asyncio.gather(*(world.say(text, who) for who in people))
    asked = len(world.llm.requests)
    assert asked <= world.limits.parallel, "who comes once it is known to be down does not wait for it"
    await waits(world, 3600)
    assert 55 <= len(world.llm.requests) - asked <= 70
    assert (world.engine.waiting, world.engine.busy) == (0, 0), "what waits lies in the store"
    assert world.adapter.texts() == [sentences.WAITS] * len(people)
    await is_back(world)
    for who in people:
        assert await said(world, ChatKey("test", who)) == [["one", "two", "three"]]
        assert world.adapter.texts(ChatKey("test", who))[1:] == ["You said: three"]


async def test_in_a_group_what_one_after_another_said_is_a_turn_each(world: World) -> None:
    for who, text in (("anna", "a1"), ("anna", "a2"), ("bob", "b1"), ("anna", "a3")):
        await world.say(text, who, "club", group=True)
    await is_back(world)
    assert await said(world, CLUB) == [["a1", "a2"], ["b1"], ["a3"]]
    assert world.adapter.texts().count(sentences.WAITS) == 1


async def test_who_can_not_be_answered_alone_holds_up_nobody_else(world: World) -> None:
    world.llm.answer = lambda request: down(request) if "poison" in str(request) else echo(request)
    assert await world.said("poison") == sentences.WAITS
    for n in range(3):
        await waits(world, 600)
        assert await world.said(f"hello {n}", "bob") == f"You said: hello {n}"
    assert world.adapter.texts(ANNA) == [sentences.WAITS]
    await is_back(world)
    assert await said(world) == [["poison"]]


async def test_a_persona_with_a_model_of_its_own_is_not_held_up(world: World) -> None:
    world.bot = Bot(elsewhere={"test:club": Persona(llm=ScriptedLLM())})
    world.restart()
    for who in ("anna", "bob", "cleo"):
        await world.say("hello", who)
    assert await world.said("hello", "anna", "club", group=True) == "You said: [anna] hello"


async def test_personas_that_share_a_model_share_what_is_known_of_it(world: World) -> None:
    world.bot = Bot(elsewhere={"test:club": Persona("A parrot.", llm=world.llm)})
    world.restart()
    for who in ("anna", "bob"):
        await world.say("hello", who)
    asked = len(world.llm.requests)
    await world.say("hello", "anna", "club", group=True)
    assert len(world.llm.requests) == asked, "it is known to be down"


async def test_what_is_said_after_the_model_was_found_to_be_back_is_answered_at_once(world: World) -> None:
    for who in ("anna", "bob"):
        await world.say("hello", who)
    await is_back(world)
    assert await world.said("hi", "cleo") == "You said: hi"


async def test_compaction_waits_and_none_of_it_counts_as_tried(world: World) -> None:
    for who in ("anna", "bob"):
        await world.say("hello", who)
    await world.store.enqueue(Job("compact", str(ANNA), world.clock.now()))
    for _ in range(60):
        await waits(world, 60)
        await world.engine.compactor.tick()
    assert world.llm.of("summary") == []
    await is_back(world)
    (job, *_) = await world.store.claim("me", world.clock.now(), lease=1, limit=9)
    assert (job.kind, job.attempts) == ("compact", 0)


async def test_after_a_restart_nobody_is_told_again_and_it_is_answered_as_one_turn(world: World) -> None:
    for who in ("anna", "bob"):
        for text in ("one", "two"):
            await world.say(text, who)
    await world.engine.aclose()
    await world.restart().recover()
    await world.engine.idle()
    assert (world.engine.waiting, world.engine.busy) == (0, 0)
    assert await world.say("three") is None
    await waits(world, 600)
    assert world.adapter.texts(ANNA) == [sentences.WAITS]
    await is_back(world)
    assert await said(world) == [["one", "two", "three"]]
    assert await said(world, BOB) == [["one", "two"]]


async def test_after_longer_than_is_allowed_it_is_closed_with_one_sentence(world: World) -> None:
    for text in ("one", "two"):
        await world.say(text)
    await waits(world, 7 * 3600)
    await is_back(world)
    assert await said(world) == [["one", "two"]]
    assert world.adapter.texts() == [sentences.WAITS, sentences.TOO_OLD]


async def test_what_was_said_long_ago_is_answered_with_what_was_said_since(world: World) -> None:
    await world.say("one")
    await waits(world, 5 * 3600)
    await world.say("two")
    await waits(world, 2 * 3600)
    await is_back(world)
    assert await said(world) == [["one", "two"]]
    assert world.adapter.texts() == [sentences.WAITS, "You said: two"]


async def test_a_stop_ends_what_waits_and_what_is_said_after_it_is_answered(world: World) -> None:
    await world.say("one")
    assert await world.said("/stop") == sentences.STOPPED
    await world.say("two")
    await is_back(world)
    assert await said(world) == [["one"], ["two"]]
    assert [turn.failure for turn in await turns(world)] == ["stopped", ""]


async def test_in_a_group_nobody_else_stops_what_waits(world: World) -> None:
    await world.say("one", "anna", "club", group=True)
    assert "for somebody else" in await world.said("/stop", "bob", "club", group=True)
    await is_back(world)
    assert world.adapter.texts(CLUB)[-1] == "You said: [anna] one"


async def test_what_waits_can_be_taken_back_and_is_not_answered_then(world: World) -> None:
    await world.say("one")
    await world.say("/undo")
    await is_back(world)
    assert await world.store.open_turns() == []
    assert "You said: one" not in world.adapter.texts()


async def test_what_waits_can_be_erased(world: World) -> None:
    for text in ("one", "two"):
        await world.say(text)
    await world.say("/forget chat yes")
    await is_back(world)
    assert await said(world) == []
    assert await world.said("hello") == "You said: hello"


async def test_asked_to_answer_anew_it_tries_at_once(world: World) -> None:
    await world.say("one")
    world.llm.answer = echo
    await world.say("/retry")
    await world.engine.idle()
    assert world.adapter.texts()[-1] == "You said: one"
    assert await world.store.open_turns() == []


async def test_what_is_said_next_is_another_turn_when_the_talk_has_been_led_aside(world: World) -> None:
    await world.say("one")
    await world.say("/aside")
    await world.say("two")
    await is_back(world)
    assert await said(world) == [["one"], ["two"]]


async def test_tools_that_ran_are_not_run_again(world: World) -> None:
    runs = []

    @tool
    async def order(what: str) -> str:
        """Order something."""
        runs.append(what)
        return "ordered"

    world.bot = Bot(tools=[order])
    answers: list[Completion | Exception] = [calling(("order", '{"what": "tea"}')), LLMUnavailable("down")]
    world.llm.answer = lambda request: answers.pop(0)
    await world.restart().handle(world.message("tea, please"))
    await world.say("with milk")
    world.llm.answer = lambda request: Completion("Tea is on its way.")
    await waits(world, 60)
    (turn,) = await turns(world)
    assert (runs, len(turn.rounds), len(turn.messages)) == (["tea"], 1, 2)
    assert world.adapter.texts()[-1] == "Tea is on its way."


async def test_what_was_shown_of_an_answer_becomes_the_answer(world: World) -> None:
    world.adapter.pace = 0.0
    answers: list[Completion | Exception] = [calling(("nothing", "{}"), text="I look it up"), LLMUnavailable("down")]
    world.llm.answer = lambda request: answers.pop(0)
    saying = asyncio.create_task(world.say("one"))
    while not saying.done():
        world.clock.wake_first(world.clock.now())  # type: ignore[attr-defined] # the preview's pace
        await asyncio.sleep(0)
    world.llm.answer = lambda request: Completion("Done.")
    await waits(world, 60)
    await until(lambda: "Done." in world.adapter.texts())
    assert [text for text in world.adapter.texts() if text != sentences.WAITS] == ["Done."]


async def test_a_chat_that_becomes_another_is_answered_there(world: World) -> None:
    for text in ("one", "two"):
        await world.say(text, "anna", "club", group=True)
    new = ChatKey("test", "new")
    await world.engine.move(CLUB, new)
    assert await world.say("three", "anna", "new", group=True) is None
    await is_back(world)
    assert await said(world, new) == [["one", "two", "three"]]
    assert world.adapter.texts(new) == ["You said: [anna] three"]


async def test_what_is_said_incognito_waits_and_leaves_nothing(world: World) -> None:
    await world.say("/incognito on")
    for text in ("a secret", "another secret"):
        await world.say(text)
    await is_back(world)
    assert world.adapter.texts()[-1] == "You said: another secret"
    assert await said(world) == []
    assert await world.store.holds("secret") == []


async def test_a_command_does_not_wait(world: World) -> None:
    await world.say("one")
    assert await world.said("/memory") != sentences.WAITS
    await is_back(world)
    assert world.adapter.texts()[-1] == "You said: one"


async def test_closing_during_it_leaves_all_for_the_next_start(world: World) -> None:
    for text in ("one", "two"):
        await world.say(text)
    await world.engine.aclose()
    await world.say("three")
    world.llm.answer = echo
    await world.restart().recover()
    await world.engine.idle()
    assert await said(world) == [["one", "two", "three"]]


async def test_the_age_is_that_of_the_newest_message(world: World) -> None:
    await world.say("one", sent_at=world.clock.now() - timedelta(hours=5))
    await waits(world, 2 * 3600)
    await is_back(world)
    assert world.adapter.texts()[-1] == "You said: one"


async def test_nobody_waits_for_an_answer_that_another_s_platform_does_not_take() -> None:
    adapter = HeldAdapter(2)
    world = World(adapter=adapter)
    usual, world.llm.answer = world.llm.answer, lambda _: LLMUnavailable("down")
    assert [await world.said("one"), await world.said("two", "bob")] == [sentences.WAITS] * 2
    world.llm.answer = usual
    await adapter.held.wait()
    await until(lambda: len(adapter.shown) == 3)
    assert adapter.shown[2].out.text.startswith("You said: ")
    adapter.free.set()
    await world.engine.idle()
    assert (adapter.texts(ANNA)[1:], adapter.texts(BOB)[1:]) == (["You said: one"], ["You said: two"])
    assert await world.store.open_turns() == []
