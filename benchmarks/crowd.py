"""What the archive costs: searches among many turns of many chats, and what it adds to saving a turn.

    python -m benchmarks.crowd locomo10.json                            # 300,000 turns in 500 chats
    python -m benchmarks.crowd locomo10.json --turns 50000 --chats 1    # one long chat

The file is LoCoMo's, whose lines are said in chats at random (see benchmarks/locomo.py).
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from adapters.snowball import stem
from adapters.sql import SqlStore, open_store
from benchmarks.locomo import Conversation, conversations, heard, message
from core.conversation import Answer, State
from core.messages import ChatKey, Message
from core.search.query import Query


async def crowd(talks: Sequence[Conversation], turns: int, chats: int, folder: Path) -> None:
    """Print how long a search takes among many turns of many chats, and whether one ever leaves its chat."""
    lines = [line for talk in talks for line in talk.said]
    asked = [question.text for talk in talks for question in talk.questions]
    dice, store = random.Random(1), await open_store(str(folder / "crowd.db"), stem=stem)
    for number in range(turns):
        await heard(store, message(dice.choice(lines), number, ChatKey("replay", str(dice.randrange(chats)))))
    indexing = time.process_time()
    for number in range(chats):
        await store.index(ChatKey("replay", str(number)))
    print(f"putting {turns} turns together took {(time.process_time() - indexing) / turns * 1e3:.3f} ms of CPU a turn")
    waits, works, strays = list[float](), list[float](), 0
    for _ in range(2000):
        chat = ChatKey("replay", str(dice.randrange(chats)))
        begun, worked = time.perf_counter(), time.process_time()
        found = await store.search(chat, Query(dice.choice(asked)))
        waits.append((time.perf_counter() - begun) * 1000)
        works.append((time.process_time() - worked) * 1000)
        strays += sum(turn.chat != chat for turn in found)
    await store.aclose()
    print(f"{turns} turns in {chats} chats, milliseconds of a search:")
    for what, found_in in (("time", waits), ("CPU", works)):
        cuts = statistics.quantiles(found_in, n=100)
        print(f"  {what:4} p50 {cuts[49]:.2f}  p95 {cuts[94]:.2f}  p99 {cuts[98]:.2f}")
    print(f"{strays} results of another chat in 2000 searches")


async def cost(talks: Sequence[Conversation], folder: Path, rounds: int = 4000) -> None:
    """Print what indexing adds to a turn: the same turns with and without it, by turns."""
    lines = [line for talk in talks for line in talk.said]
    spent = {True: list[float](), False: list[float]()}
    stores = {on: await open_store(str(folder / f"cost-{on}.db"), stem=stem, indexing=on) for on in spent}
    for number in range(rounds):
        dice = random.Random(number)
        line, reply, chat = dice.choice(lines), dice.choice(lines)["text"], ChatKey("replay", str(dice.randrange(50)))
        for on, store in stores.items():
            spent[on].append(await _turn(store, message(line, number, chat), reply))
    for store in stores.values():
        await store.aclose()
    indexed, bare = (statistics.median(spent[on][rounds // 4 :]) * 1e3 for on in (True, False))
    print(f"a turn takes {indexed:.3f} ms of CPU, {bare:.3f} ms without the archive: {indexed - bare:.3f} ms more")


async def _turn(store: SqlStore, said: Message, reply: str) -> float:
    await store.receive(said)
    begun = time.process_time()
    _, turn = await store.open([said], tokens=0, at=said.sent_at)
    await store.save(replace(turn, state=State.ANSWERED, answer=Answer(reply)))
    return time.process_time() - begun


async def measure(path: Path, turns: int, chats: int) -> None:
    talks = list(conversations(path))
    with tempfile.TemporaryDirectory() as folder:
        await cost(talks, Path(folder))
        await crowd(talks, turns, chats, Path(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--turns", type=int, default=300_000)
    parser.add_argument("--chats", type=int, default=500)
    given = parser.parse_args()
    asyncio.run(measure(given.path, given.turns, given.chats))


if __name__ == "__main__":
    main()
