"""How many tokens one person, one chat and the whole bot may take in a day and in a month, and how many they took."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal

from core.clock import Clock
from core.conversation import Turn
from core.llm import LLM
from core.messages import ChatKey, Message, Person
from core.spending.frugal import Frugal
from core.spending.prices import Prices
from core.store import ConversationStore
from core.usage import Bill, Spent, whole

Whose = Literal["person", "chat", "bot"]
Period = Literal["day", "month"]
Key = Person | ChatKey | None
"""Whose tokens are told: a person's, a chat's, all."""
MOST_KEPT = 10_000
"""How many persons and chats are kept in mind; the one that was looked at longest ago is let go."""
READ_AGAIN = timedelta(minutes=5)
"""How long what other processes store may go unseen."""
TOLD_AGAIN = timedelta(hours=1)
"""How long somebody who was told that nothing is left is not told again."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Most tokens of a day and of a month; 0 is any number."""

    day: int = 0
    month: int = 0


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of each person, each chat and the bot. From the part `near` of one on, the bot saves.

    It then makes prompts of at most `near_tokens`; 0 is as many as ever.
    """

    person: Limit = Limit()
    chat: Limit = Limit()
    bot: Limit = Limit()
    near: float = 0.8
    near_tokens: int = 3000

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit."""
        return any(limit.day or limit.month for limit in (self.person, self.chat, self.bot))


@dataclass(frozen=True, slots=True)
class Standing:
    """How one limit stands: how much of it is used, whose it is, and the day it is of, or whose month it is of."""

    used: int = 0
    limit: int = 0
    whose: Whose = "bot"
    period: Period = "day"
    day: date = date.min

    @property
    def part(self) -> float:
        """The part that is used."""
        return self.used / self.limit if self.limit else 0.0

    @property
    def is_over(self) -> bool:
        """Whether nothing is left."""
        return self.part >= 1

    @property
    def next(self) -> date:
        """The day on which it begins anew."""
        return self.day + timedelta(days=1) if self.period == "day" else next_month(self.day)

    def until(self, zone: tzinfo) -> datetime:
        """Give when it begins anew, its days being those of a time zone, in UTC."""
        return datetime.combine(self.next, time(), zone).astimezone(UTC)


UNLIMITED = Standing()


@dataclass
class Tally:
    """Tokens taken on a day and in its month, as far as is known here."""

    day: date
    today: int = 0
    month: int = 0
    read_at: datetime | None = None

    def turn_to(self, day: date) -> None:
        """Let a new day, and maybe a new month, begin."""
        if day > self.day:
            self.month = self.month if day.replace(day=1) == self.day.replace(day=1) else 0
            self.day, self.today = day, 0

    def add(self, one: Spent) -> None:
        """Add what was taken; what was asked before midnight may come after it."""
        self.turn_to(one.day)
        self.today += one.tokens if one.day == self.day else 0
        self.month += one.tokens if one.day >= self.day.replace(day=1) else 0

    def read(self, spent: Sequence[Spent], at: datetime) -> None:
        """Take over what is stored. Less than is known is what was erased, which was taken nevertheless."""
        self.read_at = at
        self.month = max(self.month, sum(one.tokens for one in spent))
        self.today = max(self.today, sum(one.tokens for one in spent if one.day == self.day))


