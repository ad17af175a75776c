"""Delivers an answer to a platform: a growing preview at its pace, then each chunk once."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from core.adapter import Adapter, Outgoing
from core.clock import Clock
from core.conversation import State, Turn
from core.errors import Ambiguous, DeliveryError, Refused, RetryLater, Unreachable
from core.messages import Choice
from core.sentences import shown
from core.store import ConversationStore

logger = logging.getLogger("keepmind.delivery")
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
                out = Outgoing(turn.chat, chunks[turn.chunk], choices=tuple(choices) if last else ())
                turn = await self._chunk(turn, out)
        except Unreachable as error:
            logger.warning("turn %s can't be delivered: %s", turn.id, error)
        return await self.note(replace(turn, state=State.DELIVERED))

    async def _chunk(self, turn: Turn, out: Outgoing) -> Turn:
        if turn.preview and turn.chunk == 0 and await self._edited(turn.preview, out):
            return await self.note(replace(turn, chunk=1))
        turn = await self.note(replace(turn, chunk=turn.chunk + 1))
        reply_to = turn.messages[-1].id if turn.chunk == 1 and not turn.message.private else ""
        out = replace(out, nonce=f"{turn.id}.{turn.chunk}", reply_to=reply_to)
        try:
            await self.patiently(partial(self.adapter.send, out))
            self.counts.sent += 1
        except Ambiguous:
            self.counts.ambiguous += 1
            logger.warning("chunk %s of turn %s: no reply came back, it is not sent again", turn.chunk, turn.id)
        except (Refused, RetryLater) as error:
            self.counts.refused += 1
            logger.error("chunk %s of turn %s was refused: %s", turn.chunk, turn.id, type(error).__name__)
        return turn

    async def _edited(self, preview: str, out: Outgoing) -> bool:
        try:
            await self.patiently(partial(self.adapter.edit, preview, out))
        except Ambiguous:  # editing again would show the same
            return True
        except (Refused, RetryLater):
            return False
        self.counts.sent += 1
        return True

    async def patiently(self, send: Callable[[], Awaitable[object]]) -> None:
        """Call a sending function, waiting as long as the platform asks each time."""
        for _ in range(MAX_WAITS):
            try:
                await send()
                return
            except RetryLater as error:
                self.counts.waits += 1
                await self.clock.sleep(error.seconds)
        raise Refused("the platform kept asking to wait")

    async def say(self, out: Outgoing) -> None:
        """Send something that belongs to no turn, in as many chunks as it takes; failing to is only logged."""
        try:
            chunks = list(self.adapter.split(out.text)) or [""]
            for number, text in enumerate(chunks):
                last = number == len(chunks) - 1
                chunk = replace(out, text=text, choices=out.choices if last else (), file=out.file if last else None)
                await self.patiently(partial(self.adapter.send, chunk))
        except DeliveryError as error:
            logger.warning("a message to %s was not delivered: %s", out.chat, type(error).__name__)

    async def note(self, turn: Turn) -> Turn:
        """Store how far a turn's delivery has come; give the turn."""
        await self._store.progress(turn.id, chunk=turn.chunk, preview=turn.preview, state=turn.state)
        return turn


class Preview:
    """The growing answer, shown at the platform's pace by a task of its own, so that a slow platform slows no model.

    Until the first words it shows that the bot is typing.
    """

    def __init__(self, delivery: Delivery, turn: Turn) -> None:
        self.text = ""
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
        await asyncio.wait([t for t in (self._task, self._first) if t is not None])
        return self._turn.preview

    async def _run(self) -> None:
        try:
            while not self._news.is_set():
                await self._adapter.typing(self._turn.chat)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), TYPING_SECONDS)
            while True:
                await self._news.wait()
                self._news.clear()
                await self._update(self.text)
                await self._delivery.clock.sleep(self._adapter.pace or 0)
        except DeliveryError as error:
            logger.info("the preview of turn %s ends: %s", self._turn.id, type(error).__name__)

    async def _update(self, text: str) -> None:
        out = Outgoing(self._turn.chat, text, final=False, nonce=f"{self._turn.id}.0")
        try:
            if self._turn.preview:
                await self._adapter.edit(self._turn.preview, out)
            else:  # once begun it is carried to its end, or its id would be lost and the answer shown twice
                self._first = asyncio.create_task(self._begin(out))
                await asyncio.shield(self._first)
        except RetryLater as error:
            self._news.set()
            await self._delivery.clock.sleep(error.seconds)

    async def _begin(self, out: Outgoing) -> None:
        sent = await self._adapter.send(out)
        self._turn = await self._delivery.note(replace(self._turn, preview=sent))
