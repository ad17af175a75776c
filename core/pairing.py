"""How a stranger is let in: by a code that they tell an admin."""

from __future__ import annotations

import secrets
from collections import deque
from datetime import datetime, timedelta

from core.clock import Clock
from core.errors import CommandError
from core.messages import Person
from core.store import ConversationStore
from core.translation import spoken

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""No two that look alike."""
LENGTH = 8
GOOD_FOR = timedelta(hours=24)
WRONG_PER_HOUR = 5


class Pairing:
    """Codes of strangers. An admin who enters too many wrong ones within an hour has to wait."""

    def __init__(self, store: ConversationStore, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._wrong: dict[Person, deque[datetime]] = {}

    async def code_for(self, stranger: Person) -> str:
        """Give the code of a stranger, the same while it is good; empty when too many ask at once."""
        now = self._clock.now()
        code = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
        return await self._store.pair(stranger, code, now, now + GOOD_FOR)

    async def admit(self, code: str, admin: Person) -> Person:
        """Let in whose code it is. Raises CommandError for a wrong one, and after too many of them."""
        now = self._clock.now()
        wrong = self._wrong.setdefault(admin, deque())
        while wrong and now - wrong[0] >= timedelta(hours=1):
            wrong.popleft()
        if len(wrong) >= WRONG_PER_HOUR:
            raise CommandError(
                spoken("Those were too many wrong codes. Wait an hour, or use the id: /admin allow platform:id")
            )
        person = await self._store.paired(_plain(code), now)
        if person is None:
            wrong.append(now)
            raise CommandError(spoken("I know no such code; it may be older than a day. An id works too: platform:id"))
        await self._store.allow(str(person), str(admin), now)
        return person


def _plain(code: str) -> str:
    """Give a code as it is kept, however it was written down."""
    return "".join(code.replace("-", " ").split()).upper()
