"""Going back, answering anew, and leading aside: what is left is neither lost nor shown."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from core.bot import Bot
from core.conversation import Conversation, Segment, State
from core.errors import LLMRejected, LLMUnavailable
from core.llm import Completion, Request
from core.memory.keepmind import Keepmind, SummaryLimits
from core.memory.memory import Memory
from core.memory.profile import Profile
from core.memory.recent import Window
from core.memory.summary_buffer import Summary
from core.memory.window import WindowLimits
from core.rates import Rates
from tests.driving import ANNA, hold, turns, until
from tests.fakes import ScriptedLLM, World, check_request, echo
from tests.talks import a_world, facts, tell

CLUB: dict[str, Any] = {"chat": "club", "group": True}
KINDS: dict[str, Memory] = {
    "keepmind": Keepmind(WindowLimits(6, 3, 100_000, 50_000, 2), SummaryLimits(60, 300)),
    "summary": Summary(),
    "window": Window(30),
}


def gist(request: Request) -> Completion:
    """Repeat what was said, line by line."""
    text = request.messages[-1].content
    lines = [line for line in text.splitlines() if "said" in line and not line.startswith("Bot")]
    return Completion("\n".join(lines) or "nothing")


def of_kind(kind: str) -> World:
    world = World(bot=Bot(memory=[KINDS[kind], Profile()]))
    world.llm.summary = gist
    return world


async def talk(world: World, *texts: str) -> None:
    for text in texts:
        await world.say(text)
        await world.settle()


async def here(world: World) -> Conversation:
    return await world.store.load(ANNA)


async def shown(world: World) -> str:
    """What the next prompt shows."""
    await world.say("what do you know?")
    check_request(world.llm.of("answer")[-1])
    text = world.prompt()
    await world.said("/undo")
    return text


async def test_undo_goes_on_as_if_the_last_turn_had_not_been_said() -> None:
    world = World()
    await talk(world, "I live in Oslo", "I live in Rome")
    assert await world.said("/undo") == (
        "Taken back: I go on as if «I live in Rome» had not been said. It is kept, and I no longer think of it."
    )
    await world.say("where do I live?")
    assert "Oslo" in world.prompt()
    assert "Rome" not in world.prompt()
    assert await world.store.holds("I live in Rome")
    assert [t.message.text for t in await turns(world)] == ["I live in Oslo", "where do I live?"]


async def test_undo_again_goes_further_back_up_to_the_first_turn() -> None:
    world = World()
    await talk(world, "one", "two")
    await world.said("/undo")
    assert "«one»" in await world.said("/undo")
    assert (await here(world)).path == ()
    assert await world.said("/undo") == "There is no turn here to go back to."


async def test_a_long_message_is_named_by_its_beginning() -> None:
    world = World()
    await talk(world, "word\n" * 100)
    assert "«word word word" in (reply := await world.said("/undo"))
    assert "…»" in reply
    assert len(reply) < 200


@pytest.mark.parametrize("kind", KINDS)
async def test_undo_past_a_summary_lets_the_older_one_serve(kind: str) -> None:
    world = of_kind(kind)
    await talk(world, *(f"said {n}" for n in range(1, 13)))
    for n in range(12, 2, -1):
        assert f"«said {n}»" in await world.said("/undo")
        text = await shown(world)
        assert f"said {n - 1}" in text
        assert f"said {n}" not in text.replace(f"said {n}0", "")
    assert await world.store.verify() == []


async def test_facts_learned_in_an_undone_turn_stay_and_that_is_said() -> None:
    world = a_world()
    await tell(world, "I play chess", ("add", "hobbies", "chess"))
    assert (await world.said("/undo")).endswith("What I learned about you there stays; /memory undo takes it back.")
    assert await facts(world) == {"hobbies": "chess"}
    await world.said("/memory undo")
    assert await facts(world) == {}


async def test_retry_answers_the_last_message_anew_beside_the_first_answer() -> None:
    answers = ["first", "second", "third"]
    world = World(llm=ScriptedLLM(lambda request: Completion(answers.pop(0))))
    await world.say("tell me")
    assert await world.said("/retry") == "I answer that anew."
    await world.engine.idle()
    await world.say("/retry")
    await world.engine.idle()
    assert world.adapter.texts() == ["first", "I answer that anew.", "second", "I answer that anew.", "third"]
    assert "first" not in world.prompt()
    assert "second" not in world.prompt()
    (turn,) = await turns(world)
    assert turn.answer is not None
    assert turn.answer.text == "third"
    assert await world.store.holds("second")


async def test_retry_is_answered_before_what_was_said_after_it() -> None:
    world = World()
    await world.say("one")
    gate = hold(world)
    first = asyncio.create_task(world.say("two"))
    await gate.held.wait()
    again, last = asyncio.create_task(world.say("/retry")), asyncio.create_task(world.say("three"))
    await until(lambda: len(asyncio.all_tasks()) > 3)
    world.llm.gate = None
    gate.set()
    await asyncio.gather(first, again, last)
    assert [t.message.text for t in await turns(world)] == ["one", "two", "three"]
    assert world.adapter.texts()[1:] == ["You said: two", "I answer that anew.", "You said: two", "You said: three"]


async def test_a_turn_that_failed_can_be_answered_anew() -> None:
    world = World(llm=ScriptedLLM(lambda request: LLMRejected("no")))
    await world.say("tell me")
    world.llm.answer = echo
    await world.say("/retry")
    await world.engine.idle()
    assert world.adapter.texts()[-1] == "You said: tell me"
    (turn,) = await turns(world)
    assert turn.state is State.DELIVERED


async def test_an_answer_anew_outlives_the_death_of_the_process() -> None:
    world = World()
    await world.say("tell me")
    (turn,) = await turns(world)
    await world.store.retry(await here(world), turn, tokens=7, at=world.clock.now())
    world.restart()
    await world.engine.recover()
    await world.engine.idle()
    assert world.adapter.texts() == ["You said: tell me", "You said: tell me"]


async def test_retry_counts_as_a_message() -> None:
    world = World()
    world.engine.limit._rates = Rates(person=2)
    await world.say("tell me")
    for _ in range(3):
        await world.say("/retry")
    await world.engine.idle()
    assert len(world.llm.of("answer")) == 2


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_said_aside_is_shown_there_and_not_after_it(kind: str) -> None:
    world = of_kind(kind)
    await talk(world, *(f"said {n}" for n in range(1, 6)))
    assert (await world.said("/aside")).startswith("We are aside now.")
    await talk(world, *(f"said aside {n}" for n in range(1, 13)))
    text = await shown(world)
    assert "said 5" in text
    assert "said aside 1" in text
    assert "said aside 12" in text
    assert (await world.said("/back")).startswith("We are back where we were.")
    text = await shown(world)
    assert "aside" not in text.partition("user:")[2]
    assert all(f"said {n}" in text for n in range(1, 6))
    assert await world.store.holds("said aside 7")
    assert await world.store.verify() == []


@pytest.mark.parametrize("kind", KINDS)
async def test_one_line_of_an_aside_comes_along(kind: str) -> None:
    world = of_kind(kind)
    await talk(world, *(f"said {n}" for n in range(1, 6)))
    await world.said("/aside")
    await talk(world, *(f"said aside {n}" for n in range(1, 13)))
    world.llm.summary = lambda request: Completion("The tickets cost\n42 euros. ")
    assert await world.said("/back keep") == "We are back. Of the aside I keep: The tickets cost 42 euros."
    assert "said aside 1" in world.llm.of("summary")[-1].messages[1].content
    world.llm.summary = gist
    text = await shown(world)
    assert text.index("said 5") < text.index("The tickets cost 42 euros.")
    assert "said aside" not in text
    assert (await here(world)).asides == ()
    assert await world.store.verify() == []


async def test_the_line_kept_of_an_aside_is_folded_with_the_rest_later() -> None:
    world = of_kind("keepmind")
    await talk(world, "said 1")
    await world.said("/aside")
    await talk(world, "said aside")
    world.llm.summary = lambda request: Completion("It was said that tickets cost 42 euros.")
    await world.said("/back keep")
    assert [type(s).__name__ for s in (await here(world)).path] == ["Turn", "Segment"]
    await world.engine.compactor.compact(ANNA)
    assert [type(s).__name__ for s in (await here(world)).path] == ["Turn", "Segment"], "it is no hole"
    world.llm.summary = gist
    await talk(world, *(f"said {n}" for n in range(2, 9)))
    (segment,) = (await here(world)).segments
    assert "42 euros" in segment.text
    assert "said 1" in segment.text


async def test_when_the_line_cannot_be_had_we_stay_aside() -> None:
    world = World()
    await talk(world, "one")
    await world.said("/aside")
    await talk(world, "two")
    world.llm.summary = lambda request: LLMUnavailable("down")
    assert (await world.said("/back keep")).startswith("I could not put it in a line just now")
    assert len((await here(world)).turns) == 2
    assert (await world.said("/back")).startswith("We are back where we were.")
    assert [t.message.text for t in await turns(world)] == ["one"]


async def test_asides_lie_within_one_another() -> None:
    world = World()
    await talk(world, "one")
    await world.said("/aside")
    await talk(world, "two")
    await world.said("/aside")
    await talk(world, "three")
    assert [t.message.text for t in await turns(world)] == ["one", "two", "three"]
    await world.said("/back")
    await talk(world, "four")
    assert [t.message.text for t in await turns(world)] == ["one", "two", "four"]
    await world.said("/back")
    await talk(world, "five")
    assert [t.message.text for t in await turns(world)] == ["one", "five"]
    assert await world.said("/back") == "We are not aside. /aside leads there."


async def test_undo_takes_back_an_aside_in_which_nothing_was_said_and_never_leads_out_of_one() -> None:
    world = World()
    await talk(world, "one")
    await world.said("/aside")
    await talk(world, "two")
    await world.said("/undo")
    assert (await here(world)).asides != ()
    assert await world.said("/undo") == "We are no longer aside; nothing had been said there."
    assert [t.message.text for t in await turns(world)] == ["one"]
    assert (await here(world)).asides == ()


async def test_retry_in_a_new_aside_does_not_reach_out_of_it() -> None:
    world = World()
    await talk(world, "one")
    await world.said("/aside")
    assert await world.said("/retry") == "There is no turn here to go back to."


async def test_a_summary_stands_for_turns_of_one_side_only() -> None:
    for kind in ("keepmind", "summary"):
        world = of_kind(kind)
        await talk(world, *(f"said {n}" for n in range(1, 5)))
        await world.said("/aside")
        begun = (await here(world)).head
        await talk(world, *(f"said aside {n}" for n in range(1, 20)))
        await world.engine.compactor.compact(ANNA, low=True)
        ends = [step.last for step in (await here(world)).path]
        assert begun in ends
        assert any(isinstance(step, Segment) and step.before == begun for step in (await here(world)).path)


async def test_in_a_group_only_one_s_own_last_turn_is_taken_back_or_an_admin_does_it() -> None:
    world = World()
    await world.say("one", "anna", **CLUB)
    await world.say("two", "bob", **CLUB)
    refusal = "Somebody else spoke last here; only they or an admin can do that."
    for text in ("/undo", "/retry"):
        assert await world.said(text, "anna", **CLUB) == refusal
    assert "«two»" in await world.said("/undo", "bob", **CLUB)
    assert "«one»" in await world.said("/undo", "root", **CLUB)
    assert [entry.action for entry in await world.store.audited()] == ["/undo"]


async def test_what_was_heard_since_in_a_group_is_not_left_behind_by_others() -> None:
    world = World()
    await world.say("one", "anna", **CLUB)
    await world.say("by the way", "bob", addressed=False, **CLUB)
    assert (await world.said("/undo", "anna", **CLUB)).startswith("Somebody else spoke last here")
    await world.said("/forget last", "bob", **CLUB)
    await world.say("to myself", "anna", addressed=False, **CLUB)
    assert "«one»" in await world.said("/undo", "anna", **CLUB)


async def test_incognito_there_is_one_line_of_talk_only() -> None:
    world = World()
    await world.say("kept")
    await world.said("/incognito")
    await world.say("hidden")
    assert await world.said("/undo") == "Taken back."
    await world.say("what did I say?")
    assert "hidden" not in world.prompt()
    await world.said("/undo")
    for text in ("/undo", "/retry", "/aside"):
        assert (await world.said(text)).startswith("You are incognito")
    assert [t.message.text for t in await turns(world)] == ["kept"]


async def test_the_export_holds_what_was_left_and_forgetting_reaches_it() -> None:
    world = World()
    await talk(world, "one", "left behind")
    await world.said("/undo")
    reply = await world.say("/export")
    assert reply is not None
    assert reply.file is not None
    assert "left behind" in json.dumps(json.loads(reply.file.data))
    await world.said("/forget chat yes")
    assert await world.store.holds("left behind") == []


async def test_a_wrong_word_after_back_is_told() -> None:
    assert await World().said("/back home") == "Please say it as /back [keep]"
