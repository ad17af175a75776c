"""A bot in the hand of its author: who it is, what it can do, what it remembers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from typing import TypeVar

from core.access import Access
from core.adapter import Adapter
from core.clock import Clock
from core.collaborators import Collaborators, Limits
from core.commands.admin import ADMIN_COMMANDS
from core.commands.command import Command, Commands
from core.commands.person import PERSON_COMMANDS
from core.compactor import Compactor, CompactorLimits
from core.compose import Composer
from core.delivery import Delivery
from core.draft import FactRules
from core.engine import Engine
from core.llm import LLM, TokenCounter
from core.memory.memory import Memory, Propose
from core.memory.profile import Profile
from core.meter import Meter, MeteredLLM, Unmeasured
from core.outage import Outage
from core.personas import Persona, Places, default_memory
from core.proposals import Proposals
from core.rates import Rates
from core.spending.budget import Budget, Ledger
from core.spending.frugal import Frugal
from core.spending.notices import Notices
from core.spending.prices import Prices
from core.store import ConversationStore
from core.tokens import RecentCounter
from core.tools import Tool
from core.translation import ENGLISH

T = TypeVar("T")


@dataclass(frozen=True)
class Bot:
    """Who the bot is (`persona`), what the model and people may call, and what it remembers.

    `elsewhere` are the personas of places where another one answers: a platform, a chat or a topic, as `Places` has
    them. A bot whose memories hold no history gets the default one.
    """

    persona: str = Persona.text
    tools: Sequence[Tool] = ()
    commands: Sequence[Command] = ()
    memory: Sequence[Memory] = field(default_factory=default_memory)
    elsewhere: Mapping[str, Persona] = field(default_factory=dict)

    @property
    def personas(self) -> Places[Persona]:
        """Who answers where."""
        return Places(Persona(self.persona, self.memory, self.tools), self.elsewhere)

    def rules(self) -> FactRules:
        """Give the rules that facts are held to: those of its profile, if it keeps one."""
        return next((m.limits for m in self.memory if isinstance(m, Profile)), FactRules())


@dataclass(frozen=True)
class Ports:
    """What a bot stands on: the implementations of the ports."""

    store: ConversationStore
    llm: LLM
    counter: TokenCounter
    clock: Clock
    adapters: Sequence[Adapter]


def build(
    bot: Bot,
    ports: Ports,
    *,
    admins: Sequence[str] = (),
    allowed: Sequence[str] = (),
    limits: Limits = Limits(),  # noqa: B008 -- frozen
    compacting: CompactorLimits = CompactorLimits(),  # noqa: B008 -- frozen
    zone: tzinfo = UTC,
    rates: Rates = Rates(),  # noqa: B008 -- frozen
    language: str = ENGLISH,
    meter: Meter = Unmeasured(),  # noqa: B008 -- holds nothing
    budget: Budget = Budget(),  # noqa: B008 -- frozen
    frugal: LLM | None = None,
    prices: Prices = Prices(),  # noqa: B008 -- frozen
) -> Engine:
    """Put a bot together: every collaborator is an argument, nothing is started.

    Near the end of a `budget` the model `frugal` is asked, if there is one; `prices` tell in money what is spent.
    """
    metered: Callable[[LLM], LLM] = _once(lambda llm: MeteredLLM(llm, meter))
    recent: Callable[[TokenCounter], TokenCounter] = _once(RecentCounter)
    ports = replace(ports, llm=metered(ports.llm), counter=recent(ports.counter))
    deliveries = _deliveries(ports, meter)
    propose = Proposals(deliveries, language).show

    def composer(persona: Persona) -> Composer:
        llm = ports.llm if persona.llm is None else metered(persona.llm)
        counter = ports.counter if persona.counter is None else recent(persona.counter)
        return _composer(persona, replace(ports, llm=llm, counter=counter), limits.reply_tokens, zone, propose)

    composers = bot.personas.each(composer)
    outage = Outage(ports.clock, limits.parallel, composers.each(lambda made: made.llm))
    access = Access(admins, allowed, ports.store)
    ledger = Ledger(
        ports.store,
        ports.clock,
        budget,
        zone,
        exempt=lambda message: access.is_admin(message.sender, anonymous=message.anonymous),
        frugal=None if frugal is None else Frugal(metered(frugal), ports.clock),
        prices=prices,
    )
    compactor = Compactor(ports.store, composers, ports.clock, compacting, meter, outage.is_everywhere, ledger)
    shared = Collaborators(
        store=ports.store,
        counter=ports.counter,
        clock=ports.clock,
        composers=composers,
        deliveries=deliveries,
        slots=asyncio.Semaphore(limits.parallel),
        outage=outage,
        ledger=ledger,
        notices=Notices(deliveries, admins, language),
        limits=limits,
        rules=bot.rules(),
        wake=compactor.wake,
        meter=meter,
        propose=propose,
    )
    commands = Commands([*PERSON_COMMANDS, *ADMIN_COMMANDS, *bot.commands])
    return Engine(shared, access, commands, compactor, rates, language)


def _composer(persona: Persona, ports: Ports, reply_tokens: int, zone: tzinfo, propose: Propose) -> Composer:
    memories = persona.memories()
    for memory in memories:
        memory.meet(ports.llm)
        memory.stand_on(ports.store, ports.counter)
    return Composer(
        persona.text,
        memories,
        persona.tools,
        ports.store,
        ports.llm,
        ports.counter,
        ports.clock,
        reply_tokens,
        zone,
        propose,
        persona.language,
    )


def _once(make: Callable[[T], T]) -> Callable[[T], T]:
    """Make one thing of each, however often it is asked for: personas that share a model share what is known of it."""
    made: dict[int, tuple[T, T]] = {}
    return lambda given: made.setdefault(id(given), (given, make(given)))[1]


def _deliveries(ports: Ports, meter: Meter) -> Mapping[str, Delivery]:
    return {a.platform: Delivery(a, ports.store, ports.clock, meter) for a in ports.adapters}
