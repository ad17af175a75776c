"""Hours of streaming under a fake clock, against a Telegram test server that keeps the platform's limits.

    python -m benchmarks.streaming --hours 2

In a group and in a private chat the model says a word a second, for two minutes an answer; five seconds later the
person asks again. Time stands still while anything is being done and leaps to the next thing that somebody waits for.
"""

from __future__ import annotations

import argparse
import asyncio
import heapq
from bisect import bisect_left
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from adapters.inmemory import InMemoryStore
from adapters.telegram.adapter import Options, TelegramAdapter
from adapters.telegram.server import TOKEN, Call, Chat, Limits, TelegramServer, User
from core.bot import Bot, Ports, build
from core.llm import Completion, OnText, Request

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
WORDS = 120
PAUSE = 5.0
LIMITED = ("sendMessage", "editMessageText")
__all__ = ["TOKEN", "compare"]


class Clock:
    """Time that leaps to the next waker as soon as nothing else is to be done."""

    def __init__(self) -> None:
        self.time = START
        self.busy = 0
        self._wakers: list[tuple[datetime, int, asyncio.Event]] = []
        self._numbers = count()

    def now(self) -> datetime:
        return self.time

    def seconds(self) -> float:
        return self.time.timestamp()

    async def sleep(self, seconds: float) -> None:
        event = asyncio.Event()
        heapq.heappush(self._wakers, (self.time + timedelta(seconds=max(seconds, 0)), next(self._numbers), event))
        await event.wait()

    async def run(self) -> None:
        """Move time until cancelled."""
        while True:
            await self._settle()
            if self._wakers:
                self.time, _, event = heapq.heappop(self._wakers)
                event.set()

    async def _settle(self) -> None:
        """Wait until no call is under way, and what follows from it has been done."""
        for _ in range(3):
            await asyncio.sleep(0.0005)
            while self.busy:  # noqa: ASYNC110 -- a call that ends rings no bell
                await asyncio.sleep(0.0005)


@dataclass
class Slow:
    """A model that says a word a second."""

    clock: Clock
    context: int = 128_000
    calls_tools: bool = True
    _numbers: count[int] = field(default_factory=count)

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:  # noqa: ARG002 -- the port
        text = f"Answer {next(self._numbers)}:"
        for number in range(WORDS):
            text += f" {number}"
            await self.clock.sleep(1)
            if on_text:
                await on_text(text)
        return Completion(f"{text} end")


class Words:
    """A token a word, whatever a server says."""

    def count(self, text: str) -> int:
        return len(text.split())

    def calibrate(self, estimated: int, reported: int) -> None:
        pass


def watched(clock: Clock) -> dict[str, Any]:
    """Let the clock know of the calls under way; asking for updates is not one."""

    async def begins(request: Any) -> None:
        clock.busy += "getUpdates" not in request.url.path

    async def ends(response: Any) -> None:
        clock.busy -= "getUpdates" not in response.request.url.path

    return {"verify": False, "event_hooks": {"request": [begins], "response": [ends]}}


@dataclass(frozen=True)
class Streamed:
    """What the server saw of a time."""

    calls: list[Call]
    answers: int

    def row(self, name: str, chat: int) -> str:
        """Write how a chat fared against its limits."""
        own = [call for call in self.calls if call.chat == chat]
        taken = [call.at for call in own if call.method in LIMITED]
        kinds = [sum(call.method == kind for call in own) for kind in (*LIMITED, "sendMessageDraft")]
        refused = sum(call.code == 429 for call in own)
        return f"| {name} | {' | '.join(map(str, [*kinds, most(taken, 1), most(taken, 60), refused]))} |"


def most(times: list[float], seconds: float) -> int:
    """Count the most that fell into so many seconds."""
    return max((number - bisect_left(times, at - seconds + 1e-6) + 1 for number, at in enumerate(times)), default=0)


async def stream(hours: float, *, drafts: bool) -> tuple[Streamed, Chat, User]:
    """Let a group and a person be answered for so long."""
    clock = Clock()
    async with TelegramServer(limits=Limits(), clock=clock.seconds) as server:
        ann = server.person("Ann")
        group = server.supergroup("Club", [ann])
        if not drafts:
            server.fail("sendMessageDraft", 400, "Bad Request: method is not for this bot", times=-1)
        options = Options(api_url=server.url, quiet=0.0, now=clock.seconds, http=watched(clock))
        async with TelegramAdapter(server.token, options) as adapter:
            ports = Ports(InMemoryStore(), Slow(clock), Words(), clock, [adapter])
            running = asyncio.create_task(adapter.run(build(Bot(), ports, allowed=("telegram:*",))))
            ticking = asyncio.create_task(clock.run())
            ends = clock.seconds() + hours * 3600
            answers = await asyncio.gather(*(_ask(server, clock, ann, chat, ends) for chat in (group, ann)))
            running.cancel()
            ticking.cancel()
            await asyncio.gather(running, ticking, return_exceptions=True)
        return Streamed(server.calls, sum(answers)), group, ann


async def _ask(server: TelegramServer, clock: Clock, person: User, chat: Chat | User, ends: float) -> int:
    for number in count(1):
        said = server.say(person, chat, f"@keepmind_bot tell me more, number {number}")
        clock.busy += 1  # until it is taken
        taken = asyncio.create_task(server.wait_for(lambda: not server.api.updates.pending, 10))
        taken.add_done_callback(lambda _: _less(clock))
        await server.reply(chat, after=said, timeout=60, where=lambda m: m.text.endswith("end"))
        if clock.seconds() > ends:
            return number
        await clock.sleep(PAUSE)
    return 0


def _less(clock: Clock) -> None:
    clock.busy -= 1


async def compare(hours: float) -> None:
    """Print a table for previews by drafts, and by edits alone."""
    print(f"\n{hours:g} hours of streaming, without a stop of more than {PAUSE:g} seconds:\n")
    print("| chat | messages | edits | drafts | most in 1 s | most in 60 s | refused (429) |")
    print("|---|---|---|---|---|---|---|")
    for drafts in (True, False):
        streamed, group, ann = await stream(hours, drafts=drafts)
        if drafts:
            print(streamed.row("group (20 a minute allowed)", group.id))
        print(streamed.row(f"private, growing by {'drafts' if drafts else 'edits (1 a second allowed)'}", ann.id))


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description="Hours of streaming under a fake clock")
    parser.add_argument("--hours", type=float, default=2.0)
    asyncio.run(compare(parser.parse_args().hours))


if __name__ == "__main__":
    main()
