"""What requests to the model took in tokens: whose they were, in which chat, of which model, what for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from core.llm import LLM, Completion, OnText, Purpose, Request, TokenCounter, Usage, Wrapped
from core.messages import ChatKey, Person
from core.prompt import request_cost


@dataclass(frozen=True, slots=True)
class Spent:
    """What requests of one kind took on one day, in tokens.

    `person` None is nobody in particular, `chat` None no chat in particular; a chat is named without its topic.
    `cached` is the part of `prompt` that the server had in its prompt cache, `memory` the part that is remembered.
    """

    day: date
    person: Person | None
    chat: ChatKey | None
    model: str
    purpose: Purpose
    requests: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    memory: int = 0

    @property
    def tokens(self) -> int:
        """All tokens, asked and answered."""
        return self.prompt + self.completion

    @property
    def remembering(self) -> int:
        """The tokens that remembering took: what of an answer's prompt is remembered, and all of any other request."""
        return self.memory if self.purpose == "answer" else self.tokens

    @property
    def nameless(self) -> Spent:
        """The same, of nobody and of no chat."""
        return replace(self, person=None, chat=None)

    def moved(self, chat: ChatKey) -> Spent:
        """The same, in another chat."""
        return replace(self, chat=whole(chat))


def whole(chat: ChatKey) -> ChatKey:
    """Give a chat without its topic: its topics share one budget."""
    return chat if chat.topic is None else ChatKey(chat.platform, chat.chat)


def merged(spent: Sequence[Spent]) -> Sequence[Spent]:
    """Give one entry for each day, person, chat, model and purpose, in the order of the first of each."""
    by_key: dict[object, Spent] = {}
    for one in spent:
        key = (one.day, one.person, one.chat, one.model, one.purpose)
        known = by_key.get(key)
        by_key[key] = one if known is None else _sum(known, one)
    return list(by_key.values())


def _sum(one: Spent, other: Spent) -> Spent:
    amounts = ("requests", "prompt", "cached", "completion", "memory")
    return replace(one, **{name: getattr(one, name) + getattr(other, name) for name in amounts})


@dataclass
class Bill:
    """Collects what one turn or one job takes, until it is stored with it; `noted` is told of each request at once.

    `model` is what a request counts for whose server did not name its model.
    """

    day: date
    person: Person | None = None
    chat: ChatKey | None = None
    model: str = ""
    noted: Callable[[Spent], None] = lambda _: None
    spent: Sequence[Spent] = ()

    def add(self, purpose: Purpose, model: str, took: Usage, *, memory: int = 0) -> None:
        """Note what a request took; `memory` tokens of its prompt are remembered."""
        chat = None if self.chat is None else whole(self.chat)
        cached, memory = min(took.cached, took.prompt), min(memory, took.prompt)
        one = Spent(
            self.day, self.person, chat, model or self.model, purpose, 1, took.prompt, cached, took.completion, memory
        )
        self.spent = merged([*self.spent, one]) if self.spent else (one,)
        self.noted(one)

    def clear(self) -> None:
        """Begin anew, what was collected being stored."""
        self.spent = ()


def took(completion: Completion, counter: TokenCounter, asked: Callable[[], int]) -> Usage:
    """Give what a request took as the server counted it, else what was `asked` and came back as it is counted here."""
    usage = completion.usage
    if usage is not None and (usage.prompt or usage.completion):
        return usage
    calls = sum(counter.count(call.name) + counter.count(call.arguments) for call in completion.calls)
    return Usage(asked(), counter.count(completion.text) + calls)


class BilledLLM(Wrapped):
    """A model whose requests are noted on a bill."""

    def __init__(self, llm: LLM, bill: Bill, counter: TokenCounter) -> None:
        super().__init__(llm)
        self._bill = bill
        self._counter = counter

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """Answer a request. Raises LLMError."""
        completion = await self._llm.complete(request, on_text)
        usage = took(completion, self._counter, lambda: request_cost(request, self._counter))
        self._bill.add(request.purpose, completion.model, usage)
        return completion
