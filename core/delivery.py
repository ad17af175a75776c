"""Delivers an answer to a platform: a growing preview at its pace, then each chunk once."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from core.adapter import Adapter, Outgoing
from core.clock import Clock, came_within
from core.conversation import State, Turn
from core.errors import Ambiguous, DeliveryError, Refused, RetryLater, Unreachable
from core.messages import ChatKey, Choice
from core.sentences import shown
from core.store import ConversationStore

logger = logging.getLogger("keepmind.delivery")
T = TypeVar("T")
EDIT_TRIES = 3
"""How often a last edit is tried when no reply comes back."""
MAX_WAITS = 20
"""How often one chunk waits for a platform's rate limit before it is given up."""
TYPING_SECONDS = 4
"""How often typing is shown anew; Telegram and Discord show it for 5 and 10 seconds."""


@dataclass
class Counts:
    """What happened to chunks since the start."""

    sent: int = 0
    ambiguous: int = 0
    refused: int = 0
    waits: int = 0


class Delivery:
    """Shows answers on one platform. Every chunk is noted in the store before it is sent, so none is sent twice."""

    def __init__(self, adapter: Adapter, store: ConversationStore, clock: Clock) -> None:
        self.adapter = adapter
        self.counts = Counts()
        self._store = store
        self.clock = clock
        self._closed: dict[ChatKey, datetime] = {}

    def preview(self, turn: Turn) -> Preview:
        """Begin a preview of a turn's answer."""
        return Preview(self, turn)

    async def deliver(self, turn: Turn, choices: Sequence[Choice] = ()) -> Turn:
        """Send what has not been sent yet of an answered turn; give the turn as it ended."""
        assert turn.answer is not None
        chunks = list(self.adapter.split(shown(turn.answer)))
        try:
            while turn.chunk < len(chunks):
                last = turn.chunk == len(chunks) - 1
                offered = tuple(choices) if last else ()
                out = Outgoing(turn.chat, chunks[turn.chunk], choices=offered, asker=turn.message.asker)
                turn = await self._chunk(turn, out)
        except Unreachable as error:
            logger.warning("turn %s can't be delivered: %s", turn.id, error)
        return await self.note(turn.changed(state=State.DELIVERED))

    async def _chunk(self, turn: Turn, out: Outgoing) -> Turn:
        if turn.preview and turn.chunk == 0 and await self._edited(turn.preview, out):
            return await self.note(turn.changed(chunk=1))
        reply_to = reply_to_of(turn) if turn.chunk == 0 else ""
        turn = await self.note(turn.changed(chunk=turn.chunk + 1))
        out = replace(out, nonce=f"{turn.id}.{turn.chunk}", reply_to=reply_to)
        try:
            await self.patiently(out.chat, partial(self.adapter.send, out))
            self.counts.sent += 1
        except Ambiguous:
            self.counts.ambiguous += 1
            logger.warning("chunk %s of turn %s: no reply came back, it is not sent again", turn.chunk, turn.id)
        except Refused as error:
            self.counts.refused += 1
            logger.error("chunk %s of turn %s was refused: %s", turn.chunk, turn.id, error)
        return turn

    async def _edited(self, preview: str, out: Outgoing) -> bool:
        """Put the first chunk in the place of the preview; editing twice shows it once, so it may be repeated."""
        for _ in range(EDIT_TRIES):
            try:
                await self.patiently(out.chat, partial(self.adapter.edit, preview, out))
            except Ambiguous:
                continue
            except Refused:
                return False
            self.counts.sent += 1
            return True
        self.counts.ambiguous += 1
        return True

    async def patiently(self, chat: ChatKey, send: Callable[[], Awaitable[T]]) -> T:
        """Call a sending function when the chat is open, waiting as long as the platform asks each time."""
        for _ in range(MAX_WAITS):
            await self.wait_open(chat)
            try:
                return await send()
            except RetryLater as error:
                self.keep_closed(chat, error.seconds)
        raise Refused("the platform kept asking to wait")

    def keep_closed(self, chat: ChatKey, seconds: float) -> None:
        """Send nothing to a chat for as long as the platform asked."""
        self.counts.waits += 1
        self._closed[chat] = self.clock.now() + timedelta(seconds=seconds)

    async def wait_open(self, chat: ChatKey) -> None:
        """Wait until the platform takes something for a chat again."""
        while (until := self._closed.get(chat)) is not None:
            left = (until - self.clock.now()).total_seconds()
            if left <= 0:
                self._closed.pop(chat, None)
            else:
                await self.clock.sleep(left)

    async def say(self, out: Outgoing) -> None:
        """Send something that belongs to no turn, in as many chunks as it takes; failing to is only logged."""
        try:
            chunks = list(self.adapter.split(out.text)) or [""]
            for number, text in enumerate(chunks):
                last = number == len(chunks) - 1
                chunk = replace(out, text=text, choices=out.choices if last else (), file=out.file if last else None)
                await self.patiently(out.chat, partial(self.adapter.send, chunk))
        except DeliveryError as error:
            logger.warning("a message to %s was not delivered: %s", out.chat, type(error).__name__)

    async def note(self, turn: Turn) -> Turn:
        """Store how far a turn's delivery has come; give the turn."""
        await self._store.progress(turn.id, chunk=turn.chunk, preview=turn.preview, state=turn.state)
        return turn


def reply_to_of(turn: Turn) -> str:
    """Give the message an answer points to: in a group the last of its turn."""
    return "" if turn.message.private else turn.messages[-1].id


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
        self._task = asyncio.create_task(self._run())

    async def show(self, text: str) -> None:
        """Take the text so far; what is blank is never shown."""
        self.text = text
        if text.strip() and self._adapter.pace is not None:
            self._news.set()
        await asyncio.sleep(0)

    async def end(self) -> str:
        """Stop showing; give the platform's id of the preview, empty when none was sent."""
        self._task.cancel()
        await asyncio.gather(self._task, *([self._first] if self._first else []), return_exceptions=True)
        return self._turn.preview

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
            self._delivery.counts.ambiguous += isinstance(error, Ambiguous)
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
        out = Outgoing(
            self._turn.chat, shown, final=False, reply_to=reply_to_of(self._turn), nonce=f"{self._turn.id}.0"
        )
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
