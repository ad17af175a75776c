"""Erasing while the bot is at work, before any of its calls of the store: what was said until then is nowhere."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
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
from core.messages import ChatKey, Person
from core.store import ConversationStore
from tests.fakes import FakeAdapter, ScriptedLLM, World

ANNA, CHAT = Person("test", "anna"), ChatKey("test", "anna")
WORD = re.compile(r"Zq\d+n\d+x")
Erase = Callable[[ConversationStore], Awaitable[object]]


async def chat(store: ConversationStore) -> None:
    await store.erase_chat(CHAT)


async def person(store: ConversationStore) -> None:
    await store.erase_person(ANNA)


@dataclass
class Erasing:
    """A store that is erased of a chat or a person, as from another process, right before its call with a number."""

    store: ConversationStore
    at: int
    erase: Erase
    calls: Iterator[int] = field(default_factory=count)
    done: bool = False
    said: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.store, name)
        if not iscoroutinefunction(method):
            return method

        async def call(*given: Any, **named: Any) -> Any:
            if next(self.calls) == self.at:
                self.done, self.gone = True, list(self.said)
                await self.erase(self.store)
            result = await method(*given, **named)
            if name == "receive":
                self.said += WORD.findall(given[0].text)
            return result

        return call


def answer(request: Request) -> Completion:
    """Save what is said, and say it again."""
    word = request.messages[-1].content.rstrip(".").split()[-1]
    if request.messages[-1].role == "tool" or not request.tools:
        return Completion("So it is.")
    arguments = json.dumps({"action": "add", "key": "hobbies", "value": word})
    return Completion(f"I hear {word}", (ToolCall(f"c{word}", "update_memory", arguments),))


def summary(request: Request) -> Completion:
    return Completion("They spoke of: " + request.messages[-1].content[-400:])


def extract(request: Request) -> Completion:
    found = WORD.findall(request.messages[-1].content)
    facts = [{"key": "interests", "value": word, "quote": f"I like {word}"} for word in found]
    return Completion(json.dumps({"facts": facts}))


async def lives(erasing: Erasing) -> None:
    """Live with the bot for a while; each thing said has a word of its own."""
    llm = ScriptedLLM(answer)
    llm.summary, llm.extract = summary, extract
    memory = [Keepmind(WindowLimits(3, 1, 4000, 2000, 0), SummaryLimits(200, 2000)), Profile(), Archive(), Entities()]
    store = cast(ConversationStore, erasing)
    world = World(llm=llm, bot=Bot(memory=memory), store=store, adapter=FakeAdapter(limit=30))
    for number in range(5):
        await world.say(f"I like Zq{erasing.at}n{number}x")
        await world.settle()
    for text in ("/memory set city Rome", "/memory pin hobbies", "/memory undo"):
        await world.say(text)
    world.clock.time += timedelta(hours=1)
    await world.engine.compactor.tick()
    await world.settle()
    await world.engine.aclose()


async def check(erasing: Erasing) -> None:
    """Check that nothing said before the erasure is left, and all is whole."""
    for word in erasing.gone:
        assert [*await erasing.store.holds(word), *await erasing.store.remains(word)] == [], word
    assert await erasing.store.verify() == []


async def erased_before_calls(store: ConversationStore, erase: Erase, calls: Iterable[int]) -> None:
    """Live again and again, erased before one call each time; the last is the first that there is no more."""
    for at in calls:
        erasing = Erasing(store, at, erase)
        await lives(erasing)
        await check(erasing)
        await person(store)
        if not erasing.done:
            assert at > 50, "the erasures fall between many calls"
            return


@pytest.mark.parametrize(("erase", "first"), [(chat, 0), (person, 5)])
async def test_what_was_said_before_an_erasure_is_nowhere(store: ConversationStore, erase: Erase, first: int) -> None:
    await erased_before_calls(store, erase, count(first, 9))


@pytest.mark.soak
@pytest.mark.parametrize("erase", [chat, person])
async def test_what_was_said_before_an_erasure_at_any_call_is_nowhere(store: ConversationStore, erase: Erase) -> None:
    await erased_before_calls(store, erase, count())
