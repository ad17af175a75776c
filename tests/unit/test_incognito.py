"""Incognito: nothing is kept beyond the answer, nothing remembered is used, and the talk goes on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.sql import open_store
from core.errors import LLMRejected
from core.llm import Completion, Request
from core.messages import Person
from core.tools import tool
from tests.driving import HeldAdapter, Life, alive, hold, kill, turns, until
from tests.fakes import FakeAdapter, ScriptedLLM, World
from tests.talks import Obeying, a_world, facts, prepare, tell, writing

MARKER = "zanzibar"


async def a_hidden_world() -> World:
    """A bot that knows Anna, who is incognito."""
    world = a_world()
    await tell(world, "I am Anna and I like tea", ("add", "name", "Anna"))
    await world.say("/incognito")
    return world


def contents(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


async def kept(world: World) -> Sequence[str]:
    return await world.store.holds(MARKER)


async def test_nothing_said_incognito_is_kept_once_it_is_answered() -> None:
    world = await a_hidden_world()
    before = [t.id for t in await turns(world)]
    assert MARKER in await world.said(f"I went to {MARKER}")
    assert await kept(world) == []
    assert [t.id for t in await turns(world)] == before
    assert await world.store.verify() == []


async def test_a_message_said_incognito_is_still_taken_once() -> None:
    world = await a_hidden_world()
    message = world.message(f"I went to {MARKER}")
    assert await world.engine.handle(message)
    assert await world.engine.handle(message) is None


async def test_it_is_kept_while_it_is_being_answered() -> None:
    world = await a_hidden_world()
    gate = hold(world)
    running = asyncio.create_task(world.said(f"I went to {MARKER}"))
    await gate.held.wait()
    assert await kept(world) == ["turn"]
    gate.set()
    await running
    assert await kept(world) == []


async def test_the_prompt_holds_the_stretch_and_nothing_remembered() -> None:
    world = await a_hidden_world()
    await world.say("my first secret")
    await world.say("my second secret")
    prompt = world.prompt()
    assert "my first secret" in prompt
    assert "You said: my first secret" in prompt
    for remembered in ("Anna", "tea", "known facts", "update_memory"):
        assert remembered not in prompt
    assert world.llm.of("answer")[-1].tools == ()


async def test_what_was_said_incognito_is_in_no_later_prompt() -> None:
    world = await a_hidden_world()
    await world.say(f"I went to {MARKER}")
    assert "no longer incognito" in await world.said("/incognito off")
    await world.say("What do you know?")
    assert MARKER not in world.prompt()
    assert "tea" in world.prompt()
    await world.say("/incognito on")
    await world.say("and now?")
    assert MARKER not in world.prompt(), "a new stretch begins with nothing"


async def test_a_restart_ends_what_is_known_of_the_stretch_but_not_the_stretch() -> None:
    world = await a_hidden_world()
    await world.say(f"I went to {MARKER}")
    world.restart()
    await world.say("and then home")
    assert MARKER not in world.prompt()
    assert await world.store.holds("and then home") == []


async def test_no_facts_are_learned_and_no_jobs_are_left() -> None:
    world = await a_hidden_world()
    world.llm.calls_tools = False
    for number in range(40):
        await world.say(f"My city is {MARKER} {number}")
    world.clock.time += timedelta(minutes=40)
    await world.engine.compactor.tick()
    await world.settle()
    assert await facts(world) == {"name": "Anna"}
    assert await kept(world) == []
    assert all(MARKER not in m.content for r in world.llm.requests if r.purpose != "answer" for m in r.messages)


async def test_a_tool_that_would_write_a_fact_is_told_that_it_is_not_saved() -> None:
    world = await a_hidden_world()
    prepare(world, writing(("add", "city", MARKER)))
    await world.say(f"I live in {MARKER}")
    assert await facts(world) == {"name": "Anna"}


async def test_what_was_queued_behind_the_command_is_incognito_already() -> None:
    world = a_world()
    gate = hold(world)
    first = asyncio.create_task(world.said("hello"))
    await gate.held.wait()
    rest = [asyncio.create_task(world.said(text)) for text in ("/incognito on", f"I went to {MARKER}")]
    await until(lambda: gate.waiting)
    gate.set()
    await asyncio.gather(first, *rest)
    assert await kept(world) == []
    assert await world.store.holds("hello")


async def test_an_answer_that_fails_leaves_nothing_and_says_so() -> None:
    world = await a_hidden_world()

    def fail(request: Request) -> Completion:
        raise LLMRejected("no")

    world.llm.answer = fail
    assert "nothing of it is kept" in await world.said(f"I went to {MARKER}")
    assert await kept(world) == []
    assert not await world.store.open_turns()


async def test_a_stopped_answer_leaves_nothing() -> None:
    world = await a_hidden_world()
    gate = hold(world)
    running = asyncio.create_task(world.say(f"I went to {MARKER}"))
    await gate.held.wait()
    assert await world.said("/stop") == "Stopped. Nothing of it is kept."
    await running
    assert await kept(world) == []


@pytest.mark.parametrize("ended", [False, True])
async def test_a_killed_process_leaves_nothing_once_it_has_answered(ended: bool) -> None:
    """Also when the person ends it before the answer is taken up: it was said incognito."""
    world = World(adapter=HeldAdapter(at=1))
    await world.say("/incognito")
    adapter = world.adapter
    assert isinstance(adapter, HeldAdapter)
    running = asyncio.create_task(world.say(f"I went to {MARKER}"))
    await adapter.held.wait()
    await kill()
    assert running.done()
    assert await kept(world) == ["turn"]
    adapter.free.set()
    world.restart()
    if ended:
        await world.say("/incognito off", chat="elsewhere")
    await world.engine.recover()
    await world.engine.idle()
    assert await kept(world) == []
    assert not any(MARKER in text for text in adapter.texts()), "what may have been sent is not sent again"


async def test_a_process_killed_while_it_asks_answers_at_the_next_start_and_keeps_nothing() -> None:
    world = await a_hidden_world()
    gate = hold(world)
    running = asyncio.create_task(world.say(f"I went to {MARKER}"))
    await gate.held.wait()
    await kill()
    assert running.done()
    gate.set()
    world.restart()
    await world.engine.recover()
    await world.engine.idle()
    assert f"You said: I went to {MARKER}" in world.adapter.texts()
    assert "tea" not in world.prompt()
    assert await kept(world) == []


@pytest.mark.parametrize("streamed", [False, True])
async def test_after_a_kill_at_any_step_it_is_answered_at_most_once_and_nothing_is_left(streamed: bool) -> None:
    last, survived = 0, False
    while not survived:
        last += 1
        life = Life(last)
        world = World(llm=ScriptedLLM(lambda r: Completion(f"{MARKER}def")), adapter=FakeAdapter(limit=6))
        world.adapter.pace = 0.0 if streamed else None
        await world.say("/incognito")
        store, adapter = world.store, world.adapter
        adapter.shown.clear()
        world.store = alive(store, life)
        world.adapter = life.within(adapter, "split", "serves", "typing")
        world.restart()
        message = world.message(f"I went to {MARKER}")
        said = asyncio.create_task(world.engine.handle(message))
        dying = asyncio.create_task(life.dead.wait())
        await asyncio.wait([said, dying], return_when=asyncio.FIRST_COMPLETED)
        survived = said.done()
        await kill()
        world.store, world.adapter = store, adapter
        await world.restart().recover()
        await world.engine.accept(message)
        await world.engine.aclose()
        assert await store.holds(MARKER) == [], f"killed after {last} calls"
        assert await store.waiting() == []
        finals = [shown.out.text for shown in adapter.shown if shown.out.final]
        assert sorted(set(finals)) == sorted(finals), "no chunk is shown twice"
        assert await store.verify() == []
    assert last > 8


async def test_nothing_of_it_stays_in_the_database_file(tmp_path: Path) -> None:
    store = await open_store(str(tmp_path / "keepmind.db"))
    world = World(store=store)
    await world.say("something to keep")
    await world.say("/incognito")
    for _ in range(3):
        assert MARKER in await world.said(f"I went to {MARKER}, by boat")
    await world.engine.aclose()
    written = contents(tmp_path)
    await store.aclose()
    assert b"something to keep" in written
    assert MARKER.encode() not in written


async def test_in_a_group_it_is_the_persons_words_alone_that_are_not_kept() -> None:
    world = a_world()
    await world.say("/incognito", chat="club", group=True)
    assert world.adapter.shown[-1].out.only_for == Person("test", "anna")
    await world.say(f"I went to {MARKER}", chat="club", group=True)
    await world.say(f"overheard {MARKER}", chat="club", group=True, addressed=False)
    await world.say("bobs words", who="bob", chat="club", group=True)
    assert await kept(world) == []
    assert MARKER not in world.prompt()
    assert await world.store.holds("bobs words")


@pytest.mark.parametrize("ending", ["/incognito off", "/forget me yes"])
async def test_a_stretch_that_is_ended_while_an_answer_is_written_does_not_come_back(ending: str) -> None:
    world = a_world()
    await world.say("/incognito")
    world.llm.gate = asyncio.Event()
    going = asyncio.create_task(world.say(f"I went to {MARKER}", chat="club", group=True))
    await until(lambda: len(world.llm.of("answer")) == 1)
    await world.say(ending)
    world.llm.gate.set()
    await going
    await world.say("/incognito")
    await world.say("and now?", chat="club", group=True)
    assert MARKER not in world.prompt()
    await world.say("and then?", chat="club", group=True)
    assert "and now?" in world.prompt()


async def test_a_talk_too_long_for_the_model_loses_its_oldest_part_only() -> None:
    world = await a_hidden_world()
    world.llm.context = 1000
    for number in range(12):
        await world.say(f"number {number} " + "word " * 60)
    prompt = world.prompt()
    assert "number 11" in prompt
    assert "number 10" in prompt
    assert "number 0 " not in prompt


async def test_forgetting_the_last_turn_takes_it_out_of_the_stretch() -> None:
    world = await a_hidden_world()
    await world.say(f"I went to {MARKER}")
    assert await world.said("/forget last") == "Erased: turns: 1."
    await world.say("and now?")
    assert MARKER not in world.prompt()
    assert await world.store.holds("like tea"), "what was said before stays"


async def test_a_message_deleted_on_the_platform_leaves_the_stretch() -> None:
    world = await a_hidden_world()
    message = world.message(f"I went to {MARKER}")
    await world.engine.handle(message)
    assert await world.engine.retract(message.chat, message.id)
    await world.say("and now?")
    assert MARKER not in world.prompt()


async def test_its_state_is_told_and_shown_on_the_card() -> None:
    world = a_world()
    assert "not incognito" in await world.said("/incognito status")
    assert "not incognito" in await world.said("/incognito off")
    begun = await world.say("/incognito")
    assert begun is not None
    assert [choice.command for choice in begun.choices] == ["/incognito off"]
    assert "You are incognito" in await world.said("/incognito status")
    assert "You are incognito" in await world.said("/memory")
    assert "Please say it as /incognito" in await world.said("/incognito maybe")
    assert "You are incognito" in await world.said("/memory set name Ann")
    assert await facts(world) == {}


async def test_forgetting_everything_ends_it() -> None:
    world = await a_hidden_world()
    await world.say(f"I went to {MARKER}")
    await world.say("/forget me yes")
    await world.say("hello")
    assert MARKER not in world.prompt()
    assert await world.store.holds("hello")


@tool
async def shout(word: str) -> str:
    """Say a word aloud."""
    return word.upper()


async def test_the_bots_own_tools_still_work() -> None:
    world = a_world()
    world = World(llm=world.llm, bot=type(world.bot)(tools=[shout]))
    await world.say("/incognito")
    assert isinstance(world.llm.answer, Obeying)
    await world.say("hello")
    assert [t.name for t in world.llm.of("answer")[-1].tools] == ["shout"]
    assert await turns(world) == []
