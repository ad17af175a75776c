"""What one process carries: turns a second, latency and memory, with 1,000 chats and a model that answers at once.

    python -m benchmarks.load                  # SQLite, 100,000 turns
    python -m benchmarks.load --postgres       # a PostgreSQL of its own, from the wheel the tests use
    python -m benchmarks.load --turns 20000

Each turn goes through the front door (`Engine.handle`): inbox, memory, prompt, model, saving, delivery, compaction when
it is due, every commit made. First as many chats at once as `--parallel` talk as fast as they are answered, which gives
the turns a second and the memory; then turns come at random moments, half as many a second as were reached, which
gives the latency. Bursts are not waited for and no rates are held to.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import resource
import statistics
import sys
import tempfile
import time
from array import array
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from adapters.snowball import stem
from adapters.sql import open_store
from adapters.tiktoken import TiktokenCounter
from benchmarks.replay import Nowhere, with_server
from bots.garbage import settle
from bots.memories import chosen_memories
from config.persona import load_persona
from core.bot import Bot, Ports, build
from core.clock import SystemClock
from core.engine import Engine
from core.llm import Completion, OnText, Request
from core.messages import ChatKey, Message, Person
from tests import postgresql

ASKED = "turn {}: the user writes a message of about twenty five words about some topic so that sizes look like a chat"
ANSWER = "The assistant answers with about twenty five words on the same topic, as short as bots usually are in a chat"
SUMMARY = "They talked about some topic, and about how long a message of a real chat usually is. " * 4
WARM = 10_000
"""The turn from which memory is not to grow any more."""


@dataclass
class AtOnce:
    """A model that answers at once."""

    context: int = 128_000
    calls_tools: bool = True

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:  # noqa: ARG002 -- the port
        await asyncio.sleep(0)
        return Completion(SUMMARY if request.purpose == "summary" else ANSWER)


@dataclass
class Run:
    """Turns that were run: how long each took, in seconds, and what it all cost."""

    engine: Engine
    chats: int
    took: array[float] = field(default_factory=lambda: array("d"))
    seconds: float = 0.0
    cpu: float = 0.0
    memory: float = 0.0
    said: int = 0
    chance: random.Random = field(default_factory=lambda: random.Random(1))

    async def turn(self) -> None:
        """Say something in some chat and wait until it is answered."""
        self.said += 1
        user = str(self.chance.randrange(self.chats))
        chat, person = ChatKey("replay", user), Person("replay", user)
        began = time.perf_counter()
        reply = await self.engine.handle(
            Message(str(self.said), chat, person, ASKED.format(self.said), datetime.now(UTC))
        )
        assert reply is not None
        assert not reply.failed
        self.took.append(time.perf_counter() - began)

    async def closed(self, turns: int, parallel: int) -> None:
        """Run turns as fast as they are answered, so many chats at once."""
        left = iter(range(turns))

        async def talk() -> None:
            for _ in left:
                await self.turn()

        with self.measured():
            await asyncio.gather(*(talk() for _ in range(parallel)))

    async def opened(self, turns: int, rate: float) -> None:
        """Run turns that come at random moments, so many a second on average, whether others are answered or not."""
        due = time.perf_counter()
        coming = []
        with self.measured():
            for _ in range(turns):
                due += self.chance.expovariate(rate)
                await asyncio.sleep(max(due - time.perf_counter(), 0))
                coming.append(asyncio.create_task(self.turn()))
            await asyncio.gather(*coming)

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Measure anew until the block ends."""
        del self.took[:]
        clock, cpu = time.perf_counter(), time.process_time()
        yield
        self.seconds, self.cpu = time.perf_counter() - clock, time.process_time() - cpu
        self.memory = resident()

    def told(self, name: str) -> str:
        """Give a row of the table."""
        cuts = statistics.quantiles(self.took, n=100)
        turns = len(self.took)
        figures = (
            f"{turns:,d}",
            f"{turns / self.seconds:.0f}",
            f"{1000 * cuts[49]:.1f}",
            f"{1000 * cuts[98]:.1f}",
            f"{1000 * self.cpu / turns:.2f}",
        )
        return f"| {name} | {' | '.join(figures)} | {self.memory:.0f} |"


def resident() -> float:
    """Give the megabytes of memory that are in use now, or where that is not told, that were at most."""
    gc.collect()
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most / (1e6 if sys.platform == "darwin" else 1e3)
    return pages * resource.getpagesize() / 1e6


@asynccontextmanager
async def running(url: str) -> AsyncIterator[Engine]:
    """Run a bot with the memory it has by default."""
    model, counter, settings = AtOnce(), TiktokenCounter("gpt-4o-mini"), with_server()
    store = await open_store(url, stem=stem, indexing=settings.memory.searches)
    bot = Bot(load_persona("default").text, memory=chosen_memories(settings, model))
    engine = build(bot, Ports(store, model, counter, SystemClock(), [Nowhere()]), allowed=["*"])
    settle()
    yield engine
    await engine.aclose()
    await engine.compactor.aclose()
    await store.aclose()


async def load(url: str, options: argparse.Namespace) -> None:
    """Print a table."""
    async with running(url) as engine:
        run = Run(engine, options.chats)
        print("| | turns | turns/s | p50 ms | p99 ms | CPU ms a turn | memory MB |\n|---|---|---|---|---|---|---|")
        await run.closed(min(WARM, options.turns), options.parallel)
        print(run.told(f"the first, {options.parallel} at once"), flush=True)
        warm = run.memory
        if options.turns > WARM:
            await run.closed(options.turns - WARM, options.parallel)
            print(run.told(f"the rest, {options.parallel} at once"), flush=True)
        grown, rate = run.memory / warm - 1, len(run.took) / run.seconds / 2
        await run.opened(int(rate * options.seconds), rate)
        print(run.told(f"at random, {rate:.0f} a second"))
        print(f"memory has grown by {100 * grown:.1f} % since turn {WARM:,d}")
        assert await engine.shared.store.verify() == []


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--postgres", action="store_true", help="on PostgreSQL")
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--chats", type=int, default=1_000)
    parser.add_argument("--parallel", type=int, default=16, help="turns at once while the rate is found")
    parser.add_argument("--seconds", type=float, default=30, help="of turns at random moments")
    options = parser.parse_args()
    if options.postgres:
        with postgresql.running() as server:
            server.run("ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()")  # or commits would not reach the disk
            asyncio.run(load(server.fresh(), options))
    else:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(load(f"sqlite:///{folder}/keepmind.db", options))


if __name__ == "__main__":
    main()
