"""A whole bot on simcord, a Discord that others made: the real adapter, a real engine, a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import simcord

from adapters.discord.adapter import DiscordAdapter, Options
from adapters.inmemory import InMemoryStore
from core.bot import Bot, Ports, build
from core.clock import Clock
from core.engine import Engine
from core.rates import Rates
from core.store import ConversationStore
from tests.fakes import ScriptedLLM, WordCounter

QUICK = Options(quiet=0.0, pace=0.0, pause=0.05)


@dataclass
class Simulated:
    """What a test needs to look at."""

    adapter: DiscordAdapter
    engine: Engine
    llm: ScriptedLLM
    store: ConversationStore
    discord: simcord.Env

    @property
    def me(self) -> int:
        """The bot's own id."""
        assert self.adapter.client.user
        return self.adapter.client.user.id

    def asked(self) -> list[str]:
        """Give the last message of each request for an answer."""
        return [request.messages[-1].content for request in self.llm.of("answer")]


def contents(channel: simcord.ChannelHandle) -> list[str]:
    """Give what stands in a channel, oldest first."""
    return [message.content for message in channel.history()]


class SimulatedClock:
    """The time of the simulated Discord."""

    def __init__(self) -> None:
        self.discord: simcord.Env | None = None

    def now(self) -> datetime:
        return self.discord.now() if self.discord else datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@asynccontextmanager
async def simulated(
    *,
    llm: ScriptedLLM | None = None,
    store: ConversationStore | None = None,
    bot: Bot | None = None,
    clock: Clock | None = None,
    admins: Sequence[str] = (),
    allowed: Sequence[str] = ("discord:*",),
    rates: Rates = Rates(),  # noqa: B008 -- frozen
    **options: Any,
) -> AsyncIterator[Simulated]:
    """Run a bot until the block ends."""
    llm, store, time = llm or ScriptedLLM(), store or InMemoryStore(), SimulatedClock()
    adapter = DiscordAdapter("token", replace(QUICK, **options))
    ports = Ports(store, llm, WordCounter(), clock or time, [adapter])
    engine = build(bot or Bot(), ports, admins=admins, allowed=allowed, rates=rates)
    adapter.attach(engine)
    async with simcord.run(adapter.client, shard_count=2) as env:
        time.discord = env
        yield Simulated(adapter, engine, llm, store, env)
        await engine.aclose(2)
