"""Carries one turn from its messages to its delivered answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from core import sentences
from core.adapter import Outgoing
from core.answering import Answering
from core.clock import Clock
from core.compose import Composer, zone_of
from core.conversation import Answer, Conversation, State, Turn
from core.delivery import Delivery, Preview
from core.draft import FactRules
from core.errors import ContextOverflow, LLMError, LLMRejected, StaleEpoch
from core.facts import Change
from core.llm import LLM, TokenCounter
from core.memory.profile import draft_for
from core.messages import ChatKey, Choice, Message, Person, Reply
from core.prompt import MESSAGE_COST, Prompt, turn_cost
from core.rendering import said
from core.store import ConversationStore, Job
from core.tools import ToolContext

logger = logging.getLogger("keepmind.engine")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one turn may take: rounds of tools, tokens of an answer, minutes after which an open turn is too old.

    `parallel` chats are answered at once; a burst is collected for at most `max_burst` seconds.
    """

    tool_rounds: int = 5
    reply_tokens: int = 1024
    open_turn_minutes: float = 60
    parallel: int = 32
    max_burst: float = 3


@dataclass(frozen=True)
class Collaborators:
    """What every exchange of one engine shares. `wake` tells the compactor that a job is due."""

    store: ConversationStore
    llm: LLM
    counter: TokenCounter
    clock: Clock
    composer: Composer
    deliveries: Mapping[str, Delivery]
    slots: asyncio.Semaphore
    limits: Limits = field(default_factory=Limits)
    rules: FactRules = field(default_factory=FactRules)
    wake: Callable[[], None] = lambda: None
    prompts: dict[tuple[ChatKey, Person], Prompt] = field(default_factory=dict)


