"""What answers cost: whether the prices of the models in use are known, and whether anything limits what is spent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from bots.budgets import prices
from bots.doctor.finding import Check, Finding, advice, fine
from bots.personas import roles
from config.settings import Settings

ROOM = "model"
LIMITS = {
    "person_day": "one person a day",
    "person_month": "one person a month",
    "chat_day": "one chat a day",
    "chat_month": "one chat a month",
    "bot_day": "the bot a day",
    "bot_month": "the bot a month",
}


def checks(settings: Settings) -> Sequence[Check]:
    """Name what is to be looked at; what answers on this machine costs no money."""
    if settings.model.embedded:
        return []
    return [Check(ROOM, "price", lambda: _price(settings)), Check(ROOM, "budget", lambda: _budget(settings))]


async def _price(settings: Settings) -> AsyncGenerator[Finding, None]:
    known, models = prices(settings), _models(settings)
    unknown = [model for model in models if known.known(model) is None]
    if unknown:
        fix = f"Set KEEPMIND_BUDGET__PRICES={','.join(f'{model}=PROMPT/CACHED/COMPLETION' for model in unknown)}."
        says = f"The price of {', '.join(unknown)} is not known: /usage and `keepmind usage` tell tokens, and no money."
        yield advice(ROOM, "price", says, fix)
    else:
        yield fine(ROOM, "price", f"The price of {', '.join(models)} is known, in {settings.budget.currency}.")


def _models(settings: Settings) -> Sequence[str]:
    """Name every model that may answer."""
    cast = roles(settings)
    names = [role.settings.model.chosen for role in (cast.usual, *cast.others.values())]
    return list(dict.fromkeys(name for name in (*names, settings.model.fallback, settings.budget.model) if name))


async def _budget(settings: Settings) -> AsyncGenerator[Finding, None]:
    limits = {told: getattr(settings.budget, name) for name, told in LIMITS.items()}
    limits = {told: tokens for told, tokens in limits.items() if tokens}
    if limits:
        yield fine(ROOM, "budget", f"Tokens at most: {', '.join(f'{told} {n:,}' for told, n in limits.items())}.")
    else:
        fix = "Set KEEPMIND_BUDGET__BOT_MONTH and KEEPMIND_BUDGET__PERSON_DAY; `keepmind usage` shows what is usual."
        yield advice(ROOM, "budget", "None is set: nothing limits what is spent.", fix)
