"""Plain BM25, to compare with."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence

WORD = re.compile(r"\w+")


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
