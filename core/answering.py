"""Asks the model and runs the tools it calls until it answers in words."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from core.conversation import Answer, ToolResult, ToolRound, Turn
from core.errors import StaleEpoch, StoreError
from core.facts import Change
from core.llm import LLM, Completion, OnText, Request, TokenCounter
from core.prompt import Prompt, shorten
from core.tools import Tool, ToolContext, run_calls

logger = logging.getLogger("keepmind.engine")
Keep = Callable[[Sequence[Change]], Awaitable[None]]


@dataclass
class Answering:
    """One turn on its way to an answer. It may be taken up again with another prompt: tools that ran stay run.

    `keep` stores the changes of facts a round made; `rounds_limit` caps the rounds of tools. After them the model is
    asked once more, with its tools off.
    """

    llm: LLM
    tools: Sequence[Tool]
    context: ToolContext
    keep: Keep
    counter: TokenCounter
    rounds_limit: int = 5
    result_tokens: int = 4000
    reply_tokens: int = 1024
    turn: Turn = field(init=False)
    _seen: set[tuple[str, str]] = field(default_factory=set)
    _last: bool = False

    def __post_init__(self) -> None:
        self.turn = self.context.turn

    async def run(self, prompt: Prompt, on_text: OnText | None) -> Turn:
        """Give the turn with its tool rounds and answer. Raises LLMError."""
        while True:
            prompt.turn = self.turn
            completion = await self._ask(prompt, on_text)
            if self._last or not completion.calls:
                return self._answered(completion)
            settled = await self._run_round(completion)
            if settled and completion.text.strip():
                return self._answered(completion, beside=True)

    async def _ask(self, prompt: Prompt, on_text: OnText | None) -> Completion:
        self._last = self._last or len(self.turn.rounds) >= self.rounds_limit
        tools = () if self._last else prompt.tools
        return await self.llm.complete(Request(prompt.messages(), tools, max_tokens=self.reply_tokens), on_text)

    async def _run_round(self, completion: Completion) -> bool:
        self._note_repeats(completion)
        stored = len(self.context.facts.changes)
        before = self.context.facts.facts
        one, settled = await run_calls(self.tools, completion.calls, self.context, completion.text)
        try:
            await self.keep(self.context.facts.changes[stored:])
        except StaleEpoch:
            raise
        except StoreError as error:
            logger.error("facts of turn %s were not saved: %s", self.turn.id, error)
            self.context.facts.facts = before
            del self.context.facts.changes[stored:]
            one, settled = _not_saved(one), False
        self._add(one, clear_text=settled and bool(completion.text.strip()))
        return settled

    def _add(self, one: ToolRound, *, clear_text: bool) -> None:
        results = tuple(replace(r, content=shorten(r.content, self.result_tokens, self.counter)) for r in one.results)
        one = replace(one, results=results, text="" if clear_text else one.text)
        self.turn = replace(self.turn, rounds=(*self.turn.rounds, one))
        self.context.turn = self.turn

    def _note_repeats(self, completion: Completion) -> None:
        calls = {(c.name, c.arguments) for c in completion.calls}
        self._last = self._last or bool(calls & self._seen)
        self._seen |= calls

    def _answered(self, completion: Completion, *, beside: bool = False) -> Turn:
        text = completion.text.strip()
        finish = completion.finish
        if not text and not beside and finish == "stop":
            text = next((r.text for r in reversed(self.turn.rounds) if r.text.strip()), "").strip()
        return replace(self.turn, answer=Answer(text, finish, completion.model))


def _not_saved(one: ToolRound) -> ToolRound:
    """Tell the model of every call that claimed to have saved that it did not."""
    results = tuple(
        ToolResult(r.call_id, "NOT saved: the memory could not be written") if _claims(r.content) else r
        for r in one.results
    )
    return replace(one, results=results)


def _claims(result: str) -> bool:
    return result.startswith(("saved:", "removed:", "cleared"))


async def settle(task: asyncio.Task[object]) -> None:
    """Cancel a task and wait until it has ended, whatever it ends with."""
    task.cancel()
    await asyncio.wait([task])
