"""Asks the model for one turn: its prompt, the preview shown meanwhile, the tools it calls, what they change."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

from core.answering import Answering
from core.collaborators import Collaborators
from core.compose import Composer
from core.conversation import Conversation, ToolRound, Turn
from core.delivery import Delivery
from core.errors import ContextOverflow, LLMUnavailable, StoreError
from core.facts import Change
from core.memory.profile import draft_for
from core.messages import Choice
from core.meter import timed
from core.preview import Preview
from core.prompt import Prompt
from core.spending.budget import Standing
from core.tools import ToolContext
from core.usage import Bill

logger = logging.getLogger("keepmind.engine")


class Unaffordable(Exception):
    """Nothing is left to spend on a turn since it began to wait for the model."""

    def __init__(self, standing: Standing) -> None:
        super().__init__()
        self.standing = standing


class Asking:
    """What comes of asking: the `rounds` of tools run so far, `choices` to be shown, facts `proposed` to the person."""

    def __init__(self, shared: Collaborators, composer: Composer, delivery: Delivery, bill: Bill) -> None:
        self.rounds: tuple[ToolRound, ...] = ()
        self.choices: list[Choice] = []
        self.proposed: list[Change] = []
        self._shared = shared
        self._composer = composer
        self._delivery = delivery
        self._bill = bill
        self._preview: Preview | None = None

    @property
    def seen(self) -> str:
        """What has been seen of the answer."""
        return self._preview.seen if self._preview else ""

    @property
    def shown_as(self) -> str:
        """The platform's id of the preview, empty when none was sent."""
        return self._preview.shown_as if self._preview else ""

    async def run(self, conversation: Conversation, turn: Turn) -> Turn:
        """Give the turn with its answer, showing a preview meanwhile; it knows the preview's id.

        Raises LLMError, and Unaffordable.
        """
        self._preview = preview = Preview(self._delivery, turn)
        try:
            async with self._shared.slots:
                if not self._shared.outage.may_ask(turn.chat):
                    raise LLMUnavailable("the model is down, and is being tried for others")
                standing = await self._shared.ledger.standing(turn.message)  # others may have spent it meanwhile
                if standing.is_over:
                    raise Unaffordable(standing)
                answered = await self._answer(conversation, turn, standing, preview)
        finally:
            await preview.end()
        return answered.changed(preview=preview.shown_as)

    async def _answer(self, conversation: Conversation, turn: Turn, standing: Standing, preview: Preview) -> Turn:
        share = self._shared.ledger.share(standing, self._composer.work().budget)
        prompt = await self._compose(conversation, turn, share)
        answering = self._answering(conversation, turn, standing, prompt.shown)
        try:
            return await self._answered(answering, prompt, preview, share)
        finally:
            self.rounds = answering.turn.rounds

    async def _answered(self, answering: Answering, prompt: Prompt, preview: Preview, share: float) -> Turn:
        try:
            return await answering.run(prompt, preview.show)
        except ContextOverflow:
            logger.warning("turn %s: the prompt was too large for the server; memory is folded", answering.turn.id)
        again = await self._shared.load(answering.turn)
        share = min(share, 0.5, 0.5 * prompt.tokens / max(self._composer.work().budget, 1))
        return await answering.run(await self._compose(again, answering.turn, share), preview.show)

    async def _compose(self, conversation: Conversation, turn: Turn, share: float) -> Prompt:
        with timed(self._shared.meter, "compose"):
            prompt = await self._composer.compose(conversation, turn, share=share)
        kept, report = self._shared.reports, prompt.report()
        self._shared.meter.prompt(report)
        kept.pop((turn.chat, turn.sender), None)
        kept[turn.chat, turn.sender] = report
        if len(kept) > 200:
            del kept[next(iter(kept))]
        return prompt

    def _answering(
        self, conversation: Conversation, turn: Turn, standing: Standing, shown: frozenset[int]
    ) -> Answering:
        shared, composer = self._shared, self._composer
        zone = composer.zone_for(conversation)
        draft = draft_for(conversation, turn, shared.rules, shared.clock.now(), "model", zone)
        return Answering(
            shared.ledger.model_for(standing, composer.llm),
            composer.tools(conversation),
            ToolContext(conversation, turn, draft, choices=self.choices, shown=shown),
            self._keeping(conversation, turn, asking=draft.asking),
            composer.counter,
            shared.limits.tool_rounds,
            reply_tokens=composer.reserve,
            bill=self._bill,
        )

    def _keeping(
        self, conversation: Conversation, turn: Turn, *, asking: bool
    ) -> Callable[[Sequence[Change]], Awaitable[None]]:
        """Give what stores the facts that a tool has changed, or proposes them to who wants to be asked."""
        store, chosen = self._shared.store, conversation.settings.memory

        async def keep(changes: Sequence[Change]) -> None:
            if not changes:
                return
            if conversation.person is None or chosen == "off":
                raise StoreError("this person's memory is off")
            if (await store.settings(conversation.person)).memory != chosen:
                raise StoreError("this person has chosen anew meanwhile what is remembered")
            if asking:
                self.proposed.extend(changes)
                return
            await store.apply(conversation.person, conversation.scope, changes, turn=turn)

        return keep
