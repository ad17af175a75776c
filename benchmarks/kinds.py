"""Compares the kinds of history on one long conversation: what a prompt costs, what is asked, what is still known.

    python -m benchmarks.kinds

Every tenth turn tells something that is asked for later. The model is a script without a network: its summaries keep,
word for word, each sentence that holds a name and a number, the newest first, as long as the prompt says. So what is
lost is lost by the kind and its sizes; a real model loses more. Settings are the defaults, the context 128,000 tokens.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import cycle

from adapters.inmemory import InMemoryStore
from adapters.tiktoken import TiktokenCounter
from benchmarks.replay import Nowhere, with_server
from bots.memories import HISTORIES, chosen_memories
from core.bot import Bot, Ports, build
from core.clock import SystemClock
from core.conversation import State, Turn
from core.engine import Engine
from core.llm import Completion, OnText, Request
from core.messages import ChatKey, Message, Person

TURNS = (10, 100, 1000)
"""After how many turns it is looked at."""
TOLD = re.compile(r"The locker of \w+ has the code \d+\.")
WORDS = re.compile(r"At most (\d+) words")
NAMES = [a + b for a in ("Al", "Ber", "Cor", "Da", "El", "Fa", "Gre", "Hi", "Is", "Jo") for b in
         ("bin", "da", "eth", "fin", "gar", "helm", "ina", "jan", "ka", "lo")]  # fmt: skip
SMALL_TALK = (
    "I went for a walk along the river after lunch, and the wind was so strong that I had to hold on to my hat.",
    "What would you cook for friends who eat no meat, when there is little time and the shops are nearly closed?",
    "My bicycle makes a strange noise when I go uphill, like a small bird that sits somewhere under the saddle.",
    "Sometimes I think that reading in the evening is better than any film, since the pictures are my own.",
)
ANSWER = """That sounds like a good day. I would begin with what is already there, take it slowly, and look at it again
in the morning, when things tend to be simpler than they seemed the night before. Tell me how it goes, will you?"""
CHAT, ANN = ChatKey("replay", "ann"), Person("replay", "ann")


class Script:
    """A model that always answers alike, and whose summaries keep what they are asked to keep."""

    context = 128_000
    calls_tools = True

    def __init__(self) -> None:
        self.summaries = 0

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:  # noqa: ARG002 -- the port
        await asyncio.sleep(0)
        if request.purpose != "summary":
            return Completion(ANSWER)
        self.summaries += 1
        asked = "\n".join(message.content for message in request.messages)
        most = int(WORDS.findall(asked)[0])
        told = list(dict.fromkeys(TOLD.findall(asked)))[::-1]
        kept = told[: most // len(told[0].split())] if told else ["They talked of this and that."]
        return Completion("\n".join(reversed(kept)))


@dataclass(frozen=True)
class Row:
    """What a kind comes to after so many turns."""

    kind: str
    turns: int
    tokens: int
    summaries: int
    known: int
    told: int

    def __str__(self) -> str:
        known = f"{self.known} of {self.told}"
        return f"{self.kind:<20}{self.turns:>7,}{self.tokens:>10,}{self.turns:>9,}{self.summaries:>11,}{known:>13}"


def sentence(number: int) -> str:
    """What the turn of this number tells."""
    return f"The locker of {NAMES[number // 10 % len(NAMES)]} has the code {1000 + number * 7}."


async def compare(kind: str, *, archive: bool = False) -> list[Row]:
    """Talk with a kind of history, and look at it now and then."""
    settings = with_server()
    chosen = settings.memory.model_copy(update={"history": kind, "archive": archive})
    llm, counter = Script(), TiktokenCounter("gpt-4o-mini")
    bot = Bot(memory=chosen_memories(settings.model_copy(update={"memory": chosen}), llm))
    engine = build(bot, Ports(InMemoryStore(), llm, counter, SystemClock(), [Nowhere()]), allowed=["replay:*"])
    small_talk, rows = cycle(SMALL_TALK), list[Row]()
    for number in range(1, TURNS[-1] + 1):
        text = f"{next(small_talk)} {sentence(number) if number % 10 == 1 else ''}"
        await engine.handle(message(str(number), text))
        await engine.compactor.finish_due()
        if number in TURNS:
            told = range(1, number + 1, 10)
            prompts = [await ask(engine, n) for n in told]
            known = sum(sentence(n) in prompt for n, (prompt, _) in zip(told, prompts, strict=True))
            label = f"{kind} + archive" if archive else kind
            rows.append(Row(label, number, max(t for _, t in prompts), llm.summaries, known, len(told)))
    return rows


def message(id_: str, text: str) -> Message:
    return Message(id_, CHAT, ANN, text, datetime.now(UTC), name="Ann")


async def ask(engine: Engine, number: int) -> tuple[str, int]:
    """Compose a prompt that asks for what a turn told; give what it shows before the question, and what it costs."""
    name = sentence(number).split()[3]
    asked = message("asked", f"What did I say about the locker of {name}?")
    turn = Turn(2**40, None, CHAT, State.RECEIVED, (asked,), at=asked.sent_at + timedelta(seconds=1))
    here = await engine.shared.store.load(CHAT, ANN)
    prompt = await engine.shared.composers.of(CHAT).compose(replace(here, path=(*here.path, turn)), turn)
    return "\n".join(m.content for m in prompt.messages()[:-1]), prompt.tokens


async def main() -> None:
    print(f"{'':<20}{'':>7}{'tokens of':>10}{'model requests':>20}{'still':>13}")
    print(f"{'kind':<20}{'turns':>7}{'a prompt':>10}{'answers':>9}{'summaries':>11}{'known':>13}")
    for kind in HISTORIES:
        for row in await compare(kind):
            print(row)
    for row in await compare("window", archive=True):
        print(row)


if __name__ == "__main__":
    asyncio.run(main())
