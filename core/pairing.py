"""How a stranger is let in: by a code that they tell an admin."""

from __future__ import annotations

import asyncio
import secrets
from datetime import datetime, timedelta

from core.clock import Clock
from core.errors import CommandError
from core.messages import Person
from core.records import AuditEntry
from core.store import ConversationStore
from core.translation import spoken

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""No two that look alike."""
LENGTH = 8
GOOD_FOR = timedelta(hours=24)
WRONG_PER_HOUR = 5
WRONG = "wrong pairing code"
"""How a wrong code stands in the audit table."""
MOST_ASKED = 10_000


class Pairing:
    """Codes of strangers. An admin who enters too many wrong ones within an hour has to wait, also after a restart.

    Who has a good code has been told it. Whether somebody for whom there was none has asked before, and in which
    language anyone did, is known since the start only.
    """

    def __init__(self, store: ConversationStore, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._asked: dict[Person, str] = {}
        self._entering = asyncio.Lock()

    async def ask(self, stranger: Person, language: str) -> tuple[str, bool]:
        """Give the code of a stranger, the same while it is good, and whether it is new to them.

        It is empty when too many ask at once.
        """
        is_new = stranger not in self._asked
        self._asked[stranger] = language
        if len(self._asked) > MOST_ASKED:
            del self._asked[next(iter(self._asked))]
        now, fresh = self._clock.now(), fresh_code()
        code = await self._store.pair(stranger, fresh, now, now + GOOD_FOR)
        return code, code == fresh if code else is_new

    def asked_in(self, stranger: Person) -> str | None:
        """Give the language in which a stranger asked, who is none any more; None when they are not known to have."""
        return self._asked.pop(stranger, None)

    async def admit(self, code: str, admin: Person) -> Person:
        """Let in whose code it is. Raises CommandError for a wrong one, and after too many of them."""
        async with self._entering:
            return await self._admit(code, admin, self._clock.now())

    async def _admit(self, code: str, admin: Person, now: datetime) -> Person:
        if await self._wrong(admin, now - timedelta(hours=1)) >= WRONG_PER_HOUR:
            raise CommandError(
                spoken("Those were too many wrong codes. Wait an hour, or use the id: /admin allow platform:id")
            )
        person = await self._store.paired(plain_code(code), now)
        if person is None:
            await self._store.audit(AuditEntry(str(admin), WRONG, "", now))
            raise CommandError(spoken("I know no such code; it may be older than a day. An id works too: platform:id"))
        await self._store.allow(str(person), str(admin), now)
        return person

    async def _wrong(self, admin: Person, since: datetime) -> int:
        done = await self._store.audited(limit=1000)
        return sum(entry.action == WRONG and entry.admin == str(admin) and entry.at > since for entry in done)


def fresh_code() -> str:
    """Make a code that nobody can guess."""
    return "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def plain_code(code: str) -> str:
    """Give a code as it is kept, however it was written down."""
    return "".join(code.replace("-", " ").split()).upper()
