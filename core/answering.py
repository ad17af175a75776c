"""Asks the model and runs the tools it calls until it answers in words."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from core.conversation import Answer, ToolResult, ToolRound, Turn
from core.errors import StaleEpoch, StoreError
from core.facts import Change
from core.fitting import fit
from core.llm import LLM, Completion, OnText, Request, TokenCounter, ToolCall
from core.prompt import Prompt, shorten
from core.tools import Tool, ToolContext, run_calls
from core.usage import Bill, took

logger = logging.getLogger("keepmind.engine")
Keep = Callable[[Sequence[Change]], Awaitable[None]]
NOT_SAVED = "NOT saved: the memory could not be written"
REPEATED = "error: this very call was already made; its result stands above. Answer now."


@dataclass
class Answering:
    """One turn on its way to an answer. It may be taken up again with another prompt: tools that ran stay run.

    `keep` stores the changes of facts a round made; each request is noted on the `bill`. `rounds_limit` caps the rounds
    of tools. After them, or when the model repeats a call, it is asked once more with its tools off.
    """

    llm: LLM
    tools: Sequence[Tool]
    context: ToolContext
    keep: Keep
    counter: TokenCounter
    rounds_limit: int = 5
    result_tokens: int = 4000
    reply_tokens: int = 1024
    bill: Bill = field(default_factory=lambda: Bill(date.min))
    turn: Turn = field(init=False)
    _seen: set[tuple[str, str]] = field(default_factory=set)
    _ids: set[str] = field(default_factory=set)
    _last: bool = False

    def __post_init__(self) -> None:
        self.turn = self.context.turn
        made = [call for one in self.turn.rounds for call in one.calls]
        self._ids.update(call.id for call in made)
        self._seen.update((call.name, call.arguments) for call in made)

    async def run(self, prompt: Prompt, on_text: OnText | None) -> Turn:
        """Give the turn with its tool rounds and answer. Raises LLMError."""
        while True:
            completion = await self._ask(prompt, on_text)
            if self._last or not completion.calls:
                return self._answered(completion)
            settled = await self._run_round(self._with_own_ids(completion.calls), completion.text)
            if settled and completion.text.strip():
                return self._answered(completion)

    async def _ask(self, prompt: Prompt, on_text: OnText | None) -> Completion:
        prompt.turn = self.turn
        fit(prompt)
        self._last = self._last or not prompt.tools or len(self.turn.rounds) >= self.rounds_limit
        tools = () if self._last else prompt.tools
        request = Request(prompt.messages(), tools, max_tokens=self.reply_tokens)
        completion = await self._complete(request, prompt, on_text)
        if completion.usage is not None and completion.usage.prompt and not prompt.asked.images:
            self.counter.calibrate(prompt.tokens, completion.usage.prompt)
        return completion

    async def _complete(self, request: Request, prompt: Prompt, on_text: OnText | None) -> Completion:
        """Ask, and note what it took; of an answer that is stopped, what was asked and what has been heard of it."""
        heard = ""

        async def hear(text: str) -> None:
            nonlocal heard
            heard = text
            if on_text is not None:
                await on_text(text)

        try:
            completion = await self.llm.complete(request, None if on_text is None else hear)
        except asyncio.CancelledError:
            self._note(prompt, Completion(heard))
            raise
        self._note(prompt, completion)
        return completion

    def _note(self, prompt: Prompt, completion: Completion) -> None:
        usage = took(completion, self.counter, lambda: prompt.tokens)
        self.bill.add("answer", completion.model, usage, memory=prompt.remembered)

    def _with_own_ids(self, calls: Sequence[ToolCall]) -> list[ToolCall]:
        """Give each call an id of its own within the turn: some servers count from zero in every answer."""
        return [self._with_own_id(call) for call in calls]

    def _with_own_id(self, call: ToolCall) -> ToolCall:
        own = call.id or "call"
        while own in self._ids:
            own += "x"
        self._ids.add(own)
        return replace(call, id=own)

    async def _run_round(self, calls: Sequence[ToolCall], text: str) -> bool:
        """Run a round and store what it changed; say whether the words beside it can stand as the answer."""
        fresh = [c for c in calls if (c.name, c.arguments) not in self._seen]
        self._seen |= {(c.name, c.arguments) for c in fresh}
        draft = self.context.facts
        before, stored = draft.facts, len(draft.changes)
        one, settled = await run_calls(self.tools, fresh, self.context, text)
        if not await self._kept(draft.changes[stored:]):
            one, settled = _not_saved(one, draft.changes[stored:]), False
            draft.facts = before
            del draft.changes[stored:]
        if len(fresh) < len(calls):
            self._last, settled = True, False
            one = _with_repeated(one, calls)
        self._add(one, clear_text=settled and bool(text.strip()))
        return settled

    async def _kept(self, changes: Sequence[Change]) -> bool:
        try:
            await self.keep(changes)
        except StaleEpoch:
            raise
        except StoreError as error:
            logger.error("facts of turn %s were not saved: %s", self.turn.id, error)
            return False
        return True

    def _add(self, one: ToolRound, *, clear_text: bool) -> None:
        results = tuple(replace(r, content=shorten(r.content, self.result_tokens, self.counter)) for r in one.results)
        one = replace(one, results=results, text="" if clear_text else one.text)
        self.turn = self.turn.changed(rounds=(*self.turn.rounds, one))
        self.context.turn = self.turn

    def _answered(self, completion: Completion) -> Turn:
        text = completion.text.strip()
        if (
            not text and completion.finish == "stop"
        ):  # many a model answers beside its calls, and then has no more words
            text = next((r.text for r in reversed(self.turn.rounds) if r.text.strip()), "").strip()
        return self.turn.changed(answer=Answer(text, completion.finish, completion.model))


def _not_saved(one: ToolRound, changes: Sequence[Change]) -> ToolRound:
    """Tell the model of every call that changed facts that they were not stored; words beside it claim nothing."""
    numbers = {c.call.partition(":")[0].partition(".")[2] for c in changes}
    results = tuple(
        replace(r, content=NOT_SAVED) if str(number) in numbers else r for number, r in enumerate(one.results)
    )
    return replace(one, results=results, text="")


def _with_repeated(one: ToolRound, calls: Sequence[ToolCall]) -> ToolRound:
    """Give the round with all its calls; those made before have not been run again."""
    ran = {c.id: (c, r) for c, r in zip(one.calls, one.results, strict=True)}
    pairs = [ran.get(c.id) or (c, ToolResult(c.id, REPEATED)) for c in calls]
    return replace(one, calls=tuple(c for c, _ in pairs), results=tuple(r for _, r in pairs))
