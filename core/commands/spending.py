"""What the model took and what it costs: gathered from the store, and worded for a person and for the operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from itertools import groupby

from core.commands.figures import DAILY, DAYS, line
from core.messages import ChatKey, Person
from core.spending.budget import Ledger, Standing
from core.spending.prices import Prices
from core.translation import counted, marked, spoken
from core.usage import Spent

TODAY, THIS_MONTH = marked("Today"), marked("This month")
TOOK = marked("{when}: {tokens} tokens in {requests}, {memory} of them for memory.")
TOOK_MONEY = marked("{when}: {tokens} tokens in {requests}, {memory} of them for memory; {money}.")
BUDGETS = {
    ("person", "day"): marked("Your budget of a day"),
    ("person", "month"): marked("Your budget of a month"),
    ("chat", "day"): marked("The budget of this chat of a day"),
    ("chat", "month"): marked("The budget of this chat of a month"),
    ("bot", "day"): marked("The budget of the bot of a day"),
    ("bot", "month"): marked("The budget of the bot of a month"),
}
STANDS = marked("{budget}: {part} of {limit} tokens are used; it begins anew at {at:%Y-%m-%d %H:%M}.")
MOST_PERSONS, MOST_CHATS = marked("Most this month, of persons: {list}"), marked("Most this month, of chats: {list}")
TOP = 5


@dataclass(frozen=True)
class Overview:
    """What was taken in the last days and this month, by day, model and purpose; who took most, and how limits stand.

    Persons and chats are named by their keys, with their tokens of this month.
    """

    today: date
    spent: Sequence[Spent]
    persons: Sequence[tuple[str, int]] = ()
    chats: Sequence[tuple[str, int]] = ()
    limits: Sequence[Standing] = ()


def since(today: date) -> date:
    """Give the day from which on is told what was taken."""
    return min(first_of(today), today - timedelta(days=DAYS - 1))


def first_of(day: date) -> date:
    """Give the first day of a month."""
    return day.replace(day=1)


async def overview(ledger: Ledger) -> Overview:
    """Gather what the whole bot took. Raises StoreError."""
    today, store = ledger.today, ledger.store
    return Overview(
        today,
        await store.spent(since(today)),
        await store.spenders(first_of(today), "person", limit=TOP),
        await store.spenders(first_of(today), "chat", limit=TOP),
        await ledger.bot_standings(),
    )


async def overview_of(ledger: Ledger, key: ChatKey) -> Overview:
    """Gather what a person took, or else what was taken in a chat: both are written alike. Raises StoreError."""
    today, store = ledger.today, ledger.store
    spent = await store.spent(since(today), person=Person(key.platform, key.chat))
    return Overview(today, spent or await store.spent(since(today), chat=key))


def told(found: Overview, prices: Prices, zone: tzinfo) -> list[str]:
    """Word all of it, a line for each thing; nothing where nothing was taken. Days are those of `zone`."""
    if not found.spent:
        return []
    days = [found.today - timedelta(days=ago) for ago in reversed(range(DAYS))]
    by_day = [sum(one.tokens for one in found.spent if one.day == day) for day in days]
    lines = [*summary(found.today, found.spent, prices), line(DAILY["tokens"], by_day), *_models(found, prices)]
    for sentence, most in ((MOST_PERSONS, found.persons), (MOST_CHATS, found.chats)):
        if most:
            lines.append(spoken(sentence, list=", ".join(f"{key} {tokens:,}" for key, tokens in most)))
    return [*lines, *(stands(one, one.until(zone).astimezone(zone)) for one in found.limits)]


def summary(today: date, spent: Sequence[Spent], prices: Prices) -> list[str]:
    """Word what was taken today and this month."""
    month = [one for one in spent if one.day >= first_of(today)]
    return [
        _took(spoken(TODAY), [one for one in month if one.day == today], prices),
        _took(spoken(THIS_MONTH), month, prices),
    ]


def _models(found: Overview, prices: Prices) -> list[str]:
    """Word what each model took this month, the most used first."""
    month = sorted((one for one in found.spent if one.day >= first_of(found.today)), key=lambda one: one.model)
    by_model = [list(entries) for _, entries in groupby(month, key=lambda one: one.model)]
    by_model.sort(key=lambda entries: -sum(one.tokens for one in entries))
    return [_took(entries[0].model or "?", entries, prices) for entries in by_model]


def _took(when: str, spent: Sequence[Spent], prices: Prices) -> str:
    tokens, remembering = sum(one.tokens for one in spent), sum(one.remembering for one in spent)
    values = {
        "when": when,
        "tokens": f"{tokens:,}",
        "requests": counted("{count} request", "{count} requests", sum(one.requests for one in spent)),
        "memory": f"{remembering / max(tokens, 1):.0%}",
    }
    cost = prices.cost(spent) if prices.by_model else None
    return spoken(TOOK, **values) if cost is None else spoken(TOOK_MONEY, money=prices.written(cost), **values)


def stands(standing: Standing, at: datetime) -> str:
    """Word how a limit stands that begins anew at a time."""
    return spoken(
        STANDS,
        budget=spoken(BUDGETS[standing.whose, standing.period]),
        part=f"{standing.part:.0%}",
        limit=f"{standing.limit:,}",
        at=at,
    )
