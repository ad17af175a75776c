"""The growing answer, shown while the model writes it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from functools import partial

from core.adapter import Outgoing
from core.clock import came_within
from core.conversation import Turn
from core.delivery import Delivery, nonce_of, reply_to_of
from core.errors import Ambiguous, DeliveryError, RetryLater
from core.text.letters import is_blank

logger = logging.getLogger("keepmind.delivery")
TYPING_SECONDS = 4
"""How often typing is shown anew; Telegram and Discord show it for 5 and 10 seconds."""


class Preview:
    """The growing answer, shown at the platform's pace by a task of its own, so that a slow platform slows no model.

    Until the first words it shows that the bot is typing. `text` is the answer so far, `seen` what was shown of it.
    """

    def __init__(self, delivery: Delivery, turn: Turn) -> None:
        self.text = self.seen = ""
        self._delivery = delivery
        self._adapter = delivery.adapter
        self._turn = turn
        self._news = asyncio.Event()
        self._first: asyncio.Task[None] | None = None
        self._task: asyncio.Task[None] | None = asyncio.create_task(self._run())

    async def show(self, text: str) -> None:
        """Take the text so far; what is blank is never shown."""
        self.text = text
        if not is_blank(text) and self._adapter.pace is not None:
            self._news.set()
        await asyncio.sleep(0)

    @property
    def shown_as(self) -> str:
        """The platform's id of the preview, empty when none was sent."""
        return self._turn.preview

    async def end(self) -> None:
        """Stop showing."""
        tasks = [task for task in (self._task, self._first) if task is not None]
        if self._task is not None:
            self._task.cancel()
        self._task = self._first = None  # they know this one: else all of the turn stays until Python looks for circles
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self) -> None:
        try:
            await self._type()
            while True:
                await self._news.wait()
                await self._delivery.wait_open(self._turn.chat)
                self._news.clear()
                await self._update(self.text)
                await self._delivery.clock.sleep(self._adapter.pace or 0)
        except DeliveryError as error:
            if isinstance(error, Ambiguous):
                self._delivery.count("ambiguous")
            logger.info("the preview of turn %s ends: %s", self._turn.id, type(error).__name__)
        except Exception as error:  # a preview costs nobody their answer
            logger.warning("the preview of turn %s met a bug: %s", self._turn.id, type(error).__name__)

    async def _type(self) -> None:
        while not self._news.is_set():
            with contextlib.suppress(DeliveryError):
                await self._adapter.typing(self._turn.chat)
            await came_within(self._news, TYPING_SECONDS)

    async def _update(self, text: str) -> None:
        shown = next(iter(self._adapter.split(text)), "")
        if shown in ("", self.seen):
            return
        reply_to, nonce = reply_to_of(self._turn), nonce_of(self._turn, 0)
        out = Outgoing(self._turn.chat, shown, final=False, reply_to=reply_to, nonce=nonce)
        if self._turn.preview:
            await self._patiently(partial(self._edit, out))
        else:  # once begun it is carried to its end, or its id would be lost and the answer shown twice
            self._first = asyncio.create_task(self._patiently(partial(self._begin, out)))
            await asyncio.shield(self._first)

    async def _patiently(self, show: Callable[[], Awaitable[None]]) -> None:
        try:
            await show()
        except RetryLater as error:
            self._news.set()
            self._delivery.keep_closed(self._turn.chat, error.seconds)

    async def _edit(self, out: Outgoing) -> None:
        await self._adapter.edit(self._turn.preview, out)
        self.seen = out.text

    async def _begin(self, out: Outgoing) -> None:
        sent = await self._adapter.send(out)
        self.seen = out.text
        self._turn = await self._delivery.note(self._turn.changed(preview=sent))
