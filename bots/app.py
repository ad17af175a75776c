"""The composition root: puts every collaborator together and gives each its lifetime."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from bots.budgets import budget, open_frugal, prices
from bots.models import open_model
from bots.personas import open_bot, roles
from config.settings import Settings
from core.adapter import Adapter
from core.bot import Bot, Ports, build
from core.clock import SystemClock
from core.collaborators import Limits
from core.compactor import Compactor, CompactorLimits
from core.engine import Engine
from core.errors import StoreError
from core.meter import Meter, Unmeasured
from core.rates import Rates
from core.store import ConversationStore


@dataclass(frozen=True)
class App:
    """A bot that runs."""

    engine: Engine
    store: ConversationStore
    compactor: Compactor


@asynccontextmanager
async def open_app(
    settings: Settings,
    *,
    adapters: Sequence[Adapter] = (),
    bot: Bot | None = None,
    store: ConversationStore | None = None,
    serving: bool = True,
    standby: bool = False,
    meter: Meter | None = None,
) -> AsyncIterator[App]:
    """Run a bot, by default the one that the settings describe, until the block ends.

    What a stopped process left open is taken up. A `store` given is used and left open. With `serving` false one person
    talks to it at a terminal: what can wait for the first message waits, and nobody is held to say less in a minute.
    With `standby` true nothing is taken up and no clock runs, since another process may serve the bots.
    Raises ConfigError or StoreError in one sentence.
    """
    async with AsyncExitStack() as stack:
        store = store if store is not None else await stack.enter_async_context(open_database(settings))
        cast = roles(settings)
        usual, warm = cast.usual.settings, serving and bool(adapters)
        llm, counter = await stack.enter_async_context(open_model(usual, warm=warm))
        ports = Ports(store, llm, counter, SystemClock(), adapters)
        if bot is None:
            bot = await stack.enter_async_context(open_bot(cast, llm, counter))
        engine = build(
            bot,
            ports,
            admins=settings.access.admins,
            allowed=settings.access.allowed,
            limits=_limits(settings),
            compacting=CompactorLimits(
                settings.window.idle_minutes, settings.clock.job_seconds, spent_days=settings.budget.keep_days
            ),
            zone=ZoneInfo(settings.engine.time_zone),
            rates=_rates(settings) if serving else Rates(),
            language=usual.engine.language,
            meter=meter or Unmeasured(),
            budget=budget(settings),
            frugal=await stack.enter_async_context(open_frugal(settings)),
            prices=prices(settings),
        )
        stack.push_async_callback(_close, engine, settings.engine.stop_seconds)
        if standby:
            engine.standby.update(adapter.platform for adapter in adapters)
        elif adapters:
            await stack.enter_async_context(ticking(engine, settings, at_once=serving))
            await engine.recover()
        yield App(engine, store, engine.compactor)


async def _close(engine: Engine, seconds: float) -> None:
    """Give turns and jobs in progress so many seconds, together."""
    await asyncio.gather(engine.aclose(seconds), engine.compactor.aclose(seconds))


@asynccontextmanager
async def ticking(engine: Engine, settings: Settings, *, at_once: bool) -> AsyncIterator[None]:
    """Let the clock run until the block ends."""
    from adapters import apscheduler

    async with apscheduler.ticking(engine.compactor.tick, settings.clock.interval_seconds, at_once=at_once):
        yield


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[ConversationStore]:
    """Open the database, its schema upgraded, until the block ends. Raises StoreError in one sentence."""
    from adapters.snowball import stem
    from adapters.sql import open_store

    if settings.storage.database_url is None:
        _make_folder(settings.storage.data_dir)
    store = await open_store(settings.storage.url, stem=stem, indexing=settings.memory.searches)
    try:
        yield store
    finally:
        await store.aclose()


def _make_folder(folder: Path) -> None:
    """Make the folder of data, for its owner alone. Raises StoreError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"The folder {folder} can't be made ({error.strerror}); set KEEPMIND_DATA_DIR.") from None


def _limits(settings: Settings) -> Limits:
    engine = settings.engine
    return Limits(
        engine.tool_rounds,
        settings.model.longest_reply,
        engine.open_turn_minutes,
        engine.parallel,
        engine.max_burst_seconds,
    )


def _rates(settings: Settings) -> Rates:
    return Rates(settings.engine.person_messages_per_minute, settings.engine.chat_messages_per_minute)
