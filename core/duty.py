"""The port to who serves a bot: of all the processes that could, one at a time."""

from __future__ import annotations

import asyncio
from typing import Protocol


class Duty(Protocol):
    """What this process serves. The others stand by: they may fill the inbox, and take over when it is let go.

    A bot is named by its platform and its id there. Each time it is taken its term rises, and a store that held an
    older term keeps nothing any more.
    """

    async def take(self, bot: str) -> None:
        """Wait until no other process serves a bot, then serve it as long as this process lives; again is harmless.

        From now on each write of the store that gave the duty makes sure of the term, and raises Relieved once another
        process has the bot.
        """
        ...

    async def lost(self) -> None:
        """Wait until another process has one of the bots: this one is to stop serving, and may begin anew."""
        ...

    async def called(self) -> None:
        """Wait until another process may have put something into the inbox."""
        ...


class Alone:
    """The duty where there is no other process: it is had at once, and never lost."""

    async def take(self, bot: str) -> None:
        """Serve a bot."""

    async def lost(self) -> None:
        """Wait for ever."""
        await asyncio.Event().wait()

    async def called(self) -> None:
        """Wait for ever."""
        await asyncio.Event().wait()
