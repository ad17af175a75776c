"""Two processes that ask Telegram for the same bot's messages: which of them gives way.

Telegram ends the older question whenever a newer one comes, and tells that process so (409 Conflict). Each of the two
is told in turn, so only one at a time can give up, and the other is left alone from then on: who gives up asks nothing
more, not even to acknowledge what it has taken, which is done before. Who has asked for longer holds on for longer: so
it is the newcomer that gives up.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

logger = logging.getLogger("keepmind.telegram")
CONFLICT = "another process asks Telegram for this bot's messages (409 Conflict); only one may, so stop the other one"
_LONGEST = 30
"""How many times `seconds` who has asked for long holds on."""
_FORGOTTEN = 60.0
"""After how many seconds without a conflict the other process is taken to have gone."""


class Rivalry:
    """What a process that polls knows of another one. It holds on for as long as it has polled, at least `seconds`."""

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._now = seconds, now
        self._began = now()
        self._first: float | None = None
        self._last = self._began

    def is_lost(self) -> bool:
        """Note a conflict; say whether it is time to give way."""
        self.rests()
        self._last = now = self._now()
        if self._first is None:
            self._first = now
            logger.warning(CONFLICT)
        holds_on = min(max(self._first - self._began, self._seconds), self._seconds * _LONGEST)
        return now - self._first >= holds_on

    def rests(self) -> None:
        """Note that there was no conflict."""
        if self._first is not None and self._now() - self._last > _FORGOTTEN:
            self._first = None
            logger.warning("no other process asks Telegram for this bot's messages any more")
