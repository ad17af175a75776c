"""Taking back what may be used, while turns are composed: what is composed afterwards holds none of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from inspect import iscoroutinefunction
from itertools import count
from typing import Any, cast

import pytest

from core.bot import Bot
from core.llm import Completion, Request, ToolCall
from core.memory.archive import Archive
from core.memory.entities import Entities
from core.memory.keepmind import Keepmind, SummaryLimits
from core.memory.profile import Profile
from core.memory.window import WindowLimits
from core.messages import Person, Reply
from core.store import ConversationStore
from tests.driving import until
from tests.fakes import START, FakeAdapter, ScriptedLLM, World

OWN, LINKED, OFF = "Zqown", "Zqlinked", "Zqhidden"
TAKEN = {
    "/memory share off": (OWN, LINKED),
    "/unlink": (LINKED,),
    "/forget tea": (OWN,),
    "/memory off": (OWN, LINKED),
    "/forget me yes": (OWN, LINKED),
    "/incognito": (OWN, LINKED),
}
"""What Anna may say, and of what is then nothing in a prompt for her in the group."""


@dataclass
class Meanwhile:
    """A store before whose call with a number something is begun elsewhere, while it goes on, or `waits` for that."""

    store: ConversationStore
    at: int
    begin: Callable[[], Coroutine[None, None, Reply | None]]
    calls: Iterator[int] | None = None
    going: asyncio.Task[Reply | None] | None = None
    waits: bool = False

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.store, name)
        if not iscoroutinefunction(method):
            return method

        async def call(*given: Any, **named: Any) -> Any:
            if self.calls is not None and self.going is None and next(self.calls) == self.at:
                self.going = asyncio.create_task(self.begin())
                for _ in range(self.at % 5):
                    await asyncio.sleep(0)
                if self.waits:
                    await self.going
            return await method(*given, **named)

        return call


def answer(request: Request) -> Completion:
    """Save what is said as a fact, where that is possible."""
    word = request.messages[-1].content.split()[-1]
    if request.messages[-1].role == "tool" or not request.tools:
        return Completion("So it is.")
    arguments = json.dumps({"action": "add", "key": "hobbies", "value": word})
    return Completion("", (ToolCall(f"c{word}", "update_memory", arguments),))


@dataclass
class Place:
    """Anna, with another account of hers, and Bob; a group where she and he talk. She shares all she can."""

    store: ConversationStore
    at: int
    command: str
    llm: ScriptedLLM = field(default_factory=lambda: ScriptedLLM(answer))

    def __post_init__(self) -> None:
        self.meanwhile = Meanwhile(self.store, self.at, self.take_back)
        memory = [
            Keepmind(WindowLimits(3, 1, 4000, 2000, 0), SummaryLimits(200, 2000)),
            Profile(),
            Archive(),
            Entities(),
        ]
        store = cast(ConversationStore, self.meanwhile)
        self.world = World(llm=self.llm, bot=Bot(memory=memory), store=store, adapter=FakeAdapter(limit=300))

    async def take_back(self) -> Reply | None:
        return await self.world.say(self.command)

    async def settle_in(self) -> None:
        """Let what is shared be there."""
        other = Person("test", "other")
        await self.store.offer_link(other, "code", START + timedelta(hours=1))
        await self.store.link("code", Person("test", "anna"), START)
        for who, what in (("anna", f"tea {OWN}"), ("other", f"mood {LINKED}")):
            await self.world.say("/memory share on", who)
            await self.world.say(f"/memory set {what}", who)
        prompt = await self.composed("anna", "before")
        assert OWN in prompt
        assert LINKED in prompt

    async def composed(self, who: str, word: str) -> str:
        """Say something in the group; give what the model was asked then."""
        before = len(self.llm.requests)
        await self.world.say(f"I say {word}", who, "club", group=True)
        asked = [r for r in self.llm.requests[before:] if any(f"I say {word}" in m.content for m in r.messages)]
        return "\n".join(m.content for r in asked for m in r.messages)


async def taken_back_before_call(store: ConversationStore, at: int, command: str) -> bool:
    """Take something back while Anna's and Bob's turns run; say whether the calls went that far."""
    place = Place(store, at, command)
    await place.settle_in()
    place.meanwhile.calls = count()
    spoken = await asyncio.gather(*(place.composed(who, f"{who}{at}") for who in ("anna", "bob")))
    assert OWN not in spoken[1]
    assert LINKED not in spoken[1]
    if place.meanwhile.going is None:
        return False
    assert await place.meanwhile.going
    hidden = await place.composed("anna", f"{OFF}{at}")
    assert hidden
    for word in TAKEN[command]:
        assert word not in hidden, (command, at)
    for word in (OWN, LINKED):
        assert word not in await place.composed("bob", f"bob again {word[2:]}")
    await place.world.settle()
    if command == "/incognito":
        assert [*await store.holds(f"{OFF}{at}"), *await store.remains(f"{OFF}{at}")] == []
    await place.world.engine.aclose()
    return True


@pytest.mark.parametrize("command", TAKEN)
async def test_what_is_taken_back_is_in_no_prompt_that_is_composed_afterwards(
    store: ConversationStore, command: str
) -> None:
    for at in count(step=3):
        if not await taken_back_before_call(store, at, command):
            assert at > 10, "it was taken back between many calls"
            return
        for who in ("anna", "other", "bob"):
            await store.erase_person(Person("test", who))


async def chosen_before_call(store: ConversationStore, at: int) -> bool:
    """Choose while the clock takes its second look at what Anna said; say whether the calls went that far."""

    async def share() -> None:
        await store.choose(Person("test", "anna"), lambda settings: replace(settings, share=True))

    place = Place(store, at, "")
    await place.world.say("I like chess")
    place.world.clock.time += timedelta(hours=1)
    place.meanwhile.calls, place.meanwhile.begin, place.meanwhile.waits = count(), share, True
    await place.world.engine.compactor.tick()
    await place.world.settle()
    await place.world.engine.aclose()
    assert place.llm.of("extract"), "the second look was taken"
    return place.meanwhile.going is not None


async def test_what_is_chosen_while_a_second_look_is_taken_stays_chosen(store: ConversationStore) -> None:
    for at in count():
        began = await chosen_before_call(store, at)
        assert (await store.settings(Person("test", "anna"))).share is began
        if not began:
            assert at > 10, "it was chosen between many calls"
            return
        await store.erase_person(Person("test", "anna"))


async def test_a_fact_is_not_saved_once_its_person_wants_none_saved(store: ConversationStore) -> None:
    place = Place(store, 0, "/memory off")
    place.llm.gate = asyncio.Event()
    going = asyncio.create_task(place.composed("anna", "chess"))
    await until(lambda: place.llm.requests)
    assert await place.take_back()
    place.llm.gate.set()
    assert "NOT saved" in await going
    assert dict(await store.known(Person("test", "anna"), "test:club")) == {}
