"""Makes the budget and the prices that the settings name, and the model that is asked near its end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from config.settings import Settings
from core.llm import LLM
from core.spending.budget import Budget, Limit
from core.spending.prices import Price, Prices


def budget(settings: Settings) -> Budget:
    """Give the budget."""
    chosen = settings.budget
    return Budget(
        Limit(chosen.person_day, chosen.person_month),
        Limit(chosen.chat_day, chosen.chat_month),
        Limit(chosen.bot_day, chosen.bot_month),
        chosen.near,
        chosen.near_tokens,
    )


def prices(settings: Settings) -> Prices:
    """Give the prices."""
    pairs = (entry.rpartition("=") for entry in settings.budget.prices)
    by_model = {model: Price(*map(float, price.split("/"))) for model, _, price in pairs}
    return Prices(by_model, settings.budget.currency)


@asynccontextmanager
async def open_frugal(settings: Settings) -> AsyncIterator[LLM | None]:
    """Give the cheaper model, until the block ends; None where there is none."""
    if settings.budget.model is None or settings.model.embedded:
        yield None
        return
    from bots.models import open_model

    other = settings.model.model_copy(update={"name": settings.budget.model, "context": None})
    async with open_model(settings.model_copy(update={"model": other})) as (llm, _):
        yield llm
