"""A bot in the hand of its author: who it is, what it can do, what it remembers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo

from core.access import Access
from core.adapter import Adapter
from core.clock import Clock
from core.commands.admin import ADMIN_COMMANDS
from core.commands.command import Command, Commands
from core.commands.person import PERSON_COMMANDS
from core.compactor import Compactor, CompactorLimits
from core.compose import Composer
from core.delivery import Delivery
from core.draft import FactRules
from core.engine import Engine
from core.exchange import Collaborators, Limits
from core.llm import LLM, TokenCounter
from core.memory.keepmind import Keepmind
from core.memory.memory import Memory
from core.memory.profile import Profile
from core.meter import Meter, MeteredLLM, Unmeasured
from core.proposals import Proposals
from core.rates import Rates
from core.store import ConversationStore
from core.tokens import RecentCounter
from core.tools import Tool
from core.translation import ENGLISH


def default_memory() -> list[Memory]:
    """Give the memories of a bot that names none."""
    return [Keepmind(), Profile()]


@dataclass(frozen=True)
class Bot:
    """Who the bot is (`persona`), what the model and people may call, and what it remembers.

    A bot whose memories hold no history gets the default one.
    """

    persona: str = "You are a friendly assistant."
    tools: Sequence[Tool] = ()
    commands: Sequence[Command] = ()
    memory: Sequence[Memory] = field(default_factory=default_memory)

    def rules(self) -> FactRules:
        """Give the rules that facts are held to: those of its profile, if it keeps one."""
        return next((m.limits for m in self.memory if isinstance(m, Profile)), FactRules())

    def memories(self) -> Sequence[Memory]:
        """Give its memories, a history among them."""
        has_history = any(m.is_history for m in self.memory)
        return self.memory if has_history else [Keepmind(), *self.memory]


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
) -> Engine:
    """Put a bot together: every collaborator is an argument, nothing is started."""
    ports = replace(ports, llm=MeteredLLM(ports.llm, meter))
    counter = RecentCounter(ports.counter)
    memories = bot.memories()
    for memory in memories:
        memory.meet(ports.llm)
        memory.stand_on(ports.store, counter)
    deliveries = _deliveries(ports, meter)
    propose = Proposals(deliveries, language).show
    composer = Composer(
        bot.persona,
        memories,
        bot.tools,
        ports.store,
        ports.llm,
        counter,
        ports.clock,
        limits.reply_tokens,
        zone,
        propose,
    )
    compactor = Compactor(ports.store, composer, ports.clock, compacting, meter)
    shared = Collaborators(
        store=ports.store,
        llm=ports.llm,
        counter=counter,
        clock=ports.clock,
        composer=composer,
        deliveries=deliveries,
        slots=asyncio.Semaphore(limits.parallel),
        limits=limits,
        rules=bot.rules(),
        wake=compactor.wake,
        meter=meter,
        propose=propose,
    )
    commands = Commands([*PERSON_COMMANDS, *ADMIN_COMMANDS, *bot.commands])
    return Engine(shared, Access(admins, allowed, ports.store), commands, compactor, rates, language)


def _deliveries(ports: Ports, meter: Meter) -> Mapping[str, Delivery]:
    return {a.platform: Delivery(a, ports.store, ports.clock, meter) for a in ports.adapters}
