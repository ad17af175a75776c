"""How many calls Discord lets a bot make: https://docs.discord.com/developers/topics/rate-limits."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass, field

from adapters.discord.server.journal import Call

MAJOR = ("channel", "guild", "webhook", "token")
WIDE = (10_000, 1.0)


def _seen() -> dict[str, tuple[int, float]]:
    return {
        "create_message": (5, 5.0),
        "edit_message": (5, 5.0),
        "delete_message": (5, 1.0),
        "typing": (5, 5.0),
        "add_reaction": (1, 0.25),
        "history": (5, 5.0),
        "followup": (5, 2.0),
        "edit_response": (5, 2.0),
    }


@dataclass(frozen=True, slots=True)
class Limits:
    """Discord's pace as it has been seen: so many calls of a name in so many seconds, a channel or webhook each."""

    calls: dict[str, tuple[int, float]] = field(default_factory=_seen)
    per_second: int = 50


@dataclass(frozen=True, slots=True)
class Pace:
    """What the headers of an answer say of its bucket; `wait` is 0 unless the call is refused."""

    bucket: str
    limit: int
    remaining: int
    reset_after: float
    reset: float
    wait: float = 0.0
    scope: str = "user"

    def headers(self) -> dict[str, str]:
        """Write it as Discord does."""
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": f"{self.reset:.3f}",
            "X-RateLimit-Reset-After": f"{self.reset_after:.3f}",
            "X-RateLimit-Bucket": self.bucket,
        }


@dataclass(slots=True)
class _Window:
    """The calls since a time; when it is over all of them are forgotten at once."""

    ends: float = 0.0
    count: int = 0

    def at(self, now: float, seconds: float) -> _Window:
        if self.ends <= now:
            self.ends, self.count = now + seconds, 0
        return self


@dataclass(slots=True)
class Limiter:
    """What was called lately, against the limits; with none the headers are there all the same."""

    limits: Limits | None = None
    _windows: dict[object, _Window] = field(default_factory=lambda: defaultdict(_Window))
    _floods: dict[tuple[str, int | None], float] = field(default_factory=dict)

    def flood(self, name: str, channel: int | None, until: float) -> None:
        """Refuse the calls of a name to a channel until a time; "" and None are any."""
        self._floods[name, channel] = until

    def pace(self, call: Call, now: float, *, is_global: bool = True) -> Pace:
        """Count a call, unless it is refused."""
        most, seconds = self.limits.calls.get(call.name, WIDE) if self.limits else WIDE
        window = self._windows[call.name, *(call.ids.get(name) for name in MAJOR)].at(now, seconds)
        every = self._windows["all"].at(now, 1.0)
        bucket = hashlib.md5(call.name.encode(), usedforsecurity=False).hexdigest()
        wait = max(self._flooded(call, now), window.ends - now if window.count >= most else 0.0)
        if is_global and self.limits and every.count >= self.limits.per_second:
            return Pace(bucket, most, 0, seconds, now + seconds, every.ends - now, "global")
        if wait > 0:
            return Pace(bucket, most, 0, wait, now + wait, wait)
        window.count += 1
        every.count += is_global
        return Pace(bucket, most, most - window.count, window.ends - now, window.ends)

    def _flooded(self, call: Call, now: float) -> float:
        ends = [self._floods.get((name, at), now) for name in ("", call.name) for at in (None, call.channel)]
        return max(ends) - now
