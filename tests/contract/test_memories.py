"""What every kind of memory holds to, driven at the front door, on a store in memory and on one on disk."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.inmemory import InMemoryStore
from adapters.sql import open_store
from core.bot import Bot
from core.compose import budget
from core.errors import LLMRejected, LLMUnavailable
from core.llm import Completion, Request
from core.memory.archive import Archive
from core.memory.entities import Entities
from core.memory.memory import Memory
from core.memory.profile import Profile
from core.messages import ChatKey, Person
from core.prompt import cost, tools_cost
from core.store import ConversationStore
from core.tools import tool
from tests.driving import ANNA, BOB
from tests.fakes import ScriptedLLM, WordCounter, World, calling, check_request, echo
from tests.kinds import KINDS, NUMBER, REMEMBERS_ALL, a_world, become, covered, gist, remembered, said, talk
from tests.talks import Obeying, tell

EVERY = pytest.mark.parametrize("kind", KINDS)
PERSONA = "You are a friendly assistant."
ASKED = "what do you know?"


@dataclass
class Place:
    """Where what is stored lies: it outlives a process."""

    file: Path | None
    store: ConversationStore = field(default_factory=InMemoryStore)

    async def again(self) -> ConversationStore:
        """Open it as a new process would."""
        if self.file is not None:
            await self.store.aclose()
            self.store = await open_store(str(self.file))
        return self.store


@pytest.fixture(params=["inmemory", "sqlite"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    there = Place(tmp_path / "keepmind.db" if request.param == "sqlite" else None)
    await there.again()
    yield there
    assert await there.store.verify() == []
    await there.store.aclose()


async def next_life(world: World, place: Place) -> None:
    """Stop the process, and begin another."""
    await world.engine.compactor.aclose(1)
    await world.engine.aclose(1)
    world.store = await place.again()
    world.restart()
    await world.engine.recover()


def promised(kind: str, last: int, shown: Sequence[str]) -> Sequence[str]:
    """Give what a kind shows after a talk of so many turns; `shown` tells how many fit where tokens decide."""
    count = {"none": 0, "window": 4, **dict.fromkeys(REMEMBERS_ALL, last)}.get(kind, len(shown))
    return said(last - count + 1, last)


@EVERY
async def test_a_new_process_knows_what_the_kind_is_named_for(kind: str, place: Place) -> None:
    world = a_world(kind, store=place.store)
    await talk(world, 1, 20)
    await next_life(world, place)
    await world.say(ASKED)
    shown = remembered(world)
    assert shown == promised(kind, 20, shown)
    assert bool(shown) == (kind != "none")
    assert await covered(world) == [*said(1, 20), ASKED], "what is not shown is kept"


@EVERY
async def test_nothing_of_before_is_in_any_prompt_after_the_chat_was_cleared(kind: str, place: Place) -> None:
    world = a_world(kind, store=place.store)
    await talk(world, 1, 12)
    await world.say("/forget chat yes")
    asked = len(world.llm.requests)
    await talk(world, 13, 24)
    await next_life(world, place)
    await world.say(ASKED)
    told = {n for r in world.llm.requests[asked:] for m in r.messages for n in NUMBER.findall(m.content)}
    assert told == set(said(13, 24))


@EVERY
async def test_two_chats_at_once_are_two_talks(kind: str, place: Place) -> None:
    world = a_world(kind, store=place.store)
    for number in range(1, 13):
        group = world.say(f"number {number + 100}", chat="club", group=True)
        await asyncio.gather(world.say(f"number {number}"), group, world.engine.compactor.tick())
    await world.settle()
    assert await covered(world) == said(1, 12)
    assert await covered(world, ChatKey("test", "club")) == said(101, 112)
    for request in world.llm.requests:
        numbers = [int(n.split()[1]) for m in request.messages for n in NUMBER.findall(m.content)]
        assert all(n > 100 for n in numbers) or all(n < 100 for n in numbers)


@EVERY
async def test_no_marker_of_one_person_is_in_a_prompt_for_another(kind: str, place: Place) -> None:
    world = a_world(kind, store=place.store)
    for number in range(1, 13):
        await asyncio.gather(world.say(f"number {number}"), world.say(f"number {number + 100}", "bob"))
        await world.settle()
    for who, own in (("anna", said(1, 12)), ("bob", said(101, 112))):
        await world.say(ASKED, who)
        assert set(remembered(world)) <= set(own)
    assert await covered(world, BOB) == [*said(101, 112), ASKED]


@tool
async def look_up(word: str) -> str:
    """Look a word up."""
    return f"{word} means much"


def looking_up(request: Request) -> Completion:
    """Look each message's last word up before answering."""
    if request.messages[-1].role == "user" and request.tools:
        return calling(("look_up", '{"word": "a"}'), ("look_up", '{"word": "b"}'), text="Let me see.")
    return Completion("That is it.")


