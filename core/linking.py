"""How accounts of one person are linked: by a code given to one of them and entered in the other."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from core.clock import Clock
from core.errors import CommandError
from core.messages import Person
from core.pairing import fresh_code, plain_code
from core.store import ConversationStore
from core.translation import marked, spoken

GOOD_FOR = timedelta(minutes=10)
WRONG_PER_HOUR = 5
MOST_LINKED = 8
"""How many accounts one view holds."""
NO_SUCH_CODE = marked("I know no such code: each is good once and for ten minutes. /link gives you a new one.")


class Linking:
    """Codes, good once and for ten minutes. Who enters too many wrong ones has to wait, also after a restart."""

    def __init__(self, store: ConversationStore, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._entering = asyncio.Lock()

    async def offer(self, person: Person) -> str:
        """Give a code by which another account can be linked with a person's; the one before is good no more."""
        code = fresh_code()
        await self._store.offer_link(person, code, self._clock.now() + GOOD_FOR)
        return code

    async def owner(self, code: str, person: Person) -> Person:
        """Give whose code a person has entered, who may be linked with them. Raises CommandError."""
        async with self._entering:
            return await self._owner(plain_code(code), person)

    async def _owner(self, code: str, person: Person) -> Person:
        now = self._clock.now()
        if await self._store.wrong_codes(person, now - timedelta(hours=1)) >= WRONG_PER_HOUR:
            raise CommandError(spoken("Those were too many wrong codes. Please wait an hour."))
        owner = await self._store.link_owner(code, now)
        if owner is None:
            await self._store.note_wrong_code(person, now)
            raise CommandError(spoken(NO_SUCH_CODE))
        await self._check(owner, person)
        return owner

    async def _check(self, owner: Person, person: Person) -> None:
        if owner == person:
            raise CommandError(spoken("That is this account's own code: please enter it in your other account."))
        ours, theirs = await self._store.linked(person), await self._store.linked(owner)
        if owner in ours:
            raise CommandError(spoken("These two accounts are linked already."))
        if len(ours) + len(theirs) + 2 > MOST_LINKED:
            raise CommandError(spoken("I link at most {count} accounts.", count=MOST_LINKED))

    async def join(self, code: str, person: Person) -> Person:
        """Link a person with the owner of a code, which is used up; give the owner. Raises CommandError."""
        await self.owner(code, person)
        owner = await self._store.link(plain_code(code), person, self._clock.now())
        if owner is None:
            raise CommandError(spoken(NO_SUCH_CODE))
        return owner
