"""The updates that wait for the bot, and long polling for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from math import inf

from adapters.telegram.server.refusals import Json, conflict
from adapters.wire.signals import Signal

UNASKED = frozenset({"chat_member", "message_reaction", "message_reaction_count"})  # only on request


class Updates:
    """A queue that forgets an update when the bot has acknowledged it."""

    def __init__(self, first_id: int = 700_000_001) -> None:
        self.pending: dict[int, Json] = {}
        self.log: list[Json] = []
        self.changed = Signal()
        self.allowed: frozenset[str] | None = None
        self.is_closed = False
        self._next_id = first_id
        self._held: list[Json] | None = None
        self._again: list[Json] = []
        self.polls = 0
        self.pace = 0.0
        """How many seconds lie between two conflicts, and how long the same is asked at least: at Telegram it is 3."""
        self._offset, self._asked, self._told = -1, -inf, -inf

    def put(self, kind: str, body: Json) -> Json | None:
        """Queue an update, unless the bot did not ask for its kind."""
        if kind not in self.allowed if self.allowed is not None else kind in UNASKED:
            return None
        update = {"update_id": self._next_id, kind: body}
        self._next_id += 1
        self.log.append(update)
        if self._held is None:
            self._queue(update)
        else:
            self._held.append(update)
        return update

    def _queue(self, *updates: Json) -> None:
        self.pending |= {update["update_id"]: update for update in updates}
        self.changed.ring()

    def hold(self) -> None:
        """Keep back what comes from now on."""
        self._held = []

    def release(self, order: Callable[[list[Json]], Iterable[Json]] = list, renumber: bool = True) -> None:
        """Let go of what was held, in another order if wanted (`reversed`): Telegram does not promise one.

        Numbered anew the ids still rise, as polling needs; a webhook may also see them fall.
        """
        held, self._held = self._held or [], None
        ids = [update["update_id"] for update in held]
        ordered = list(order(held))
        if renumber:
            for update, number in zip(ordered, ids, strict=True):
                update["update_id"] = number
        self._queue(*ordered)

    def repeat(self, update: Json) -> None:
        """Deliver an update once more, even if it was acknowledged."""
        self._again.append(update)
        self.changed.ring()

    def take_repeats(self) -> list[Json]:
        """Give what is to be delivered once more."""
        again, self._again = self._again, []
        return again

    def forget(self, update_id: int) -> None:
        """Acknowledge one update."""
        self.pending.pop(update_id, None)

    def forget_all(self) -> None:
        """Acknowledge all, as `drop_pending_updates` does."""
        self.pending.clear()

    def allow(self, kinds: object) -> None:
        """Note which kinds the bot asks for; an empty list asks for the usual ones."""
        if isinstance(kinds, list):
            self.allowed = frozenset(map(str, kinds)) or None

    def close(self) -> None:
        """End all polling."""
        self.is_closed = True
        self.changed.ring()

    async def poll(self, offset: int, limit: int, timeout: float) -> list[Json]:
        """Acknowledge what is below the offset; wait for more, up to so many seconds. Raises Refusal."""
        self._acknowledge(offset)
        self.polls += 1
        mine = self.polls
        self.changed.ring()
        ends = self._until(offset, timeout)
        while not self.is_closed:
            if mine != self.polls:
                await self._tell()
                raise conflict(
                    "terminated by other getUpdates request; make sure that only one bot instance is running"
                )
            batch = [*self.take_repeats(), *self._first(limit)]
            rest = ends - asyncio.get_running_loop().time()
            if batch or rest <= 0:
                return batch
            await self.changed.wait(rest)
        return []

    def _until(self, offset: int, timeout: float) -> float:
        """Say until when a question is held; one that is asked again at once is not answered at once."""
        now = asyncio.get_running_loop().time()
        if offset == self._offset and now < self._asked + self.pace:
            timeout = max(timeout, self.pace)
        self._offset, self._asked = offset, now
        return now + timeout

    async def _tell(self) -> None:
        """Wait until a conflict may be told again."""
        now = asyncio.get_running_loop().time()
        if now < self._told + self.pace:
            await asyncio.sleep(self.pace)
        else:
            self._told = now

    def _acknowledge(self, offset: int) -> None:
        if offset < 0:
            offset = (sorted(self.pending)[offset:] or [0])[0]
        self.pending = {number: update for number, update in self.pending.items() if number >= offset}

    def _first(self, limit: int) -> Iterator[Json]:
        for _, update in zip(range(limit), self.pending.values(), strict=False):
            yield update