@EVERY
async def test_a_call_is_never_parted_from_its_result(kind: str, place: Place) -> None:
    llm = ScriptedLLM(looking_up, context=1200)
    world = World(llm=llm, bot=Bot(tools=[look_up], memory=[KINDS[kind]()]), store=place.store)
    llm.summary = gist
    await talk(world, 1, 20)
    for request in llm.of("answer"):
        check_request(request)
    called = sum(bool(m.calls) for m in llm.of("answer")[-1].messages)
    assert called > 1 or kind in ("none", "summary"), "rounds of earlier turns are shown at all"


@EVERY
async def test_a_failing_model_loses_nothing_and_the_next_turn_is_fine(kind: str, place: Place) -> None:
    world = a_world(kind, store=place.store)
    await talk(world, 1, 6)
    world.llm.answer = lambda request: LLMRejected("no")  # what is only down is waited for
    world.llm.summary = lambda request: LLMUnavailable("down")
    await talk(world, 7, 8)
    world.llm.answer = echo
    await next_life(world, place)
    await world.say("number 9")
    shown = remembered(world)
    assert shown == promised(kind, 8, shown)
    assert await covered(world) == said(1, 9)
    world.llm.summary = gist
    world.clock.time += timedelta(hours=2)
    await world.settle()
    await world.say(ASKED)
    shown = remembered(world)
    assert shown == promised(kind, 9, shown)


@EVERY
async def test_a_turn_larger_than_the_budget_is_kept_with_a_mark(kind: str, place: Place) -> None:
    world = a_world(kind, llm=ScriptedLLM(lambda request: Completion("I see."), context=1000), store=place.store)
    world.llm.summary = lambda request: LLMUnavailable("down")
    text = "number 1 " + "word " * 3000
    await world.say(text)
    await world.say("what did I say?")
    request = world.llm.of("answer")[-1]
    check_request(request)
    assert ("number 1 word" in world.prompt()) == (kind != "none")
    assert cost(request.messages, WordCounter()) <= budget(world.llm, 1024)
    assert "turn" in await world.store.holds(text[:200])


@pytest.mark.parametrize("context", [400, 900, 3000])
@EVERY
async def test_the_prompt_fits_and_is_valid_and_begins_with_the_system_message(kind: str, context: int) -> None:
    world = a_world(kind, llm=ScriptedLLM(lambda request: Completion("ok " * 30), context=context))
    for number in range(40):
        await world.say(f"number {number} " + "word " * (number * 37 % 90))
        if number % 7 == 0:
            await world.settle()
    for request in world.llm.of("answer"):
        check_valid(request, context)
    assert len(await covered(world)) == 40


def check_valid(request: Request, context: int) -> None:
    """Assert that a request for an answer is one that strict servers take, whole and within its budget."""
    check_request(request)
    size = cost(request.messages, WordCounter()) + tools_cost(request.tools, WordCounter())
    assert size <= budget(ScriptedLLM(context=context), 1024)
    assert request.messages[0].role == "system"
    assert request.messages[0].content.startswith(PERSONA)


@pytest.mark.parametrize("to", KINDS)
@pytest.mark.parametrize("from_", KINDS)
async def test_the_kind_of_history_can_be_changed_without_losing_anything(from_: str, to: str) -> None:
    world = a_world(from_)
    await talk(world, 1, 12)
    become(world, to)
    await talk(world, 13, 14)
    assert await covered(world) == said(1, 14)
    become(world, from_)
    await talk(world, 15, 30)
    assert await covered(world) == said(1, 30)
    become(world, "keepmind")
    await world.say(ASKED)
    assert remembered(world) == said(1, 30)
    assert await world.store.verify() == []


# -- anything at all, in any order ---------------------------------------------------------------------------------

COMMANDS = ["/undo", "/retry", "/aside", "/back", "/back keep", "/forget last", "/forget chat yes", "/stop"]
STEPS = ["say", "say", "say", "call", "fail", "edit", "quiet", "settle", "down", "up", "restart", *COMMANDS, *KINDS]
BY_CHANCE = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


def nodding(request: Request) -> Completion:
    """Repeat nothing: an edit leaves the answer as it was."""
    return Completion("I see.")