class Exchange:
    """One turn. `turn` is it as far as it has come, None before it has begun."""

    def __init__(self, shared: Collaborators, chat: ChatKey) -> None:
        self.turn: Turn | None = None
        self._shared = shared
        self._delivery = shared.deliveries[chat.platform]
        self._preview: Preview | None = None

    async def run(self, messages: Sequence[Message]) -> Reply | None:
        """Take waiting messages of one sender into a turn and answer it; None when no answer is needed.

        Raises StaleEpoch when the chat was stopped or cleared meanwhile.
        """
        store, now = self._shared.store, self._shared.clock.now()
        tokens = sum(self._shared.counter.count(said(m)) for m in messages) + MESSAGE_COST
        if self._is_old(max(m.sent_at for m in messages)):
            self.turn = await store.begin(messages, state=State.RECEIVED, tokens=tokens, at=now)
            return await self._fail(self.turn, "too old", sentences.TOO_OLD)
        if not any(m.addressed for m in messages):
            await store.begin(messages, state=State.HEARD, tokens=tokens, at=now)
            return None
        conversation, self.turn = await store.open(messages, tokens=tokens, at=now)
        return await self._complete(conversation, self.turn)

    async def resume(self, turn: Turn) -> Reply | None:
        """Take up a turn that a stopped process left open; its epoch is the chat's present one."""
        self.turn = turn
        if turn.state is State.ANSWERED:
            return self._reply(await self._delivery.deliver(turn))
        if self._is_old(turn.at):
            return await self._fail(turn, "too old", sentences.TOO_OLD)
        message = turn.message
        person = None if message.anonymous else message.sender
        conversation = await self._shared.store.load(turn.chat, person, private=message.private)
        return await self._complete(conversation, turn)

    def _is_old(self, at: datetime) -> bool:
        return self._shared.clock.now() - at > timedelta(minutes=self._shared.limits.open_turn_minutes)

    async def stopped(self, epoch: int) -> None:
        """Keep what was said, and what had been answered so far, after the exchange was cancelled."""
        if self.turn is not None and self.turn.state is State.RECEIVED:
            partial = self._preview.text.strip() if self._preview else ""
            answer = Answer(partial, "interrupted") if partial else None
            turn = replace(self.turn, state=State.FAILED, failure="stopped", answer=answer, epoch=epoch)
            await self._shared.store.save(replace(turn, tokens=turn_cost(turn, self._shared.counter)))

    async def _complete(self, conversation: Conversation, turn: Turn) -> Reply | None:
        self._preview = self._delivery.preview(turn)
        choices: list[Choice] = []
        try:
            async with self._shared.slots:
                answered = await self._ask(conversation, turn, self._preview, choices)
        except LLMError as error:
            logger.error("turn %s got no answer: %s", turn.id, error)
            apology = sentences.APOLOGY_REJECTED if isinstance(error, LLMRejected) else sentences.APOLOGY
            return await self._fail(turn, "model", apology)
        finally:
            preview = await self._preview.end()
        turn = replace(answered, state=State.ANSWERED, preview=preview)
        self.turn = turn = await self._save(conversation, turn)
        self.turn = await self._delivery.deliver(turn, choices)
        return self._reply(self.turn, choices)

    async def _ask(self, conversation: Conversation, turn: Turn, preview: Preview, choices: list[Choice]) -> Turn:
        prompt = await self._compose(conversation, turn)
        answering = self._answering(conversation, turn, choices)
        try:
            return await answering.run(prompt, preview.show)
        except ContextOverflow:
            logger.warning("turn %s: the prompt was too large for the server; memory is folded", turn.id)
        again = await self._shared.store.load(conversation.chat, conversation.person, private=conversation.private)
        share = min(0.5, 0.5 * prompt.tokens / max(self._shared.composer.work().budget, 1))
        return await answering.run(await self._compose(again, turn, share=share), preview.show)

    async def _compose(self, conversation: Conversation, turn: Turn, *, share: float = 1.0) -> Prompt:
        prompt = await self._shared.composer.compose(conversation, turn, share=share)
        kept = self._shared.prompts
        kept.pop((turn.chat, turn.sender), None)
        kept[turn.chat, turn.sender] = prompt
        if len(kept) > 200:
            del kept[next(iter(kept))]
        return prompt

    def _answering(self, conversation: Conversation, turn: Turn, choices: list[Choice]) -> Answering:
        shared = self._shared
        zone = zone_of(conversation.settings.zone) or shared.composer.zone
        draft = draft_for(conversation, turn, shared.rules, shared.clock.now(), "model", zone)
        context = ToolContext(conversation, turn, draft, choices=choices)

        async def keep(changes: Sequence[Change]) -> None:
            if changes and conversation.person is not None and conversation.settings.memory != "off":
                await shared.store.apply(conversation.person, conversation.scope, changes, turn=turn)

        tools = shared.composer.tools(conversation)
        limits = shared.limits
        return Answering(
            shared.llm, tools, context, keep, shared.counter, limits.tool_rounds, reply_tokens=limits.reply_tokens
        )

    async def _save(self, conversation: Conversation, turn: Turn) -> Turn:
        turn = replace(turn, tokens=turn_cost(turn, self._shared.counter))
        jobs = self._jobs(conversation.without(turn.id), turn)
        await self._shared.store.save(turn, jobs=jobs)
        if jobs:
            self._shared.wake()
        return turn

    def _jobs(self, before: Conversation, turn: Turn) -> list[Job]:
        composer, now = self._shared.composer, self._shared.clock.now()
        after = replace(before, path=(*before.path, turn))
        jobs = []
        if any(m.due(after, composer.work().budget) for m in composer.memories):
            jobs.append(Job("compact", str(turn.chat), now))
        if before.settings.memory != "off" and any(m.wants_extraction(turn) for m in composer.memories):
            jobs.append(Job("extract", str(turn.id), now))
        return jobs

    async def _fail(self, turn: Turn, failure: str, sentence: str) -> Reply:
        self.turn = replace(turn, state=State.FAILED, failure=failure)
        await self._shared.store.save(self.turn)
        await self._delivery.say(Outgoing(turn.chat, sentence))
        return Reply(sentence, turn=turn.id)

    async def broke(self, error: Exception) -> Reply | None:
        """End a turn that met a bug: the log has its kind, the person an apology, and what was said is kept."""
        logger.error("turn %s met a bug: %s", self.turn.id if self.turn else "?", type(error).__name__)
        logger.debug("its traceback", exc_info=error)
        if self.turn is None or self.turn.state is not State.RECEIVED:
            return None
        try:
            return await self._fail(self.turn, "bug", sentences.APOLOGY_BUG)
        except StaleEpoch:
            return None

    def _reply(self, turn: Turn, choices: Sequence[Choice] = ()) -> Reply:
        assert turn.answer is not None
        return Reply(sentences.shown(turn.answer), tuple(choices), turn=turn.id)
