"""Talks in which the model writes memory as it is told to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from core.conversation import Conversation
from core.llm import Completion, Request
from core.messages import ChatKey, Person
from tests.fakes import ScriptedLLM, World, calling, echo

Operation = tuple[str, str, object]


@dataclass
class Obeying:
    """A model that gives the completions put into `next`, and echoes when there are none."""

    next: list[Completion] = field(default_factory=list)

    def __call__(self, request: Request) -> Completion:
        return self.next.pop(0) if self.next else echo(request)


def a_world(**more: Any) -> World:
    """A bot whose model obeys `tell`."""
    return World(llm=ScriptedLLM(Obeying()), **more)


def writing(*operations: Operation, text: str = "Noted.") -> Completion:
    """A completion that calls update_memory for each (action, key, value)."""
    calls = [("update_memory", json.dumps({"action": a, "key": k, "value": v})) for a, k, v in operations]
    return calling(*calls, text=text)


def raw(*arguments: str, text: str = "Noted.") -> Completion:
    """A completion that calls update_memory with arguments as they are."""
    return calling(*(("update_memory", a) for a in arguments), text=text)


async def tell(
    world: World,
    text: str,
    *operations: Operation,
    who: str = "anna",
    chat: str = "",
    beside: str = "Noted.",
    **more: Any,
) -> str:
    """Say something to which the model writes memory beside its answer; give the reply."""
    if operations:
        prepare(world, writing(*operations, text=beside))
    return await world.said(text, who, chat, **more)


def prepare(world: World, *completions: Completion) -> None:
    """Put what the model gives next."""
    obeying = world.llm.answer
    assert isinstance(obeying, Obeying)
    obeying.next.extend(completions)


def results(world: World) -> Sequence[str]:
    """What the model was told of its last calls."""
    return [m.content for m in world.llm.of("answer")[-1].messages if m.role == "tool"]


async def here(world: World, who: str = "anna", chat: str = "", *, group: bool = False) -> Conversation:
    """What is remembered of a chat, with somebody's facts."""
    return await world.store.load(ChatKey("test", chat or who), Person("test", who), private=not group)


async def facts(world: World, who: str = "anna", chat: str = "", *, group: bool = False) -> dict[str, object]:
    """Somebody's facts as a plain dictionary."""
    return dict((await here(world, who, chat, group=group)).facts)