@dataclass
class Anything:
    """A talk in which anything happens; it knows what was erased, and looks for it in every later request."""

    world: World
    numbers: int = 0
    gone: set[str] = field(default_factory=set)
    seen: int = 0

    async def do(self, step: str) -> None:
        await self.calm()
        self.look()
        before = await self.kept()
        if step in KINDS:
            become(self.world, step)
        elif step.startswith("/"):
            await self.world.say(step)
        else:
            await getattr(self, step)()
        self.gone |= before - await self.kept()
        self.look()

    async def calm(self) -> None:
        """Let all that is under way end: what is being asked for may hold what is erased next."""
        while await self.world.store.open_turns():  # noqa: ASYNC110 -- an answer made anew has no future to wait for
            await asyncio.sleep(0)
        await self.settle()

    async def say(self) -> None:
        self.numbers += 1
        await self.world.say(f"number {self.numbers} " + "word " * (self.numbers * 37 % 50))

    async def call(self) -> None:
        self.world.llm.answer = looking_up
        await self.say()
        self.world.llm.answer = nodding

    async def fail(self) -> None:
        self.world.llm.answer = lambda request: LLMRejected("no")
        await self.say()
        self.world.llm.answer = nodding

    async def edit(self) -> None:
        turns = (await self.world.store.load(ANNA)).turns
        self.numbers += 1
        if turns:
            await self.world.store.edit(ANNA, turns[len(turns) // 2].message.id, f"number {self.numbers}")

    async def quiet(self) -> None:
        self.world.clock.time += timedelta(hours=2)
        await self.world.engine.compactor.tick()
        await self.settle()

    async def settle(self) -> None:
        await self.world.settle()

    async def down(self) -> None:
        self.world.llm.summary = lambda request: LLMUnavailable("down")

    async def up(self) -> None:
        self.world.llm.summary = gist

    async def restart(self) -> None:
        self.world.restart()
        await self.world.engine.recover()

    async def kept(self) -> set[str]:
        chats = (await self.world.store.export(Person("test", "anna")))["chats"]
        return {n for c in chats for t in c["turns"] for m in t["messages"] for n in NUMBER.findall(m["text"])}

    def look(self) -> None:
        for request in self.world.llm.requests[self.seen :]:
            if request.purpose == "answer":
                check_valid(request, self.world.llm.context)
            assert not self.gone & {n for m in request.messages for n in NUMBER.findall(m.content)}
        self.seen = len(self.world.llm.requests)

    async def check(self) -> None:
        head = (await self.world.store.load(ANNA)).head
        line = await self.world.store.line(ANNA, head) if head is not None else []
        assert await covered(self.world) == [turn.message.text for turn in line]
        assert await self.world.store.verify() == []


@given(steps=st.lists(st.sampled_from(STEPS), min_size=10, max_size=60), context=st.sampled_from([700, 1500, 8192]))
@BY_CHANCE
@pytest.mark.parametrize("first", ["keepmind", "summary_buffer", "window"])
async def test_whatever_happens_nothing_is_lost_and_what_was_erased_stays_so(
    place: Place, first: str, steps: list[str], context: int
) -> None:
    await place.store.erase_person(Person("test", "anna"))
    llm = ScriptedLLM(nodding, context=context)
    world = a_world(first, llm=llm, store=place.store)
    world.bot = Bot(tools=[look_up], memory=world.bot.memory)
    talk = Anything(world)
    for step in steps:
        await talk.do(step)
    await talk.check()


# -- what is beside the history ------------------------------------------------------------------------------------

BESIDE: dict[str, type[Memory]] = {"profile": Profile, "entities": Entities, "archive": Archive}
LAKE, QUESTION = "I met Zanzibar at the lake", "Do you remember what I said about Zanzibar?"
BOTH = pytest.mark.parametrize("beside", BESIDE)


async def taught(beside: str, place: Place) -> World:
    """A bot that was told of Zanzibar, with a history that shows nothing of it."""
    bot = Bot(memory=[KINDS["none"](), BESIDE[beside]()])
    world = World(llm=ScriptedLLM(Obeying()), bot=bot, store=place.store)
    await tell(world, LAKE, *[("add", "friends", "Zanzibar")] if beside == "profile" else [])
    world.clock.time += timedelta(hours=2)
    await world.engine.compactor.tick()
    await world.settle()
    return world


async def recalled(world: World, who: str = "anna", **more: Any) -> bool:
    """Say whether Zanzibar is in what is shown before the question."""
    await world.say(QUESTION, who, **more)
    *before, _ = world.llm.of("answer")[-1].messages
    return "Zanzibar" in json.dumps([m.content for m in before])


@BOTH
async def test_what_is_beside_the_history_is_known_to_a_new_process(beside: str, place: Place) -> None:
    world = await taught(beside, place)
    assert await recalled(world)
    await next_life(world, place)
    assert await recalled(world)


@BOTH
async def test_what_is_beside_the_history_is_cleared_with_the_chat(beside: str, place: Place) -> None:
    world = await taught(beside, place)
    await world.say("/forget chat yes")
    assert not await recalled(world)


@BOTH
async def test_what_is_beside_the_history_is_nobody_elses(beside: str, place: Place) -> None:
    world = await taught(beside, place)
    assert not await recalled(world, "bob")
    assert not await recalled(world, "anna", chat="club", group=True)


@BOTH
async def test_what_is_beside_the_history_is_there_whatever_the_history(beside: str, place: Place) -> None:
    world = await taught(beside, place)
    for kind in KINDS:
        world.bot = Bot(memory=[KINDS[kind](), BESIDE[beside]()])
        world.restart()
        assert await recalled(world), kind
