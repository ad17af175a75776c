"""Carries one turn from its messages to its delivered answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from core import sentences
from core.adapter import Outgoing
from core.asking import Asking, Unaffordable
from core.collaborators import Collaborators
from core.conversation import OPEN, WAITS, Answer, Conversation, State, Turn
from core.errors import LLMError, LLMUnavailable, Relieved, StaleEpoch, StoreError
from core.messages import ChatKey, Choice, Message, Person, Reply
from core.meter import timed
from core.prompt import MESSAGE_COST, turn_cost
from core.records import Job
from core.rendering import said
from core.spending.budget import Standing
from core.translation import spoken

logger = logging.getLogger("keepmind.engine")


class Stopped(Exception):
    """The exchange was told to end."""


class Exchange:
    """One turn of `sender`. `turn` is it as far as it has come, None before it has begun.

    `waits` says why it could not end, when it is to be taken up again later.
    A stop cuts short only what may be cut: asking the model and delivering. What is being stored is stored whole.
    """

    def __init__(self, shared: Collaborators, chat: ChatKey, sender: Person) -> None:
        self.turn: Turn | None = None
        self.sender = sender
        self.stopping = False
        self.waits = ""
        self._shared = shared
        self._chat = chat
        self._composer = shared.composers.of(chat)
        self._delivery = shared.deliveries[chat.platform]
        self._asking: Asking | None = None
        self._doing: asyncio.Task[Turn] | None = None
        self._waiting: Sequence[Message] = ()
        self._bill = shared.ledger.bill()

    async def run(self, messages: Sequence[Message]) -> Reply | None:
        """Take waiting messages of one sender into a turn and answer it.

        None when no answer is needed, and when the turn was stopped or erased meanwhile.
        """
        self._waiting = messages
        return await self._unless_stopped(self._begin(messages))

    async def joined(self, turn: Turn, messages: Sequence[Message]) -> bool:
        """Let a turn that waits take in what its sender has said since; False when that has to be another turn."""
        messages = await self._marked(messages)
        if any(m.incognito != turn.incognito for m in messages):
            return False
        tokens, now = sum(self._shared.counter.count(said(m)) for m in messages), self._shared.clock.now()
        return await self._shared.store.join(turn, messages, tokens=tokens, at=now) is not None

    async def resume(self, turn: Turn) -> Reply | None:
        """Take up a turn that was left open; None when it is open no more."""
        self.turn = turn
        return await self._unless_stopped(self._take_up())

    @property
    def outcome(self) -> str:
        """How it ended: the turn's last state, or why it failed; blank when it never became a turn."""
        return "" if self.turn is None else self.turn.failure or self.turn.state.value

    def stop(self) -> None:
        """Tell it to end, keeping what was said and what has been seen of the answer."""
        self.stopping = True
        if self._doing is not None:
            self._doing.cancel()

    async def _begin(self, messages: Sequence[Message]) -> Reply | None:
        store, now = self._shared.store, self._shared.clock.now()
        messages = await self._marked(messages)
        tokens = sum(self._shared.counter.count(said(m)) for m in messages) + MESSAGE_COST
        if not any(m.addressed for m in messages):
            if messages[0].incognito:
                await self._ignore(messages)
                return None
            self.turn = await store.begin(messages, state=State.HEARD, tokens=tokens, at=now)
            return None
        if self._is_old(max(m.sent_at for m in messages)):
            self.turn = await store.begin(messages, state=State.RECEIVED, tokens=tokens, at=now)
            return await self._fail(self.turn, "too old", spoken(sentences.TOO_OLD))
        conversation, self.turn = await store.open(messages, tokens=tokens, at=now)
        return await self._complete(await self._shared.as_met(conversation, self.turn), self.turn)

    async def _marked(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Mark what is said incognito; asked only now, when every command before it has run."""
        if messages[0].anonymous or not (await self._shared.store.settings(messages[0].sender)).incognito:
            return messages
        return [replace(m, incognito=True) for m in messages]

    async def _ignore(self, messages: Sequence[Message]) -> None:
        for message in messages:
            await self._shared.store.erase_message(message.chat, message.id)

    async def _vanish(self, turn: Turn) -> None:
        """Erase a turn said incognito, which is over."""
        self._shared.stretches.leave(turn)
        await self._shared.store.erase_turn(turn.chat, turn.id)

    async def _take_up(self) -> Reply | None:
        self.turn = turn = await self._stored()
        if turn is None or turn.state not in OPEN:
            return None
        if turn.state is State.ANSWERED:
            self._delivery.resumes(turn)
            return await self._deliver(turn)
        if self._is_old(max(turn.at, *(m.sent_at for m in turn.messages))):
            return await self._fail(turn, "too old", spoken(sentences.TOO_OLD))
        conversation = await self._shared.load(turn)
        if not turn.incognito and all(t.id != turn.id for t in conversation.turns):
            await self._end(turn, "left")  # the talk has been taken back to before it
            return None
        return await self._complete(conversation, turn)

    def _is_old(self, at: datetime) -> bool:
        return self._shared.clock.now() - at > timedelta(minutes=self._shared.limits.open_turn_minutes)

    async def _keep(self, turn: Turn, jobs: Sequence[Job] = ()) -> None:
        """Store a turn with what was spent on it; what is said incognito is nobody's."""
        spent = [one.nameless for one in self._bill.spent] if turn.incognito else self._bill.spent
        await self._shared.store.save(turn, jobs=jobs, spent=spent)
        self._bill.clear()

    async def _unless_stopped(self, work: Coroutine[None, None, Reply | None]) -> Reply | None:
        reply = await self._unless_stale(work)
        if self._bill.spent:  # the turn it was spent on is erased, so it is nobody's
            await self._shared.store.spend([one.nameless for one in self._bill.spent])
            self._bill.clear()
        return reply

    async def _unless_stale(self, work: Coroutine[None, None, Reply | None]) -> Reply | None:
        try:
            return await work
        except Stopped:
            await self._close()
        except StaleEpoch:
            if not self.stopping:
                return await self._again()
            await self._close()
        return None

    async def _again(self) -> Reply | None:
        """Answer anew when the chat was cleared of something else meanwhile: the answer may have been made of it."""
        if self.turn is None:
            return await self._begin_with_the_rest()
        turn = await self._stored()
        if turn is None or turn.state is not State.RECEIVED:
            return None
        try:
            self.turn = turn
            return await self._complete(await self._shared.load(turn), turn)
        except (Stopped, StaleEpoch):
            await self._close()
            return None

    async def _begin_with_the_rest(self) -> Reply | None:
        """Begin without the messages of the burst that were erased while they waited."""
        left = {(m.chat, m.id) for m in await self._shared.store.waiting(self._chat)}
        rest = [m for m in self._waiting if (m.chat, m.id) in left]
        if not rest or len(rest) == len(self._waiting):
            return None
        return await self.run(rest)

    async def _stored(self) -> Turn | None:
        """Give the turn as it is stored, in the chat's present epoch; None when it has not begun or is erased."""
        stored = await self._shared.store.turn(self.turn.id) if self.turn is not None else None
        if stored is None:
            return None
        return stored.changed(epoch=(await self._shared.store.load(stored.chat)).epoch)

    async def end(self, turn: Turn) -> None:
        """End a turn that waits, as a stop does."""
        self.turn = turn
        await self._close()

    async def _close(self) -> None:
        """Note how a stopped turn ended: what was said is kept, and of the answer what has been seen."""
        turn = await self._stored()
        if turn is None or turn.state not in OPEN:
            return
        if turn.incognito:
            await self._vanish(turn)
            return
        if turn.chunk:
            self.turn = turn.changed(state=State.DELIVERED)
        else:
            seen = self._asking.seen.strip() if self._asking else ""
            answer = Answer(seen, "interrupted") if seen else None
            self.turn = turn.changed(state=State.FAILED, failure="stopped", answer=answer)
        with contextlib.suppress(StaleEpoch):
            await self._keep(self.turn.changed(tokens=turn_cost(self.turn, self._shared.counter)))

    async def _stoppable(self, work: Coroutine[None, None, Turn]) -> Turn:
        """Do what a stop may cut short. Raises Stopped."""
        self._doing = asyncio.create_task(work)
        if self.stopping:
            self._doing.cancel()
        try:
            return await self._doing
        except asyncio.CancelledError:
            if self.stopping:
                raise Stopped from None
            if _is_unasked():
                raise RuntimeError("what was done for a turn cancelled itself") from None
            raise
        finally:
            self._doing = None

    async def _complete(self, conversation: Conversation, turn: Turn) -> Reply | None:
        if self._bill.chat is None:
            self._bill = self._shared.ledger.bill_of(turn)
        standing = await self._shared.ledger.standing(turn.message)
        if standing.is_over:
            return await self._pause(conversation, turn, standing)
        self._asking = asking = Asking(self._shared, self._composer, self._delivery, self._bill)
        try:
            answered = await self._stoppable(asking.run(conversation, turn))
        except Unaffordable as over:
            return await self._pause(conversation, turn, over.standing)
        except LLMUnavailable as error:
            return await self._wait(turn, asking, error)
        except LLMError as error:
            logger.error("turn %s got no answer: %s", turn.id, error)
            return await self._fail(turn, "model", sentences.apology(error))
        self._shared.outage.answered(self._chat)
        self.turn = turn = await self._save(conversation, answered.changed(state=State.ANSWERED, failure=""))
        reply = await self._deliver(turn, asking.choices)
        if asking.proposed:
            await self._shared.propose(turn, asking.proposed)
        return reply

    async def _deliver(self, turn: Turn, choices: Sequence[Choice] = ()) -> Reply:
        self._shared.outage.sending(self._chat)
        with timed(self._shared.meter, "deliver"):
            self.turn = turn = await self._stoppable(self._delivery.deliver(turn, choices))
        assert turn.answer is not None
        if turn.incognito:
            self._shared.stretches.add(turn)
            await self._vanish(turn)
        return Reply(sentences.shown(turn.answer), tuple(choices), turn=turn.id)

    async def _wait(self, turn: Turn, asking: Asking, error: LLMUnavailable) -> Reply:
        """Leave a turn open until the model is back, with the tools it has run; its person is told once."""
        self.waits = str(error)
        self._shared.outage.failed(self._chat)
        self.turn = turn.changed(failure=WAITS, rounds=asking.rounds or turn.rounds, preview=asking.shown_as)
        await self._keep(self.turn)
        if turn.waits:
            return self._unanswered(spoken(sentences.WAITS))
        logger.warning("turn %s waits: %s", turn.id, error)
        return await self._apologise(spoken(sentences.WAITS))

    async def _save(self, conversation: Conversation, turn: Turn) -> Turn:
        turn = turn.changed(tokens=turn_cost(turn, self._shared.counter))
        jobs = [] if turn.incognito else self._jobs(conversation.without(turn.id), turn)
        await self._keep(turn, jobs)
        if jobs:
            self._shared.wake()
        return turn

    def _jobs(self, before: Conversation, turn: Turn) -> list[Job]:
        composer, now = self._composer, self._shared.clock.now()
        after = replace(before, path=(*before.path, turn))
        jobs = []
        if any(m.due(after, composer.work().budget) for m in composer.memories):
            jobs.append(Job("compact", str(turn.chat), now))
        if before.settings.memory != "off" and any(m.wants_extraction(turn) for m in composer.memories):
            jobs.append(Job("extract", str(turn.id), now))
        return jobs

    async def _fail(self, turn: Turn, failure: str, sentence: str) -> Reply:
        await self._end(turn, failure)
        return await self._apologise(spoken(sentences.APOLOGY_INCOGNITO) if turn.incognito else sentence)

    async def _end(self, turn: Turn, failure: str) -> None:
        self.turn = turn.changed(state=State.FAILED, failure=failure)
        await (self._vanish(turn) if turn.incognito else self._keep(self.turn))

    async def _pause(self, conversation: Conversation, turn: Turn, standing: Standing) -> Reply | None:
        """Keep what was said without asking the model, since nothing is left to spend; say so once in a while."""
        await self._end(turn, "budget")
        ledger, reply = self._shared.ledger, None
        until = standing.until(ledger.zone)
        if ledger.may_tell(turn.chat, turn.sender):
            at = until.astimezone(self._composer.zone_for(conversation))
            reply = await self._apologise(sentences.spent(standing.whose, at, kept=not turn.incognito))
        if standing.whose == "bot":
            await self._shared.notices.spent(until)
        return reply

    async def _apologise(self, sentence: str) -> Reply:
        self._shared.outage.sending(self._chat)
        await self._delivery.say(Outgoing(self._chat, sentence))
        return self._unanswered(sentence)

    def _unanswered(self, sentence: str) -> Reply:
        return Reply(sentence, turn=self.turn.id if self.turn else None, failed=True)

    async def broke(self, error: Exception) -> Reply | None:
        """End a turn that met a bug or a broken database: the log has its kind, the person an apology.

        What was said is kept. What the database would not begin, or not note as delivered, is taken up again later.
        """
        why = str(error) if isinstance(error, StoreError) else type(error).__name__
        logger.error("turn %s of %s broke: %s", self.turn.id if self.turn else "?", self._chat, why)
        logger.debug("its traceback", exc_info=error)
        if isinstance(error, Relieved):
            return None  # whoever serves the bot now answers
        broken = type(error) is StoreError
        if self.turn is None:
            return await self._put_off(why) if broken else await self._apologise(spoken(sentences.APOLOGY_BUG))
        if self.turn.state is not State.RECEIVED:
            self.waits = why if broken else ""
            return None
        try:
            return await self._fail(self.turn, "bug", spoken(sentences.APOLOGY_BUG))
        except Relieved:
            return None
        except StoreError as worse:
            return await self._put_off(str(worse)) if broken else await self._apologise(spoken(sentences.APOLOGY_BUG))

    async def _put_off(self, why: str) -> Reply:
        """Leave what was said until the database is back; its person is told once."""
        self.waits, sentence = why, spoken(sentences.WAITS_FOR_STORE)
        was_told = self._shared.outage.knows(self._chat)
        return self._unanswered(sentence) if was_told else await self._apologise(sentence)


def _is_unasked() -> bool:
    """Say whether a cancellation came from within, not from who runs this task."""
    task = asyncio.current_task()
    return task is not None and not task.cancelling()
