"""How many messages Telegram lets a bot send: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Limits:
    """The platform's pace, edits included: a chat takes `burst` messages in `burst` seconds, a group 20 a minute."""

    burst: int = 3
    group_per_minute: int = 20
    per_second: int = 30


@dataclass(slots=True)
class Limiter:
    """What was sent lately, against the limits."""

    limits: Limits | None = None
    _sent: dict[object, deque[float]] = field(default_factory=lambda: defaultdict(deque))
    _floods: dict[int, float] = field(default_factory=dict)

    def flood(self, chat: int, until: float) -> None:
        """Refuse everything sent to a chat until a time."""
        self._floods[chat] = until

    def wait(self, chat: int, now: float) -> int:
        """Count a message, and give the seconds to wait if it is refused, else 0."""
        wait = self._floods.get(chat, now) - now
        windows = list(self._windows(chat))
        for key, most, seconds in windows:
            sent = self._sent[key]
            while sent and sent[0] <= now - seconds:
                sent.popleft()
            if len(sent) >= most:
                wait = max(wait, sent[0] + seconds - now)
        if wait <= 0:
            for key, _, _ in windows:
                self._sent[key].append(now)
        return max(math.ceil(wait), 0)

    def _windows(self, chat: int) -> Iterator[tuple[object, int, float]]:
        if self.limits:
            yield ("chat", chat), self.limits.burst, float(self.limits.burst)
            yield "all", self.limits.per_second, 1.0
            if chat < 0:
                yield ("group", chat), self.limits.group_per_minute, 60.0
