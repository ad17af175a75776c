"""How long to wait before asking a server again: as long as it says, or longer each time."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime

Sleep = Callable[[float], Awaitable[None]]

_IN_WORDS = re.compile(
    r"(?:try again in|retry in|retry after|retrydelay\W{1,9}|wait)\s{0,9}"
    r"(?:(\d{1,9})m(?!s|i))?\s{0,9}(?:(\d{1,9}(?:\.\d{1,9})?)\s{0,9}(ms|s\b|sec|min)?)?",
    re.I,
)
_UNITS = {"ms": 0.001, "min": 60.0}
_LONGEST_STEP = 20.0


def asked_wait(headers: Mapping[str, str], text: str) -> float | None:
    """Return the seconds a server asks to wait in its headers or its words, or None when it does not say.

    Sources: RFC 9110, section 10.2.3 (seconds or a date); `retry-after-ms` of OpenAI and Azure.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    after = headers.get("retry-after", "")
    seconds = _number(after)
    return seconds if seconds is not None else _until(after, headers) if after else _in_words(text)


def _number(text: str | None) -> float | None:
    try:
        return max(0.0, float(text or ""))
    except ValueError:
        return None


def _until(date: str, headers: Mapping[str, str]) -> float | None:
    """Return the seconds until a date, by the server's own clock where it gives it."""
    try:
        then = parsedate_to_datetime(date).timestamp()
        now = parsedate_to_datetime(headers["date"]).timestamp() if "date" in headers else time.time()
    except (ValueError, OverflowError):
        return None
    return max(0.0, then - now)


def _in_words(text: str) -> float | None:
    found = _IN_WORDS.search(text)
    if found is None or not (found[1] or found[2]):
        return None
    return int(found[1] or 0) * 60 + float(found[2] or 0) * _UNITS.get((found[3] or "").lower(), 1.0)


class Patience:
    """Counts the tries and the time of one question; `total` seconds are shared by all the models asked."""

    def __init__(
        self, retries: int, total: float, clock: Callable[[], float], sleep: Sleep, chance: Callable[[], float]
    ) -> None:
        self._retries = retries
        self._deadline = clock() + total
        self._clock, self._sleep, self._chance = clock, sleep, chance
        self._tried = 0

    def renew(self) -> None:
        """Count the tries anew, for another model; the time goes on."""
        self._tried = 0

    async def wait(self, asked: float | None) -> bool:
        """Wait until the next try is due; False when no try or no time is left for it."""
        pause = self._pause(asked)
        if self._tried >= self._retries or self._clock() + pause > self._deadline:
            return False
        self._tried += 1
        await self._sleep(pause)
        return True

    def _pause(self, asked: float | None) -> float:
        """Spread the waits, so that many chats do not come back at one moment."""
        if asked is not None:
            return asked * (1 + self._chance() / 10) + 0.05
        return min(_LONGEST_STEP, 0.5 * 2.0**self._tried) * (0.5 + self._chance() / 2)
