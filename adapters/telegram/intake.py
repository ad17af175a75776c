"""One line a chat: an update stays with Telegram, which gives it again, until it is stored.

So neither a slow file nor a dead process loses a message, and other chats go on meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from telegram import Update

from adapters.telegram.updates import lane_of
from core import intake


class Intake(intake.Intake):
    """Runs `take` for every update, one at a time in each chat."""

    def __init__(self, take: Callable[[Update], Awaitable[None]]) -> None:
        super().__init__()
        self._take = take

    def put(self, update: Update) -> asyncio.Task[None]:
        """Take an update when those before it in its chat are; the task raises StoreError when it must come again."""
        return self.line_up(lane_of(update), partial(self._take, update))
