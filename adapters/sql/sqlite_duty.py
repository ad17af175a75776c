"""Who serves a bot on SQLite: of the processes of one machine the one that has locked a file beside the database."""
# ruff: noqa: D102 - what each method promises is said once, at the port

from __future__ import annotations

import asyncio
import sqlite3

from adapters.sql.faults import store_error

BEAT, POLL = 0.5, 5.0
"""How many seconds pass between two tries to take a bot, and two looks at what others have received."""


class SqliteDuty:
    """Holds bots by SQLite's own lock of an empty database each: the system lets it go when the process ends.

    So it is never lost, not even by a process that is frozen.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._held: dict[str, sqlite3.Connection] = {}

    async def take(self, bot: str) -> None:
        while bot not in self._held and not self._try(bot):  # noqa: ASYNC110 -- another process rings no bell
            await asyncio.sleep(BEAT)

    def _try(self, bot: str) -> bool:
        path = f"{self._where}-{bot.partition(':')[0]}"
        connection = None
        try:
            connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
                return False
            raise store_error(error, path) from None
        self._held[bot] = connection
        return True

    async def lost(self) -> None:
        await asyncio.Event().wait()

    async def called(self) -> None:
        await asyncio.sleep(POLL)

    def close(self) -> None:
        """Let go of everything; again is harmless."""
        while self._held:
            self._held.popitem()[1].close()
