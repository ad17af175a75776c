"""Who answers where: one persona for the whole bot, and others for some of its platforms, chats and topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from core.llm import LLM, TokenCounter
from core.memory.keepmind import Keepmind
from core.memory.memory import Memory
from core.memory.profile import Profile
from core.messages import ChatKey
from core.tools import Tool

T = TypeVar("T")
U = TypeVar("U")


def default_memory() -> list[Memory]:
    """Give the memories of a bot that names none."""
    return [Keepmind(), Profile()]


@dataclass(frozen=True)
class Persona:
    """Who answers: what the model is told of it (`text`), what it remembers and what the model may call.

    `language` is that of the bot's own sentences for people whose own is not known. `llm` and `counter` are the model
    it speaks with and the counter of its tokens; None for those of the bot. Memories that hold no history get the
    default one.
    """

    text: str = "You are a friendly assistant."
    memory: Sequence[Memory] = field(default_factory=default_memory)
    tools: Sequence[Tool] = ()
    language: str = ""
    llm: LLM | None = None
    counter: TokenCounter | None = None

    def memories(self) -> Sequence[Memory]:
        """Give its memories, a history among them."""
        has_history = any(m.is_history for m in self.memory)
        return self.memory if has_history else [Keepmind(), *self.memory]


class Places(Generic[T]):
    """Something for everywhere, and something else for some places.

    A place is written as `ChatKey` writes chats and topics, or is the name of a platform. What is given for a chat
    stands for its topics too, and what is given for a platform for its chats, unless they are given themselves.
    """

    def __init__(self, usual: T, others: Mapping[str, T] | None = None) -> None:
        self.usual = usual
        self.others = dict(others or {})

    def of(self, chat: ChatKey) -> T:
        """Give what is for a chat."""
        if not self.others:
            return self.usual
        return next((self.others[place] for place in chat.places if place in self.others), self.usual)

    def each(self, make: Callable[[T], U]) -> Places[U]:
        """Give what is made of each, in its place."""
        return Places(make(self.usual), {place: make(other) for place, other in self.others.items()})
