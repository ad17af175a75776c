"""Fakes of the ports; each yields, so that races show."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import count

from core.adapter import Outgoing
from core.bot import Bot, Ports, build
from core.collaborators import Limits
from core.compactor import CompactorLimits
from core.engine import Engine
from core.errors import Unreachable
from core.llm import LLM, Completion, OnText, Request, ToolCall
from core.messages import ChatKey, Message, Person, Reply
from core.spending.budget import Budget
from core.spending.prices import Prices
from core.store import ConversationStore
from tests.stores import new_store

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


class FakeClock:
    """Time that moves only when told, or when somebody sleeps."""

    def __init__(self) -> None:
        self.time = START
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += timedelta(seconds=max(seconds, 0))
        await asyncio.sleep(0)


class HeldClock(FakeClock):
    """Time in which who sleeps sleeps until it is moved on."""

    def __init__(self) -> None:
        super().__init__()
        self.sleepers: list[tuple[datetime, asyncio.Future[None]]] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        sleeper = self.time + timedelta(seconds=max(seconds, 0)), asyncio.get_running_loop().create_future()
        self.sleepers.append(sleeper)
        try:
            await sleeper[1]
        finally:
            if sleeper in self.sleepers:
                self.sleepers.remove(sleeper)

    def wake_first(self, until: datetime) -> bool:
        """Move on to when the first sleeper wakes, at most until a time; say whether there was one."""
        waiting = [sleeper for sleeper in self.sleepers if not sleeper[1].done()]  # who was cancelled is not woken
        due = min(waiting, key=lambda sleeper: sleeper[0], default=None)
        if due is None or due[0] > until:
            self.time = until
            return False
        self.time = max(self.time, due[0])
        self.sleepers.remove(due)
        due[1].set_result(None)
        return True


class WordCounter:
    """A token a word, at least one for each ten characters."""

    def count(self, text: str) -> int:
        return max(len(text.split()), len(text) // 10)

    def calibrate(self, estimated: int, reported: int) -> None:
        pass


Script = Callable[[Request], Completion | Exception]


def echo(request: Request) -> Completion:
    """Answer with the last line that was said."""
    return Completion(f"You said: {request.messages[-1].content.splitlines()[-1]}")


def calling(*calls: tuple[str, str], text: str = "") -> Completion:
    """Make a completion that calls tools, given as name and arguments."""
    return Completion(text, tuple(ToolCall(f"c{n}", name, args) for n, (name, args) in enumerate(calls)))


class ScriptedLLM:
    """A model that follows a script; each request is kept. Summaries and extractions have scripts of their own."""

    def __init__(self, answer: Script = echo, *, context: int = 8192, calls_tools: bool = True) -> None:
        self.answer = answer
        self.summary: Script = lambda request: Completion("They talked.")
        self.extract: Script = lambda request: Completion('{"facts": []}')
        self.context = context
        self.calls_tools = calls_tools
        self.requests: list[Request] = []
        self.gate: asyncio.Event | None = None

    def of(self, purpose: str) -> list[Request]:
        return [r for r in self.requests if r.purpose == purpose]

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        self.requests.append(request)
        await asyncio.sleep(0)
        script = {"answer": self.answer, "summary": self.summary, "extract": self.extract}[request.purpose]
        result = script(request)
        if isinstance(result, Exception):
            raise result
        if on_text is not None and result.text:
            await on_text(result.text[: len(result.text) // 2])
        if self.gate is not None:
            await self.gate.wait()
        if on_text is not None and result.text:
            await on_text(result.text)
        return result


@dataclass
class Shown:
    """A message as a person sees it now."""

    id: str
    out: Outgoing


class FakeAdapter:
    """A platform that shows what is sent; `troubles` are raised by the next sends, in order."""

    def __init__(self, platform: str = "test", *, limit: int = 4000) -> None:
        self.platform = platform
        self.quiet = 0.0
        self.pace: float | None = None
        self.limit = limit
        self.shown: list[Shown] = []
        self.troubles: list[Exception | None] = []
        self.unreachable: set[ChatKey] = set()
        self.calls: list[tuple[str, Outgoing]] = []

    def serves(self, chat: ChatKey) -> bool:
        return True

    def split(self, text: str) -> Sequence[str]:
        return [text[i : i + self.limit] for i in range(0, len(text), self.limit)]

    async def typing(self, chat: ChatKey) -> None:
        await asyncio.sleep(0)

    async def send(self, out: Outgoing) -> str:
        await self._maybe_fail("send", out)
        self.shown.append(Shown(f"m{len(self.shown)}", out))
        return self.shown[-1].id

    async def edit(self, message_id: str, out: Outgoing) -> None:
        await self._maybe_fail("edit", out)
        next(s for s in self.shown if s.id == message_id).out = out

    async def _maybe_fail(self, kind: str, out: Outgoing) -> None:
        self.calls.append((kind, out))
        await asyncio.sleep(0)
        trouble = self.troubles.pop(0) if self.troubles else None
        if trouble is not None:
            raise trouble
        if out.chat in self.unreachable:
            raise Unreachable("they blocked the bot")

    def texts(self, chat: ChatKey | None = None) -> list[str]:
        return [s.out.text for s in self.shown if chat is None or s.out.chat == chat]


_ids = count(1)


@dataclass
class World:
    """A bot with fakes all around it, driven as people would."""

    llm: ScriptedLLM = field(default_factory=ScriptedLLM)
    bot: Bot = field(default_factory=Bot)
    store: ConversationStore = field(default_factory=new_store)
    adapter: FakeAdapter = field(default_factory=FakeAdapter)
    clock: FakeClock = field(default_factory=FakeClock)
    limits: Limits = field(default_factory=Limits)
    compacting: CompactorLimits = field(default_factory=CompactorLimits)
    admins: Sequence[str] = ("test:root",)
    allowed: Sequence[str] = ("test:*",)
    budget: Budget = field(default_factory=Budget)
    frugal: LLM | None = None
    prices: Prices = field(default_factory=Prices)
    zone: tzinfo = UTC

    def __post_init__(self) -> None:
        self.engine = self.restart()

    def restart(self) -> Engine:
        """Build the bot anew on the same store, as after a restart of the process."""
        ports = Ports(self.store, self.llm, WordCounter(), self.clock, [self.adapter])
        self.engine = build(
            self.bot,
            ports,
            admins=self.admins,
            allowed=self.allowed,
            limits=self.limits,
            compacting=self.compacting,
            budget=self.budget,
            frugal=self.frugal,
            prices=self.prices,
            zone=self.zone,
        )
        return self.engine

    def message(
        self, text: str, who: str = "anna", chat: str = "", *, group: bool = False, name: str = "", **more: object
    ) -> Message:
        """Make a message; in private the chat is the person's own."""
        values: dict[str, object] = {"id": str(next(_ids)), "sent_at": self.clock.now(), "name": name or who}
        values |= more
        key = ChatKey("test", chat or who)
        return Message(chat=key, sender=Person("test", who), text=text, private=not group, **values)  # type: ignore[arg-type]

    async def say(self, text: str, who: str = "anna", chat: str = "", **more: object) -> Reply | None:
        """Say something and wait for the reply."""
        return await self.engine.handle(self.message(text, who, chat, **more))  # type: ignore[arg-type]

    async def said(self, text: str, who: str = "anna", chat: str = "", **more: object) -> str:
        """Say something and give the words of the reply."""
        reply = await self.say(text, who, chat, **more)
        assert reply is not None
        return reply.text

    async def settle(self) -> None:
        """Let what is due in the background finish."""
        await self.engine.compactor.finish_due()

    def prompt(self) -> str:
        """Give the last answer request as one text."""
        return "\n".join(f"{m.role}: {m.content}" for m in self.llm.of("answer")[-1].messages)


def check_request(request: Request) -> None:
    """Assert that a request is one that strict servers take."""
    messages = request.messages
    roles = [m.role for m in messages]
    assert roles.count("system") <= 1
    assert "system" not in roles[1:]
    first = next(m for m in messages if m.role != "system")
    assert first.role == "user", "the talk begins with the person"
    assert messages[-1].role in ("user", "tool")
    _check_calls(request)


def _check_calls(request: Request) -> None:
    open_calls: list[str] = []
    for message in request.messages:
        if message.role == "tool":
            assert message.call_id in open_calls, "a result follows its call"
            open_calls.remove(message.call_id)
        else:
            assert not open_calls, "every call has its result"
            open_calls = [c.id for c in message.calls]
            assert message.content.strip() or message.calls, "no message is empty"
    assert not open_calls
