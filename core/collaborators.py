"""What every exchange of one engine shares."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.clock import Clock
from core.compose import Composer
from core.conversation import Conversation, PersonSettings, Turn
from core.delivery import Delivery
from core.draft import FactRules
from core.facts import Facts
from core.incognito import Stretches, unremembering
from core.llm import TokenCounter
from core.memory.memory import Propose, unasked
from core.messages import ChatKey, Person
from core.meter import Meter, Unmeasured
from core.outage import Outage
from core.personas import Places
from core.prompt import Row
from core.spending.budget import Ledger
from core.spending.notices import Notices
from core.store import ConversationStore
from core.views import viewed


@dataclass(frozen=True, slots=True)
class Limits:
    """What one turn may take: rounds of tools, tokens of an answer, minutes after which an open turn is too old.

    `parallel` chats are answered at once; a burst is collected for at most `max_burst` seconds.
    """

    tool_rounds: int = 5
    reply_tokens: int = 1024
    open_turn_minutes: float = 360
    parallel: int = 32
    max_burst: float = 3


@dataclass(frozen=True)
class Collaborators:
    """What every exchange of one engine shares.

    `outage` knows who waits for the model. `wake` tells the compactor that a job is due. `reports` say what the last
    prompts were made of, without their text. `stretches` are what is said incognito. `propose` asks who wants to be
    asked before a fact is stored. `seconds` are how long the latest answers took. The `ledger` says what is left to
    spend.
    """

    store: ConversationStore
    counter: TokenCounter
    clock: Clock
    composers: Places[Composer]
    deliveries: Mapping[str, Delivery]
    slots: asyncio.Semaphore
    outage: Outage
    ledger: Ledger
    limits: Limits = field(default_factory=Limits)
    rules: FactRules = field(default_factory=FactRules)
    wake: Callable[[], None] = lambda: None
    notices: Notices = field(default_factory=Notices)
    reports: dict[tuple[ChatKey, Person], Sequence[Row]] = field(default_factory=dict)
    meter: Meter = field(default_factory=Unmeasured)
    seconds: deque[float] = field(default_factory=lambda: deque(maxlen=100))
    stretches: Stretches = field(default_factory=Stretches)
    propose: Propose = unasked

    async def load(self, turn: Turn) -> Conversation:
        """Give the conversation of a turn as its sender meets it."""
        person = None if turn.message.anonymous else turn.sender
        loaded = await self.store.load(turn.chat, person, private=turn.message.private)
        return await self.as_met(loaded, turn)

    async def as_met(self, conversation: Conversation, turn: Turn) -> Conversation:
        """Give a conversation as a turn's sender meets it: one that stands for nobody has no facts."""
        if turn.incognito:
            return unremembering(conversation, turn, self.stretches.begin(turn))
        if not turn.message.anonymous:
            return await viewed(self.store, conversation)
        return replace(conversation, person=None, facts=Facts(), settings=PersonSettings())
