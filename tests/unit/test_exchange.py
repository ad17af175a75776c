"""One turn, from its messages to its delivered answer: what is stored of it, and when."""

from __future__ import annotations

import asyncio
import gc
import logging
from datetime import timedelta

import pytest

from adapters.inmemory import InMemoryStore
from core import sentences
from core.bot import Bot
from core.collaborators import Limits
from core.conversation import Conversation, State, Turn
from core.errors import LLMRejected
from core.exchange import Exchange
from core.llm import Completion, Request
from core.messages import Attachment, Person
from core.tools import tool
from tests.driving import ANNA, hold, turns, until
from tests.fakes import ScriptedLLM, World, calling, check_request


async def test_a_message_is_durable_before_the_model_is_asked() -> None:
    seen: list[tuple[str, State]] = []

    def script(request: Request) -> Completion:
        assert isinstance(world.store, InMemoryStore)
        (turn,) = world.store._turns.values()
        seen.append((turn.message.text, turn.state))
        return Completion("Hi.")

    world = World(llm=ScriptedLLM(script), store=InMemoryStore())
    await world.say("hello")
    assert seen == [("hello", State.RECEIVED)]


async def test_a_turn_holds_its_message_calls_results_and_answer() -> None:
    @tool
    async def look(at: str) -> str:
        """Look."""
        return f"{at} is blue"

    answers = [calling(("look", '{"at":"sky"}')), Completion("Blue.", model="m-1")]
    world = World(bot=Bot(tools=[look]), llm=ScriptedLLM(lambda r: answers.pop(0)))
    await world.say("which colour?")
    (turn,) = await turns(world)
    assert [(c.name, c.arguments) for one in turn.rounds for c in one.calls] == [("look", '{"at":"sky"}')]
    assert [r.content for one in turn.rounds for r in one.results] == ["sky is blue"]
    assert turn.answer is not None
    assert (turn.answer.text, turn.answer.model) == ("Blue.", "m-1")
    assert turn.tokens > 0


async def test_a_failed_turn_leaves_no_half_state() -> None:
    @tool
    async def look() -> str:
        """Look."""
        return "blue"

    answers: list[Completion | Exception] = [calling(("look", "{}")), LLMRejected("no")]
    world = World(bot=Bot(tools=[look]), llm=ScriptedLLM(lambda r: answers.pop(0)))
    assert await world.said("hi") == sentences.APOLOGY_REJECTED
    (turn,) = await turns(world)
    assert (turn.state, turn.rounds, turn.answer) == (State.FAILED, (), None)
    assert await world.store.verify() == []


async def test_rows_of_a_turn_are_exactly_its_own_whatever_was_trimmed() -> None:
    world = World(llm=ScriptedLLM(lambda r: Completion("ok"), context=900), store=InMemoryStore())
    texts = [f"message {n} " + "word " * 50 for n in range(30)]
    for text in texts:
        await world.say(text)
    assert isinstance(world.store, InMemoryStore)
    assert [t.message.text for t in world.store._turns.values()] == texts
    assert all(t.answer is not None and t.answer.text == "ok" for t in world.store._turns.values())


async def test_the_bytes_of_images_are_kept_only_until_answered() -> None:
    world = World()
    gate = hold(world)
    image = Attachment("image", "cat.png", "image/png", data=b"123")
    said = asyncio.create_task(world.say("look", attachments=(image,)))
    await until(lambda: gate.waiting)
    (turn,) = await turns(world)
    assert turn.message.attachments[0].data == b"123"
    gate.set()
    await said
    (turn,) = await turns(world)
    assert turn.message.attachments[0].data == b""
    await world.say("and?")
    assert world.llm.requests[-1].messages[1].images == ()


async def test_an_image_without_words_is_a_message() -> None:
    world = World()
    image = Attachment("image", "", "image/png", data=b"123")
    await world.say("", attachments=(image,))
    (request,) = world.llm.requests
    assert request.messages[-1].images
    check_request(request)


