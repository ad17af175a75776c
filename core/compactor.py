"""Compacts conversations: durable jobs, each with a time limit and back-off, none holding up another."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import uuid4
from weakref import WeakValueDictionary

from core.clock import Clock
from core.compose import Composer
from core.conversation import Conversation
from core.errors import KeepmindError, LLMUnavailable, StaleEpoch
from core.llm import LLM, Completion, OnText, Request, Wrapped
from core.memory.memory import Compaction
from core.messages import ChatKey, Person
from core.meter import Meter, Unmeasured
from core.personas import Places
from core.records import Job
from core.spending.budget import Ledger
from core.store import ConversationStore
from core.usage import Bill, BilledLLM

logger = logging.getLogger("keepmind.compactor")


@dataclass(frozen=True, slots=True)
class CompactorLimits:
    """A chat is quiet after `idle_minutes`; a job takes at most `job_seconds` for each thing it asks the model,
    `parallel` run at once.

    A failed job is tried again after `first_retry` seconds, then twice as long each time, up to an hour.
    Bare inbox keys are kept for `keep_days` days, what was spent for `spent_days`. While nothing is left to spend, a
    job is put off by at most `look_again` seconds at a time.
    """

    idle_minutes: float = 30
    job_seconds: float = 120
    parallel: int = 4
    first_retry: float = 30
    keep_days: float = 7
    spent_days: int = 92
    look_again: float = 3600


class Compactor:
    """Does the durable jobs that are due, and queues one for each chat that has gone quiet.

    While it is `pausing` no job begins: they wait, and none counts as tried.
    """

    def __init__(
        self,
        store: ConversationStore,
        composers: Places[Composer],
        clock: Clock,
        limits: CompactorLimits | None = None,
        meter: Meter = Unmeasured(),  # noqa: B008 -- holds nothing
        pausing: Callable[[], bool] = lambda: False,
        ledger: Ledger | None = None,
    ) -> None:
        self.failures = 0
        self._ledger = ledger or Ledger(store, clock)
        self._store = store
        self._composers = composers
        self._clock = clock
        self._limits = limits or CompactorLimits()
        self._meter = meter
        self._pausing = pausing
        self._owner = uuid4().hex
        self._running: dict[asyncio.Task[None], Job] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._starting = asyncio.Lock()
        self._waking: asyncio.Task[None] | None = None
        self._full = self._closing = False

    async def tick(self) -> None:
        """Queue quiet chats, drop what has expired, start what is due. Does not wait for the jobs it starts."""
        await self.scan()
        since = self._ledger.today - timedelta(days=self._limits.spent_days)
        await self._store.expire(self._clock.now(), keep_days=self._limits.keep_days, spent_since=since)
        await self.start_due()

    async def scan(self) -> int:
        """Queue an idle compaction for each chat that has gone quiet; how many."""
        now = self._clock.now()
        quiet = await self._store.quiet(now - timedelta(minutes=self._limits.idle_minutes), limit=100)
        for chat in quiet:
            await self._store.enqueue(Job("rest", str(chat), now))
        return len(quiet)

    async def start_due(self) -> int:
        """Start due jobs, as many as there is room for; how many. More start as these end."""
        async with self._starting:
            room = 0 if self._closing or self._pausing() else self._limits.parallel - len(self._running)
            lease = 2 * self._limits.job_seconds
            jobs = await self._store.claim(self._owner, self._clock.now(), lease=lease, limit=room) if room > 0 else []
            running = {(job.kind, job.key) for job in self._running.values()}
            for job in jobs:
                if (job.kind, job.key) not in running:  # one that goes on for long is only held for longer
                    self._start(job)
            self._full = len(jobs) == room
        return len(jobs)

    def _start(self, job: Job) -> None:
        task = asyncio.create_task(self._run(job))
        self._running[task] = job
        task.add_done_callback(self._ended)  # not at the end of `_run`: cancelled early, it never begins

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._running[task]
        if self._full:
            self.wake()

    def wake(self) -> None:
        """Start due jobs soon, without waiting for the next tick."""
        if not self._closing and (self._waking is None or self._waking.done()):
            self._waking = asyncio.create_task(self._wake())

    async def _wake(self) -> None:
        with contextlib.suppress(KeepmindError):
            await self.start_due()

    async def finish_due(self) -> None:
        """Do all that is due now, one after the other room by room, and wait for it."""
        while await self.start_due() or self._running:
            await asyncio.wait(list(self._running))

    async def _run(self, job: Job) -> None:
        late, outcome = (self._clock.now() - job.due).total_seconds(), "failed"
        bill = self._ledger.bill()
        try:
            if await self._is_put_off(job):
                outcome = "put off"
                return
            async with self._turns.setdefault(job.key, asyncio.Lock()):
                await self._do(job, bill)
            await self._store.finish(job, self._owner, spent=bill.spent)
            outcome = "done"
        except StaleEpoch:
            await self._store.finish(job, self._owner, spent=bill.spent)
            outcome = "done"
        except asyncio.CancelledError:
            outcome = "put off"
            with contextlib.suppress(KeepmindError):
                await self._cut_short(job, bill)
        except Exception as error:  # a failing job is tried again, and the others go on
            await self._failed(job, error, bill)
        finally:
            self._meter.job(job.kind, outcome, max(late, 0))

    async def _is_put_off(self, job: Job) -> bool:
        """Put a job off while the bot has nothing left to spend; say whether that is so."""
        standing, now = await self._ledger.bot_standing(), self._clock.now()
        if standing.is_over:
            due = min(standing.until(self._ledger.zone), now + timedelta(seconds=self._limits.look_again))
            await self._store.postpone(job, self._owner, due)
        return standing.is_over

    async def _cut_short(self, job: Job, bill: Bill) -> None:
        """Put a job off; the rest of a chat that is busy again is queued anew once it is quiet."""
        if job.kind == "rest" and not self._closing:
            await self._store.finish(job, self._owner, spent=bill.spent)
        else:
            await self._postpone(job, bill)

    async def _failed(self, job: Job, error: Exception, bill: Bill) -> None:
        self.failures += 1
        why = str(error) if isinstance(error, KeepmindError) else type(error).__name__
        logger.warning("job %s of %s failed and is tried again: %s", job.kind, job.key, why)
        with contextlib.suppress(KeepmindError):
            await self._postpone(job, bill)

    async def _postpone(self, job: Job, bill: Bill) -> None:
        seconds = min(self._limits.first_retry * 2 ** min(job.attempts, 20), 3600)
        due = self._clock.now() + timedelta(seconds=seconds)
        await self._store.postpone(job, self._owner, due, spent=bill.spent)

    async def _do(self, job: Job, bill: Bill) -> None:
        if job.kind == "extract":
            await self._extract(int(job.key), bill)
        elif job.kind == "compact":
            await self._compact(ChatKey.parse(job.key), bill)
        elif job.kind == "rest":
            await self._rest(ChatKey.parse(job.key), bill)

    async def _rest(self, chat: ChatKey, bill: Bill) -> None:
        """Compact a chat that is still quiet; one that has become busy rests later, when it is quiet again."""
        turns = (await self._store.load(chat)).turns
        if not turns or turns[-1].at <= self._clock.now() - timedelta(minutes=self._limits.idle_minutes):
            await self._compact(chat, bill, idle=True)

    async def _extract(self, turn_id: int, bill: Bill) -> None:
        turn = await self._store.turn(turn_id)
        if turn is not None:
            composer = self._composers.of(turn.chat)
            bill.person, bill.chat = turn.sender, turn.chat
            async with self._timed(composer.work(), f"turn {turn_id}", bill) as work:
                for memory in composer.memories:
                    if memory.wants_extraction(turn):
                        await memory.extract(turn, work)

    async def compact(self, chat: ChatKey, *, idle: bool = False, low: bool = False) -> bool:
        """Compact one chat now; say whether anything was folded. Raises LLMError or StaleBase when it can't be."""
        bill = self._ledger.bill()
        try:
            return await self._compact(chat, bill, idle=idle, low=low)
        finally:
            await self._store.spend(bill.spent)

    async def _compact(self, chat: ChatKey, bill: Bill, *, idle: bool = False, low: bool = False) -> bool:
        seen = self._clock.now()
        before = await self._store.load(chat)
        bill.person, bill.chat = await self._owner_of(before), chat
        composer = self._composers.of(chat)
        async with self._timed(composer.work(idle=idle, low=low), str(chat), bill) as work:
            for memory in composer.memories:
                await memory.compact(await self._store.load(chat), work)
        if idle:
            await self._store.rest(chat, seen)
        return _shape(before) != _shape(await self._store.load(chat))

    async def _owner_of(self, conversation: Conversation) -> Person | None:
        """Give whose a private chat is; a group's is nobody's."""
        people = await self._store.people(conversation.chat) if conversation.private else ()
        return people[0] if len(people) == 1 else None

    @contextlib.asynccontextmanager
    async def _timed(self, work: Compaction, what: str, bill: Bill) -> AsyncIterator[Compaction]:
        """Let work take only so long, counted anew from each answer of the model. Raises LLMUnavailable."""
        seconds, llm = self._limits.job_seconds, self._ledger.model_for(await self._ledger.bot_standing(), work.llm)
        try:
            async with asyncio.timeout(seconds) as limit:
                yield replace(work, llm=BilledLLM(Timed(llm, limit, seconds), bill, work.counter))
        except TimeoutError:
            raise LLMUnavailable(f"compacting {what} took longer than {seconds:g} seconds") from None

    async def compact_quiet(self, *, everything: bool = False) -> int:
        """Compact the quiet chats once, or with `everything` each chat over its low-water mark; how many shrank.

        A chat that fails holds up no other. Raises the first failure when all are done.
        """
        chats = await self._all_chats() if everything else await self._quiet_chats()
        done = [await self._compact_or_error(chat, idle=not everything) for chat in chats]
        failed = [error for error in done if isinstance(error, KeepmindError)]
        if failed:
            raise failed[0]
        return sum(one is True for one in done)

    async def _all_chats(self) -> list[ChatKey]:
        return [info.chat for info in await self._store.chats()]

    async def _quiet_chats(self) -> list[ChatKey]:
        before = self._clock.now() - timedelta(minutes=self._limits.idle_minutes)
        return list(await self._store.quiet(before, limit=10**6))

    async def _compact_or_error(self, chat: ChatKey, *, idle: bool) -> bool | KeepmindError:
        try:
            return await self.compact(chat, idle=idle, low=not idle)
        except KeepmindError as error:
            return error

    def give_way(self, chat: ChatKey) -> None:
        """Let a message that has arrived go first: the idle compaction of its chat is put off."""
        for task, job in self._running.items():
            if job.kind == "rest" and job.key == str(chat):
                task.cancel()

    async def aclose(self, seconds: float = 10) -> None:
        """Start no more jobs, and wait for running ones at most `seconds`; what is cut short is as if not begun."""
        self._closing = True
        if self._waking is not None:
            await asyncio.wait([self._waking])
        if self._running:
            await asyncio.wait(list(self._running), timeout=seconds)
        for task in list(self._running):
            task.cancel()
        if self._running:
            await asyncio.wait(list(self._running))


class Timed(Wrapped):
    """A model each of whose answers gives a time limit anew: what goes on is not given up for being much."""

    def __init__(self, llm: LLM, limit: asyncio.Timeout, seconds: float) -> None:
        super().__init__(llm)
        self._limit = limit
        self._seconds = seconds

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """Answer a request. Raises LLMError."""
        completion = await self._llm.complete(request, on_text)
        self._limit.reschedule(asyncio.get_running_loop().time() + self._seconds)
        return completion


def _shape(conversation: Conversation) -> list[tuple[str, int]]:
    return [(type(step).__name__, step.id) for step in conversation.path]
