"""Replays long conversations: how much of each prompt a provider's cache could keep, and how many requests it takes.

    python -m benchmarks.replay locomo10.json

The file holds conversations as LoCoMo has them (https://github.com/snap-research/locomo, CC BY-NC 4.0; not shipped
with this project). One speaker is the person, the other stands for the model. Settings are the defaults.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from os.path import commonprefix  # of texts: it compares character by character
from pathlib import Path

from adapters.inmemory import InMemoryStore
from adapters.tiktoken import TiktokenCounter
from bots.memories import chosen_memories
from config.persona import load_persona
from config.settings import Model, Settings
from core.adapter import Outgoing
from core.bot import Bot, Ports, build
from core.clock import SystemClock
from core.llm import Completion, OnText, Request
from core.messages import ChatKey, Message, Person

Talk = list[tuple[str, str]]


def talks(path: Path) -> Iterator[Talk]:
    """Give each conversation as exchanges: what one speaker said, and what the other answered."""
    for entry in json.loads(path.read_text()):
        conversation = entry["conversation"]
        said = [turn for name in _sessions(conversation) for turn in conversation[name]]
        yield list(_exchanges(said, conversation["speaker_a"]))


def _sessions(conversation: dict[str, object]) -> list[str]:
    names = [name for name in conversation if name.startswith("session_") and not name.endswith("date_time")]
    return sorted(names, key=lambda name: int(name.split("_")[1]))


def _exchanges(said: list[dict[str, str]], person: str) -> Iterator[tuple[str, str]]:
    asked: list[str] = []
    answered: list[str] = []
    for turn in said:
        if turn["speaker"] == person and answered:
            yield "\n".join(asked) or "…", "\n".join(answered)
            asked, answered = [], []
        (asked if turn["speaker"] == person else answered).append(turn["text"])
    if asked:
        yield "\n".join(asked), "\n".join(answered) or "…"


def with_server() -> Settings:
    """Give the default settings of a bot that has a model server (which is not asked here)."""
    return Settings(model=Model(base_url="http://127.0.0.1/v1"))


@dataclass
class Replay:
    """A model that answers as the talk has it and keeps every request; its summaries are as long as is asked."""

    counter: TiktokenCounter
    context: int = 128_000
    calls_tools: bool = True
    answer: str = ""
    prompts: list[str] = field(default_factory=list)
    summaries: int = 0

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:  # noqa: ARG002 -- the port
        await asyncio.sleep(0)
        if request.purpose == "summary":
            self.summaries += 1
            said = request.messages[-1].content.split()
            return Completion(" ".join(said[-200:]))
        self.prompts.append("\n".join(f"<|{m.role}|>{m.content}" for m in request.messages))
        return Completion(self.answer)

    def shares(self) -> list[tuple[int, int]]:
        """For each prompt after the first: tokens that stand unchanged at its front, and tokens in all."""
        pairs = zip(self.prompts, self.prompts[1:], strict=False)
        return [(self.counter.count(commonprefix([a, b])), self.counter.count(b)) for a, b in pairs]  # noqa: RUF071


class Nowhere:
    """A platform without people."""

    platform = "replay"
    quiet = 0.0
    pace: float | None = None

    def serves(self, chat: ChatKey) -> bool:  # noqa: ARG002 -- the port
        return True

    def split(self, text: str) -> list[str]:
        return [text]

    async def typing(self, chat: ChatKey) -> None:
        """Nobody sees it."""

    async def send(self, out: Outgoing) -> str:  # noqa: ARG002 -- the port
        return "1"

    async def edit(self, message_id: str, out: Outgoing) -> None:
        """Nobody sees it."""


async def replay(talk: Talk, counter: TiktokenCounter) -> tuple[Replay, int]:
    """Hold one talk; give the model and the number of messages, both speakers' counted."""
    model, settings, ids = Replay(counter), with_server(), count()
    bot = Bot(load_persona("default").text, memory=chosen_memories(settings, model))
    ports = Ports(InMemoryStore(), model, counter, SystemClock(), [Nowhere()])
    engine = build(bot, ports, allowed=["*"])
    for asked, model.answer in talk:
        chat, person = ChatKey("replay", "1"), Person("replay", "1")
        await engine.handle(Message(str(next(ids)), chat, person, asked, datetime.now(UTC)))
        await engine.compactor.finish_due()
    return model, 2 * len(talk)


async def main(path: Path) -> None:
    """Print a row a talk, and the whole."""
    counter = TiktokenCounter("gpt-4o-mini")
    unchanged = tokens = summaries = messages = answers = 0
    print("messages  requests  summaries/100  mean prompt  unchanged front")
    for talk in talks(path):
        model, said = await replay(talk, counter)
        shares = model.shares()
        front, whole = sum(a for a, _ in shares), sum(b for _, b in shares)
        print(_row(said, len(model.prompts), model.summaries, whole / max(len(shares), 1), front / max(whole, 1)))
        unchanged, tokens, messages = unchanged + front, tokens + whole, messages + said
        summaries, answers = summaries + model.summaries, answers + len(model.prompts)
    print(_row(messages, answers, summaries, tokens / answers, unchanged / tokens))


def _row(messages: int, requests: int, summaries: int, mean: float, share: float) -> str:
    return f"{messages:8d}  {requests:8d}  {100 * summaries / messages:13.2f}  {mean:11.0f}  {100 * share:14.1f}%"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, help="the file of conversations")
    asyncio.run(main(parser.parse_args().path))
