"""Measures of a bot that serves, where the settings ask for them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from adapters.prometheus import PrometheusMeter, served
from bots.app import App
from bots.budgets import prices
from config.settings import Settings

logger = logging.getLogger("keepmind")
STARTING = "starting"
SILENT = "The database does not answer."
PATIENCE = 3.0
"""How many seconds the database may take to answer a small question before it counts as away."""


class Watched(PrometheusMeter):
    """A meter that also tells whether its bot can serve, once it knows it."""

    app: App | None = None

    async def ready(self) -> str:
        """Say what keeps the bot from serving. Raises StoreError."""
        if self.app is None:
            return STARTING
        try:
            async with asyncio.timeout(PATIENCE):
                await self.app.store.allowed()  # a small question
        except TimeoutError:
            return SILENT
        return ""


@asynccontextmanager
async def open_meter(settings: Settings) -> AsyncIterator[Watched | None]:
    """Serve measures until the block ends; None when they are not asked for. Raises ConfigError."""
    chosen = settings.metrics
    if chosen.port is None:
        yield None
        return
    meter = Watched(prices(settings))
    async with served(meter, meter.ready, chosen.host, chosen.port) as port:
        logger.info("metrics, health and readiness on http://%s:%s", chosen.host, port)
        yield meter


def watch(meter: Watched | None, app: App) -> None:
    """Let a meter look at a bot that serves from now on."""
    if meter is not None:
        meter.app = app
        meter.watch("waiting", "Messages and commands that wait for their turn.", lambda: app.engine.waiting)
        meter.watch(
            "budget_used", "Part of the bot's budget that is used; 0 without.", lambda: app.engine.shared.ledger.used
        )
        meter.watch("serving", "Bots that this process serves; 0 while it stands by.", lambda: _serving(app))
        meter.watch("busy_chats", "Chats with something in progress.", lambda: app.engine.busy)


def _serving(app: App) -> int:
    return len(app.engine.shared.deliveries.keys() - app.engine.standby)
