"""Who serves a bot on PostgreSQL: the process whose session holds an advisory lock, and whose term is the latest."""
# ruff: noqa: D102 - what each method promises is said once, at the port

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Event, Thread
from time import monotonic

import psycopg
from psycopg.sql import SQL, Literal

from adapters.sql.address import Address
from adapters.sql.postgresql_faults import store_error
from adapters.sql.postgresql_link import Connection, connect

logger = logging.getLogger("keepmind.store")

BOTS = 1_264_873_041
"""The space of the advisory locks of bots."""
GLANCE = 0.1
"""Seconds between two looks at what is wanted; none of them asks the server."""
CALL = "keepmind"
"""What is heard by who serves a bot of this database."""
TRY = f"SELECT pg_try_advisory_lock({BOTS}, hashtext(%s))"
RISE = "INSERT INTO duty (bot, term) VALUES (%s, 1) ON CONFLICT (bot) DO UPDATE SET term = duty.term + 1 RETURNING term"
TERM = "SELECT term FROM duty WHERE bot = %s"
SETTINGS = (
    f"LISTEN {CALL}",
    "SET idle_session_timeout = 10000",  # who is frozen lets the bot go
    "SET tcp_keepalives_idle = 5",
    "SET tcp_keepalives_interval = 2",
    "SET tcp_keepalives_count = 3",
)


def fence(terms: Sequence[tuple[str, int]]) -> str:
    """Write what finds a row for each term that is still the latest, and lets none rise until the transaction ends."""
    if not terms:
        return ""
    mine = SQL(", ").join(SQL("({}, {})").format(Literal(bot), Literal(term)) for bot, term in terms)
    return SQL("; SELECT 1 FROM duty WHERE (bot, term) IN ({}) FOR SHARE").format(mine).as_string()


class PostgresqlDuty:
    """Holds bots by a session of its own, on a thread that looks after it every `beat` seconds.

    A lost connection is made again. If no other process has taken the bot meanwhile, its term still stands, and
    nothing has happened; else the duty is lost.
    """

    def __init__(self, address: Address, patience: float, beat: float = 1.0, poll: int = 5) -> None:
        self.terms: dict[str, int] = {}
        self._address = address
        self._patience = patience
        self._beat = beat
        self._poll = poll
        self._wanted: dict[str, asyncio.Future[None]] = {}
        self._held: set[str] = set()
        self._ending = Event()
        self._thread: Thread | None = None
        self._lost = asyncio.Event()
        self._called = asyncio.Event()

    async def take(self, bot: str) -> None:
        if bot in self.terms:
            return
        self._loop = asyncio.get_running_loop()
        taken = self._wanted.setdefault(bot, self._loop.create_future())
        if self._thread is None:
            self._thread = Thread(target=self._run, name="keepmind-duty", daemon=True)
            self._thread.start()
        await asyncio.shield(taken)

    async def lost(self) -> None:
        await self._lost.wait()

    async def called(self) -> None:
        await self._called.wait()
        self._called.clear()

    async def aclose(self) -> None:
        """Let go of everything; again is harmless."""
        self._ending.set()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        told = False
        while not self._ending.is_set():
            try:
                with connect(self._address, self._patience).connection as connection:
                    told = False
                    self._hold(connection)
            except psycopg.Error as error:
                if not told:
                    logger.warning("who serves the bots is not certain: %s", store_error(error, self._address.where))
                told = True
                self._held.clear()
                self._ending.wait(self._beat)

    def _hold(self, connection: Connection) -> None:
        """Take what is wanted, keep what is held, and pass calls on, until the end or a lost connection."""
        for setting in SETTINGS:
            connection.execute(setting)
        beats = 0
        while not self._ending.is_set():
            wanted = list(self._wanted)
            for bot in wanted:
                if bot not in self._held:
                    self._try(connection, bot)
            heard = self._listen(connection, len(wanted))
            connection.execute("SELECT 1")
            beats += 1
            if heard or beats % self._poll == 0:
                self._tell(self._called.set)

    def _listen(self, connection: Connection, known: int) -> bool:
        """Wait a beat for a call, or until more bots are wanted than are known, or the end; say whether one came."""
        until = monotonic() + self._beat
        while not self._ending.is_set() and len(self._wanted) == known and (left := until - monotonic()) > 0:
            if list(connection.notifies(timeout=min(left, GLANCE), stop_after=1)):
                return True
        return False

    def _try(self, connection: Connection, bot: str) -> None:
        """Take a bot if nobody has it; what was held and is another's now is lost."""
        free = _value(connection, TRY, bot)
        if bot in self.terms:
            if not free or _value(connection, TERM, bot) != self.terms[bot]:
                self._tell(self._lost.set)
            self._held.add(bot)
        elif free:
            self.terms = {**self.terms, bot: int(str(_value(connection, RISE, bot)))}
            self._held.add(bot)
            self._tell(self._taken, bot)

    def _taken(self, bot: str) -> None:
        if not self._wanted[bot].done():
            self._wanted[bot].set_result(None)

    def _tell(self, what: Callable[..., None], *about: object) -> None:
        with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits
            self._loop.call_soon_threadsafe(what, *about)


def _value(connection: Connection, question: str, bot: str) -> object:
    row = connection.execute(question, (bot,)).fetchone()
    return row[0] if row else None
