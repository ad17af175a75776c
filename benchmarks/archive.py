"""What the archive finds, how fast, and what it costs: recall on LoCoMo's questions, and searches among many chats.

    python -m benchmarks.archive locomo10.json                    # recall, beside plain BM25
    python -m benchmarks.archive locomo10.json --turns 300000     # and a store of so many turns in 500 chats

The file holds conversations as LoCoMo has them (https://github.com/snap-research/locomo, CC BY-NC 4.0; not shipped with
this project). Every line said is a turn; a question is answered by the turns that its evidence names. The weights were
chosen on every other conversation, beginning with the first.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import re
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from adapters.snowball import stem
from adapters.sql import SqlStore, open_store
from adapters.tiktoken import TiktokenCounter
from core.conversation import Answer, State
from core.memory.excerpts import excerpts
from core.messages import Attachment, ChatKey, Message, Person
from core.search import Query

START = datetime(2024, 1, 1, tzinfo=UTC)
KINDS = {1: "several turns", 2: "a time", 3: "common sense", 4: "one turn", 5: "a trap"}
HALVES = ("chosen on", "not chosen on")
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Question:
    """A question, its kind, and the numbers of the lines that answer it."""

    text: str
    kind: int
    lines: frozenset[int]


@dataclass(frozen=True)
class Conversation:
    """What was said, line by line, and what is asked about it."""

    said: Sequence[dict[str, str]]
    questions: Sequence[Question]


def conversations(path: Path) -> Iterator[Conversation]:
    """Read them; questions that name no line are left out."""
    for entry in json.loads(path.read_text()):
        talk = entry["conversation"]
        names = [name for name in talk if name.startswith("session_") and not name.endswith("date_time")]
        said = [line for name in sorted(names, key=lambda n: int(n.split("_")[1])) for line in talk[name]]
        numbers = {line["dia_id"]: number for number, line in enumerate(said)}
        asked = (Question(q["question"], q["category"], _evidence(q["evidence"], numbers)) for q in entry["qa"])
        yield Conversation(said, [q for q in asked if q.lines])


def _evidence(names: Sequence[str], numbers: dict[str, int]) -> frozenset[int]:
    found = (re.fullmatch(r"D:?(\d+):0*(\d+)", part) for name in names for part in re.split(r"[;,\s]+", name.strip()))
    return frozenset(numbers[key] for m in found if m and (key := f"D{m[1]}:{m[2]}") in numbers)


def message(line: dict[str, str], number: int, chat: ChatKey) -> Message:
    """Make the message of a line; a picture is what is to be seen on it."""
    picture = line.get("blip_caption", "")
    attachments = (Attachment("image", text=picture),) if picture else ()
    at = START + timedelta(minutes=number)
    sender = Person("replay", line["speaker"])
    return Message(str(number), chat, sender, line["text"], at, line["speaker"], private=False, attachments=attachments)


async def heard(store: SqlStore, said: Message) -> int:
    """Say a line; give its turn."""
    await store.receive(said)
    return (await store.begin([said], state=State.HEARD, tokens=0, at=said.sent_at)).id


class Bm25:
    """Plain BM25 over whole words, to compare with."""

    def __init__(self, said: Sequence[dict[str, str]]) -> None:
        texts = (f"{line['speaker']}: {line['text']} {line.get('blip_caption', '')}" for line in said)
        self.counts = [Counter(WORD.findall(text.lower())) for text in texts]
        self.lengths = [sum(counts.values()) for counts in self.counts]
        self.rows = defaultdict(list)
        for number, counts in enumerate(self.counts):
            for word in counts:
                self.rows[word].append(number)

    def best(self, question: str, limit: int) -> list[int]:
        scores: dict[int, float] = defaultdict(float)
        mean, total = statistics.mean(self.lengths), len(self.lengths)
        for word in set(WORD.findall(question.lower())):
            rows = self.rows.get(word, [])
            rarity = math.log(1 + (total - len(rows) + 0.5) / (len(rows) + 0.5))
            for number in rows:
                count = self.counts[number][word]
                scores[number] += rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * self.lengths[number] / mean))
        return sorted(scores, key=lambda number: -scores[number])[:limit]


@dataclass
class Tally:
    """The share of the evidence found, question by question."""

    name: str
    shares: dict[str, list[tuple[float, float]]]

    def add(self, half: int, question: Question, best: Sequence[int]) -> None:
        at = [len(question.lines & set(best[:count])) / len(question.lines) for count in (5, 10)]
        for group in ("all", HALVES[half], KINDS[question.kind]):
            self.shares[group].append((at[0], at[1]))

    def rows(self) -> Iterator[str]:
        for group in ("all", *HALVES, *KINDS.values()):
            five, ten = (100 * statistics.mean(share[i] for share in self.shares[group]) for i in (0, 1))
            yield f"{self.name:10} {group:14} {len(self.shares[group]):5} questions  {five:5.1f} at 5  {ten:5.1f} at 10"


async def recall(talks: Sequence[Conversation], folder: Path) -> None:
    """Print how much of the evidence is found."""
    ours, plain = Tally("archive", defaultdict(list)), Tally("plain BM25", defaultdict(list))
    store = await open_store(str(folder / "recall.db"), stem=stem)
    counter, costs = TiktokenCounter("gpt-4o-mini"), list[int]()
    for place, talk in enumerate(talks):
        chat, half = ChatKey("replay", str(place)), place % 2
        turns = [await heard(store, message(line, number, chat)) for number, line in enumerate(talk.said)]
        bm25 = Bm25(talk.said)
        for question in talk.questions:
            found = await store.search(chat, Query(question.text))
            ours.add(half, question, [turns.index(turn.id) for turn in found])
            plain.add(half, question, bm25.best(question.text, 10))
            costs.append(sum(map(counter.count, excerpts(found, question.text, counter, 10_000, UTC))))
    await store.aclose()
    print(*ours.rows(), *plain.rows(), sep="\n")
    print(f"ten results cost {statistics.mean(costs):.0f} tokens, at most {max(costs)}; in a prompt at most 530")


async def crowd(talks: Sequence[Conversation], turns: int, chats: int, folder: Path) -> None:
    """Print how long a search takes among many turns of many chats, and whether one ever leaves its chat."""
    lines = [line for talk in talks for line in talk.said]
    asked = [question.text for talk in talks for question in talk.questions]
    dice, store = random.Random(1), await open_store(str(folder / "crowd.db"), stem=stem)
    for number in range(turns):
        await heard(store, message(dice.choice(lines), number, ChatKey("replay", str(dice.randrange(chats)))))
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
        await recall(talks, Path(folder))
        await cost(talks, Path(folder))
        if turns:
            await crowd(talks, turns, chats, Path(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--turns", type=int, default=0)
    parser.add_argument("--chats", type=int, default=500)
    given = parser.parse_args()
    asyncio.run(measure(given.path, given.turns, given.chats))


if __name__ == "__main__":
    main()
