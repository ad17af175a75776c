"""Delivers an answer to a platform: each chunk once, waiting as long as the platform asks."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

from core.adapter import Adapter, Outgoing
from core.clock import Clock
from core.conversation import State, Turn
from core.errors import Ambiguous, DeliveryError, Refused, RetryLater, Unreachable
from core.messages import ChatKey, Choice
from core.meter import Meter, Unmeasured
from core.sentences import shown
from core.store import ConversationStore

logger = logging.getLogger("keepmind.delivery")
T = TypeVar("T")
EDIT_TRIES = 3
"""How often a last edit is tried when no reply comes back."""
PATIENCE = 6 * 3600.0
"""Seconds that one chunk waits in all for a platform that can't be reached or asks to wait, until it is given up."""
LEAST_WAIT = 1.0


@dataclass
class Counts:
    """What happened to chunks since the start."""

    sent: int = 0
    ambiguous: int = 0
    refused: int = 0
    unreachable: int = 0
    waits: int = 0


class Delivery:
    """Shows answers on one platform. Every chunk is noted in the store before it is sent, so none is sent twice."""

    def __init__(
        self,
        adapter: Adapter,
        store: ConversationStore,
        clock: Clock,
        meter: Meter = Unmeasured(),  # noqa: B008 -- holds nothing
    ) -> None:
        self.adapter = adapter
        self.counts = Counts()
        self._meter = meter
        self._store = store
        self.clock = clock
        self._closed: dict[ChatKey, tuple[datetime, float]] = {}

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
            self.count("unreachable")
            logger.warning("turn %s can't be delivered: %s", turn.id, error)
        delivered = turn.changed(state=State.DELIVERED)
        return delivered if turn.incognito else await self.note(delivered)  # it stays open until it is erased

    def resumes(self, turn: Turn) -> None:
        """Count the chunk that was noted last when all stopped: whether it was sent can't be known."""
        if turn.chunk > (1 if turn.preview else 0):  # what took the preview's place was noted afterwards
            self.count("ambiguous")
            logger.warning("chunk %s of turn %s may not have been sent; it is not sent again", turn.chunk, turn.id)

    async def _chunk(self, turn: Turn, out: Outgoing) -> Turn:
        if turn.preview and turn.chunk == 0 and await self._edited(turn.preview, out):
            return await self.note(turn.changed(chunk=1))
        reply_to = reply_to_of(turn) if turn.chunk == 0 else ""
        nonce = nonce_of(turn, turn.chunk + 1) if turn.chunk or turn.preview else nonce_of(turn, 0)
        sent = turn.changed(chunk=turn.chunk + 1)
        out = replace(out, nonce=nonce, reply_to=reply_to)
        try:
            await self.patiently(out.chat, partial(self._noted, turn, sent, out))
            self.count("sent")
        except Ambiguous:
            self.count("ambiguous")
            logger.warning("chunk %s of turn %s: no reply came back, it is not sent again", sent.chunk, turn.id)
        except Refused as error:
            self.count("refused")
            logger.error("chunk %s of turn %s was refused: %s", sent.chunk, turn.id, error)
        return sent

    async def _noted(self, turn: Turn, sent: Turn, out: Outgoing) -> None:
        """Send a chunk that is noted before; one that has to wait is not, or it would be lost if all stopped now."""
        await self.note(sent)
        try:
            await self.adapter.send(out)
        except RetryLater:
            await self.note(turn)
            raise

    async def _edited(self, preview: str, out: Outgoing) -> bool:
        """Put a chunk in the place of a message; editing twice shows it once, so it may be repeated."""
        for _ in range(EDIT_TRIES):
            try:
                await self.patiently(out.chat, partial(self.adapter.edit, preview, out))
            except Ambiguous:
                continue
            except Refused:
                return False
            self.count("sent")
            return True
        self.count("ambiguous")
        return True

    async def patiently(self, chat: ChatKey, send: Callable[[], Awaitable[T]]) -> T:
        """Call a sending function when the chat is open, waiting as long as the platform asks each time."""
        waited = 0.0
        while waited < PATIENCE:
            await self.wait_open(chat)
            try:
                return await send()
            except RetryLater as error:
                seconds = max(error.seconds, LEAST_WAIT)
                self.keep_closed(chat, seconds)
                waited += seconds
        raise Refused("the platform kept asking to wait")

    def keep_closed(self, chat: ChatKey, seconds: float) -> None:
        """Send nothing to a chat for as long as the platform asked."""
        self.count("waits")
        self._closed[chat] = self.clock.now(), seconds

    async def wait_open(self, chat: ChatKey) -> None:
        """Wait until the platform takes something for a chat again."""
        while (closed := self._closed.get(chat)) is not None:
            since, seconds = closed
            passed = (self.clock.now() - since).total_seconds()
            if 0 <= passed < seconds:
                await self.clock.sleep(seconds - passed)
            else:  # it is over, or the clock was put back, and how much of it is left is not known
                self._closed.pop(chat, None)

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

    async def replaced(self, message_id: str, out: Outgoing) -> bool:
        """Put something in the place of a message sent before; say whether that could be done."""
        if out.file is not None or len(self.adapter.split(out.text)) != 1:
            return False
        try:
            return await self._edited(message_id, out)
        except DeliveryError as error:
            logger.warning("a message in %s was not replaced: %s", out.chat, type(error).__name__)
            return False

    def count(self, outcome: str) -> None:
        """Count what became of a chunk: a field of `Counts`."""
        setattr(self.counts, outcome, getattr(self.counts, outcome) + 1)
        self._meter.chunk(self.adapter.platform, outcome)

    async def note(self, turn: Turn) -> Turn:
        """Store how far a turn's delivery has come; give the turn."""
        await self._store.progress(turn.id, chunk=turn.chunk, preview=turn.preview, state=turn.state)
        return turn


def nonce_of(turn: Turn, part: int) -> str:
    """Name a part of an answer, the same in every life of the process.

    Part 0 is the preview, and the first chunk where none is known: one that was sent just before a crash is found
    again by the platforms that know nonces, and becomes the answer.
    """
    return f"{turn.id}.{part}.{turn.at.timestamp():.6f}"


def reply_to_of(turn: Turn) -> str:
    """Give the message an answer points to: in a group the last of its turn."""
    return "" if turn.message.private else turn.messages[-1].id
