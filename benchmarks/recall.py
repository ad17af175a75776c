"""What the archive finds: recall on LoCoMo's questions, beside plain BM25, and what the results cost.

    python -m benchmarks.recall locomo10.json                  # on SQLite, by words alone
    python -m benchmarks.recall locomo10.json --postgresql     # on a PostgreSQL server that is started for it
    python -m benchmarks.recall locomo10.json --embeddings     # with the small local model, or one of a server named

Every line said is a turn; a question is answered by the turns that its evidence names. Found is what is shown: of ten
results as many as fit in 530 tokens, as in a prompt. The weights were chosen on every other conversation, beginning
with the first.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

from adapters.snowball import stem
from adapters.sql import SqlStore, open_store
from adapters.tiktoken import TiktokenCounter
from benchmarks.bm25 import Bm25
from benchmarks.locomo import KINDS, Conversation, Question, conversations, heard, message
from bots.meaning import open_meaning
from config.settings import load_settings
from core.embedding import Meaning
from core.memory.archive import LIMIT, TOKENS
from core.memory.excerpts import shown
from core.messages import ChatKey
from core.search.query import Query

HALVES = ("chosen on", "not chosen on")


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


async def recall(talks: Sequence[Conversation], store: SqlStore, meaning: Meaning | None) -> None:
    """Print how much of the evidence is shown."""
    ours, plain = Tally("archive", defaultdict(list)), Tally("plain BM25", defaultdict(list))
    counter, costs, left_out = TiktokenCounter("gpt-4o-mini"), list[int](), 0
    for place, talk in enumerate(talks):
        chat, half = ChatKey("replay", str(place)), place % 2
        turns = [await heard(store, message(line, number, chat)) for number, line in enumerate(talk.said)]
        await store.index(chat)
        if meaning:
            await meaning.keep(store, chat)
        bm25 = Bm25(talk.said)
        for question in talk.questions:
            asked = await meaning.asked(question.text) if meaning else None
            found = await store.search(chat, Query(question.text, LIMIT, asked=asked))
            lines = shown(found, question.text, counter, TOKENS, UTC)
            ours.add(half, question, [turns.index(turn) for turn in lines])
            plain.add(half, question, bm25.best(question.text, LIMIT))
            costs.append(counter.count("\n".join(lines[turn] for turn in sorted(lines))))
            left_out += len(found) - len(lines)
    print(*ours.rows(), *plain.rows(), sep="\n")
    print(
        f"ten results cost {statistics.mean(costs):.0f} tokens, at most {max(costs)} (the limit is {TOKENS}); "
        f"{left_out} of {LIMIT * len(costs)} results were left out to keep to it"
    )


@asynccontextmanager
async def opened(postgresql: bool) -> AsyncIterator[SqlStore]:
    """Open an empty store."""
    from tests.postgresql import running

    with tempfile.TemporaryDirectory() as folder:
        if postgresql:
            with running() as server:
                store = await open_store(server.fresh(), stem=stem)
                yield store
                await store.aclose()
        else:
            store = await open_store(str(Path(folder) / "recall.db"), stem=stem)
            yield store
            await store.aclose()


async def measure(path: Path, postgresql: bool, embeddings: str) -> None:
    settings = load_settings({**os.environ, "KEEPMIND_MEMORY__EMBEDDINGS": embeddings})
    async with opened(postgresql) as store, open_meaning(settings) as meaning:
        await recall(list(conversations(path)), store, meaning)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--postgresql", action="store_true")
    parser.add_argument("--embeddings", nargs="?", const="local", default="off", metavar="MODEL")
    given = parser.parse_args()
    asyncio.run(measure(given.path, given.postgresql, given.embeddings))


if __name__ == "__main__":
    main()