async def test_what_a_turn_was_made_of_is_let_go_at_once() -> None:
    world = World()
    world.adapter.pace = 0.0
    await world.say("warm")
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        await world.say("hello")
        gc.collect()
        found = {type(thing) for thing in gc.garbage}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert found.isdisjoint({Turn, Conversation, Exchange})


async def test_no_store_and_no_chat_is_held_while_the_model_thinks() -> None:
    world = World()
    gate = hold(world)
    said = [asyncio.create_task(world.say("hi", f"p{n}")) for n in range(20)]
    await until(lambda: gate.waiting == 20)
    assert (await world.store.stats()).open_turns == 20
    gate.set()
    await asyncio.gather(*said)


async def test_at_most_so_many_chats_are_answered_at_once() -> None:
    world = World(limits=Limits(parallel=3))
    gate = hold(world)
    said = [asyncio.create_task(world.say("hi", f"p{n}")) for n in range(10)]
    await until(lambda: gate.waiting == 3)
    for _ in range(100):
        await asyncio.sleep(0)
    assert gate.waiting == 3
    gate.set()
    await asyncio.gather(*said)
    assert len(world.adapter.shown) == 10


async def test_an_edit_while_it_is_answered_causes_no_second_answer() -> None:
    world = World()
    gate = hold(world)
    message = world.message("teh question")
    said = asyncio.create_task(world.engine.handle(message))
    await until(lambda: gate.waiting)
    assert await world.store.edit(ANNA, message.id, "the question")
    gate.set()
    await said
    (turn,) = await turns(world)
    assert turn.message.text == "the question"
    assert turn.state is State.DELIVERED
    assert len(world.llm.requests) == 1


async def test_a_conversation_whose_turns_grew_by_edits_still_fits() -> None:
    world = World(llm=ScriptedLLM(context=2000))
    messages = [world.message(f"m{n}") for n in range(5)]
    for message in messages:
        await world.engine.handle(message)
    for message in messages:
        await world.store.edit(ANNA, message.id, "longer " * 800)
    await world.say("and now?")
    size = sum(len(m.content.split()) for m in world.llm.of("answer")[-1].messages)
    assert size < 2000


async def test_the_log_has_ids_and_no_words_of_the_person(caplog: pytest.LogCaptureFixture) -> None:
    world = World(llm=ScriptedLLM(lambda r: RuntimeError("said XYZZY")))
    with caplog.at_level(logging.INFO):
        await world.say("my secret is XYZZY", name="Anna Marker")
    assert caplog.records
    assert "XYZZY" not in caplog.text
    assert "Anna Marker" not in caplog.text


async def test_memory_off_neither_uses_nor_learns_facts() -> None:
    world = World(llm=ScriptedLLM(lambda r: Completion("ok")))
    await world.say("/memory off")
    await world.say("I am Ann")
    assert all(t.name != "update_memory" for t in world.llm.requests[-1].tools)
    assert await world.store.scopes(Person("test", "anna")) == []


async def test_explain_tells_what_the_last_prompt_was_made_of_and_what_it_cost() -> None:
    world = World()
    await world.say("hello")
    told = await world.said("/memory explain")
    assert "persona" in told
    assert "message" in told
    report = world.engine.last_report(world.message("", "anna"))
    assert report is not None
    assert f"{sum(tokens for _, _, tokens in report)} tokens" in told


async def test_an_open_turn_is_answered_at_restart_in_the_order_of_the_talk() -> None:
    world = World()
    gate = hold(world)
    said = [asyncio.create_task(world.say(text)) for text in ("one", "two", "three")]
    await until(lambda: gate.waiting)
    await world.engine.aclose(0)
    await asyncio.gather(*said)
    gate.set()
    world.clock.time += timedelta(minutes=5)
    await world.restart().recover()
    await world.engine.aclose()
    stored: list[Turn] = list(await turns(world))
    assert [t.message.text for t in stored] == ["one", "two", "three"]
    assert all(t.state is State.DELIVERED for t in stored)