@dataclass
class Ledger:
    """Opens bills and says how budgets stand. Days and months are those of `zone`.

    Whom `exempt` names is held to the bot's budget alone. What is taken is kept in mind where there is a limit, so that
    nothing is read on the way to an answer; it is read where it is not known, and again after a while, for other
    processes may serve the same bot. Where a limit is near its end `frugal` is asked, if there is one.
    """

    store: ConversationStore
    clock: Clock
    budget: Budget = field(default_factory=Budget)
    zone: tzinfo = UTC
    exempt: Callable[[Message], bool] = lambda _: False
    frugal: Frugal | None = None
    prices: Prices = field(default_factory=Prices)
    _model: str = ""
    _tallies: OrderedDict[Key, Tally] = field(default_factory=OrderedDict)
    _told: OrderedDict[tuple[ChatKey, Person], datetime] = field(default_factory=OrderedDict)

    @property
    def today(self) -> date:
        """The day it is."""
        return self.clock.now().astimezone(self.zone).date()

    def bill(self, person: Person | None = None, chat: ChatKey | None = None) -> Bill:
        """Open a bill."""
        return Bill(self.today, person, chat, self._model, self._noted)

    def bill_of(self, turn: Turn) -> Bill:
        """Open the bill of a turn; what somebody asks who stands for nobody is nobody's."""
        return self.bill(None if turn.message.anonymous else turn.sender, turn.chat)

    def _noted(self, one: Spent) -> None:
        self._model = one.model or self._model
        for key in {one.person, one.chat, None}:
            if tally := self._tallies.get(key):
                tally.add(one)

    async def standing(self, message: Message) -> Standing:
        """Say how the limit stands that matters most to a message. Raises StoreError."""
        if not self.budget.is_limited:
            return UNLIMITED
        return _tightest(await self.standings(message))

    async def standings(self, message: Message) -> Sequence[Standing]:
        """Say how each limit stands that a message is held to. Raises StoreError."""
        found = await self.bot_standings()
        if self.exempt(message):
            return found
        where = whole(message.chat)
        found = [*found, *await self._of(where, self.budget.chat, "chat")]
        return found if message.anonymous else [*found, *await self._of(message.sender, self.budget.person, "person")]

    @property
    def used(self) -> float:
        """The part of the bot's budget that is used, as far as is known without looking."""
        tally = self._tallies.get(None)
        return 0.0 if tally is None else _tightest(self._standings(tally, self.budget.bot, "bot")).part

    def is_near(self, standing: Standing) -> bool:
        """Say whether so much is used that the bot saves."""
        return standing.part >= self.budget.near

    def model_for(self, standing: Standing, usual: LLM) -> LLM:
        """Give the model to ask."""
        return self.frugal.instead_of(usual) if self.frugal is not None and self.is_near(standing) else usual

    def share(self, standing: Standing, room: int) -> float:
        """Give how much of the room for a prompt may be used."""
        few = self.budget.near_tokens
        return min(1.0, few / max(room, 1)) if few and self.is_near(standing) else 1.0

    async def bot_standing(self) -> Standing:
        """Say how the limit of the whole bot stands that matters most. Raises StoreError."""
        return _tightest(await self.bot_standings())

    async def bot_standings(self) -> Sequence[Standing]:
        """Say how each limit of the whole bot stands. Raises StoreError."""
        return await self._of(None, self.budget.bot, "bot")

    async def _of(self, key: Key, limit: Limit, whose: Whose) -> Sequence[Standing]:
        if not (limit.day or limit.month):
            return ()
        return self._standings(await self._tally(key), limit, whose)

    def _standings(self, tally: Tally, limit: Limit, whose: Whose) -> Sequence[Standing]:
        by_day = Standing(tally.today, limit.day, whose, "day", tally.day)
        by_month = Standing(tally.month, limit.month, whose, "month", tally.day)
        return [standing for standing in (by_day, by_month) if standing.limit]

    async def _tally(self, key: Key) -> Tally:
        now = self.clock.now()
        tally = self._tallies.setdefault(key, Tally(self.today))
        self._tallies.move_to_end(key)
        if len(self._tallies) > MOST_KEPT:
            self._tallies.popitem(last=False)
        tally.turn_to(self.today)
        if tally.read_at is None or now - tally.read_at >= READ_AGAIN:
            tally.read(await self._read(key, tally.day.replace(day=1)), now)
        return tally

    async def _read(self, key: Key, since: date) -> Sequence[Spent]:
        if isinstance(key, Person):
            return await self.store.spent(since, person=key)
        return await self.store.spent(since, chat=key)

    def may_tell(self, chat: ChatKey, person: Person) -> bool:
        """Say whether somebody is to be told that nothing is left: not again and again."""
        now, key = self.clock.now(), (chat, person)
        told = self._told.get(key)
        if told is not None and now - told < TOLD_AGAIN:
            return False
        self._told[key] = now
        self._told.move_to_end(key)
        if len(self._told) > MOST_KEPT:
            self._told.popitem(last=False)
        return True


def _tightest(found: Sequence[Standing]) -> Standing:
    """Give the standing that matters: of those over their limit the last to begin anew, else the most used."""
    over = [one for one in found if one.is_over]
    return max(over, key=lambda one: one.next) if over else max(found, key=lambda one: one.part, default=UNLIMITED)


def next_month(day: date) -> date:
    """Give the first day of the month after."""
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1)
