"""What Telegram costs: many chats at once against the test server, with a model that answers at once.

    python -m benchmarks.delivery                 # 200 chats, 5 messages each; then two hours of streaming
    python -m benchmarks.delivery --chats 50

The bot is a process of its own on SQLite, with the memory it has by default; the server and all people are another.
In each chat a person says the next thing as soon as they are answered. Bursts are not waited for (`quiet` is 0), and
the server keeps no limits. Latency is from the update's being there to the first call that shows words in its chat.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from adapters.sql import open_store
from adapters.telegram.adapter import Options, TelegramAdapter
from adapters.telegram.server import TelegramServer, User
from adapters.tiktoken import TiktokenCounter
from benchmarks import streaming
from benchmarks.replay import with_server
from bots.memories import chosen_memories
from config.persona import load_persona
from core.bot import Bot, Ports, build
from core.clock import SystemClock
from core.llm import Completion, OnText, Request

SHOWING = ("sendMessage", "sendMessageDraft")


@dataclass
class Echo:
    """A model that says at once what was said last."""

    context: int = 128_000
    calls_tools: bool = True

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        await asyncio.sleep(0)
        text = f"You said: {request.messages[-1].content.splitlines()[-1]}"
        if on_text:
            await on_text(text)
        return Completion(text)


async def serve(url: str, folder: Path) -> None:
    """Run the bot against a server until the process ends."""
    store, llm = await open_store(f"sqlite:///{folder / 'keepmind.db'}"), Echo()
    async with TelegramAdapter(streaming.TOKEN, Options(api_url=url, quiet=0.0)) as adapter:
        ports = Ports(store, llm, TiktokenCounter("gpt-4o-mini"), SystemClock(), [adapter])
        bot = Bot(load_persona("default").text, memory=chosen_memories(with_server(), llm))
        await adapter.run(build(bot, ports, allowed=("telegram:*",)))


@dataclass
class Load:
    """People who talk, each in their own chat, `said` being when each thing was."""

    server: TelegramServer
    people: list[User]
    said: dict[str, float] = field(default_factory=dict)

    async def talk(self, rounds: range) -> float:
        """Let everybody say so many things; gives the seconds it took."""
        begun = time.perf_counter()
        await asyncio.gather(*(self._person(person, rounds) for person in self.people))
        return time.perf_counter() - begun

    async def _person(self, person: User, rounds: range) -> None:
        for number in rounds:
            text = f"number {number} of {person.id}"
            self.said[text] = time.time()
            said = self.server.say(person, person, text)
            await self.server.reply(person, after=said, timeout=120)

    def latencies(self) -> list[float]:
        """Give the milliseconds until each thing said was first answered, sorted."""
        first: dict[str, float] = {}
        for call in self.server.calls:
            if call.method in SHOWING:
                first.setdefault(call.text.removeprefix("You said: "), call.at)
        return sorted((first[text] - at) * 1000 for text, at in self.said.items() if text in first)

    def answers(self) -> Counter[str]:
        """Count the answers to each thing said, as they are seen in the chats."""
        shown = [message.text for person in self.people for message in self.server.chat(person).from_bot]
        return Counter(text.removeprefix("You said: ") for text in shown)


async def under_load(chats: int, rounds: int) -> None:
    """Run the bot beside so many chats, and print what became of what was said."""
    with tempfile.TemporaryDirectory() as folder:
        async with TelegramServer(streaming.TOKEN) as server:
            command = [sys.executable, "-m", "benchmarks.delivery", "--serve", server.url, "--folder", folder]
            bot = await asyncio.create_subprocess_exec(*command)
            try:
                load = Load(server, [server.person(f"P{number}") for number in range(chats)])
                await load.talk(range(1))  # what is done only once is not measured
                server.calls.clear()
                load.said.clear()
                seconds = await load.talk(range(1, rounds + 1))
                await server.quiet(0.5)
            finally:
                bot.terminate()
                await bot.wait()
    report(load, seconds)


def report(load: Load, seconds: float) -> None:
    """Print one row of a table."""
    spread, answers = load.latencies(), load.answers()
    lost = sum(text not in answers for text in load.said)
    double = sum(count > 1 for count in answers.values())
    cuts = statistics.quantiles(spread, n=100)
    print("| chats | updates | updates/s | p50 ms | p99 ms | lost | double |\n|---|---|---|---|---|---|---|")
    told = (len(load.people), len(load.said), f"{len(load.said) / seconds:.0f}", f"{cuts[49]:.0f}", f"{cuts[98]:.0f}")
    print(f"| {' | '.join(map(str, told))} | {lost} | {double} |", flush=True)


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description="What Telegram costs")
    parser.add_argument("--chats", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--hours", type=float, default=2.0, help="of streaming")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(options.serve, options.folder))
        return
    asyncio.run(under_load(options.chats, options.rounds))
    asyncio.run(streaming.compare(options.hours))


if __name__ == "__main__":
    main()
