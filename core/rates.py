"""How much one person, and one chat, may say in a minute before the bot takes a break from them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Literal

from core.messages import Message

MOST_KEPT = 10_000
"""How many persons and chats are kept in mind; the one that was silent for longest is let go."""
COMMANDS = 3
"""How many commands a person may give for each message: they ask no model, but each is answered."""
Kind = Literal["message", "command", "stranger"]
"""What is counted apart: what strangers say must not use up what others may say in a group."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Messages a minute, of one person over all chats and in one chat of all persons; 0 is no limit."""

    person: int = 0
    chat: int = 0


class Verdict(Enum):
    """What becomes of a message: it is heard; it is over the limit, which is told; it is passed over in silence."""

    HEARD = "heard"
    REACHED = "reached"
    OVER = "over"


@dataclass
class Bucket:
    """Holds a minute's messages and fills up steadily; once empty it is closed until it is half full."""

    size: int
    left: float
    at: datetime
    closed: bool = False

    def fill(self, at: datetime) -> None:
        """Let time pass; what was sent before what came already lets none pass."""
        seconds = max(0.0, (at - self.at).total_seconds())
        self.left, self.at = min(self.size, self.left + self.size * seconds / 60), max(self.at, at)
        self.closed = self.closed and self.left < self.size / 2

    @property
    def is_open(self) -> bool:
        """Whether one more message may be taken."""
        return not self.closed and self.left >= 1


class RateLimit:
    """Judges messages by when they were sent, so that what waited while the bot was away counts as it was said."""

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def is_over(self, message: Message, kind: Kind = "message") -> bool:
        """Say whether a message would be over the limit, without counting it."""
        return not all(bucket.is_open for bucket in self._of(message, kind))

    def judge(self, message: Message, kind: Kind = "message") -> Verdict:
        """Count a message; only the first that is over a limit is to be told so."""
        buckets = self._of(message, kind)
        empty = [bucket for bucket in buckets if not bucket.is_open]
        if empty:
            was_told = any(bucket.closed for bucket in empty)
            for bucket in empty:
                bucket.closed = True
            return Verdict.OVER if was_told else Verdict.REACHED
        for bucket in buckets:
            bucket.left -= 1
        return Verdict.HEARD

    def give_back(self, message: Message, kind: Kind = "message") -> None:
        """Let a message not have counted that was heard in vain: it comes again, or was heard before."""
        for bucket in self._of(message, kind):
            bucket.left = min(bucket.size, bucket.left + 1)

    def _of(self, message: Message, kind: Kind) -> list[Bucket]:
        person, chat = f"{kind} of {message.sender}", f"{kind} in {message.chat}"
        if kind == "command":
            sizes = {person: COMMANDS * self._rates.person}
        else:
            sizes = {person: self._rates.person, chat: self._rates.chat}
        return [self._bucket(name, size, message.sent_at) for name, size in sizes.items() if size]

    def _bucket(self, name: str, size: int, at: datetime) -> Bucket:
        bucket = self._buckets.setdefault(name, Bucket(size, size, at))
        self._buckets.move_to_end(name)
        if len(self._buckets) > MOST_KEPT:
            self._buckets.popitem(last=False)
        bucket.fill(at)
        return bucket
