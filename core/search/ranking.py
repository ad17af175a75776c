"""Ranks what was said by what is looked for: BM25, of each turn alone and of it amid its neighbours."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heapify, heappop
from itertools import accumulate, islice

from core.search.postings import Line
from core.search.terms import SHORTEST_PART, Wanted

K1, B = 0.9, 0.4
BEFORE, AFTER = 2, 1
"""How many turns before and after a turn are its neighbours."""
AMID = 0.6
"""The weight of a turn amid its neighbours, beside that of the turn alone; chosen on half of LoCoMo."""
PART = 0.5
"""What a word counts that is only a part of a longer one."""
NEAR, NEAR_AMID = 0.7, 0.5
"""The weight of meanings beside that of words, where there are vectors; and, of these, of a turn's neighbours."""
LEAST = 0.12
"""What the meaning of a turn counts at least if none of the words is said in it."""
Counts = Mapping[int, float]
"""How often something is said, by the number of the turn."""


def ranked(
    line: Line, wanted: Sequence[Wanted], near: Sequence[float], *, limit: int, allowed: Callable[[int], bool]
) -> list[int]:
    """Give the numbers of the allowed turns of a line that match best, best first.

    `near` is how near the meaning of each is, or empty.
    """
    scores = [0.0] * len(line.turns)
    alone, amid = _penalties(line.lengths), _penalties(_around(line.lengths))
    for counts in _found(line, wanted):
        _add(scores, counts, alone, 1 - AMID)
        _add(scores, _spread(counts, len(scores)), amid, AMID)
    if near:
        scores = _mixed(scores, near)
    hits = [(-score, -number) for number, score in enumerate(scores) if score > 0]
    heapify(hits)
    best = (-heappop(hits)[1] for _ in range(len(hits)))
    return list(islice(filter(allowed, best), limit))


def _mixed(scores: Sequence[float], near: Sequence[float]) -> list[float]:
    """Mix how near meanings are into scores by weight, both of them up to one."""
    largest, amid = max(scores) or 1, _around(near)
    spans = _around([1] * len(near))
    mixed = []
    for score, alone, about, span in zip(scores, near, amid, spans, strict=True):
        nearness = NEAR * ((1 - NEAR_AMID) * alone + NEAR_AMID * about / span)
        mixed.append((1 - NEAR) * score / largest + nearness if score or nearness >= LEAST else 0)
    return mixed


def _found(line: Line, wanted: Sequence[Wanted]) -> Iterable[Counts]:
    """Count each word that is looked for."""
    for word in wanted:
        counts = _count(line, word)
        yield from (counts,) if counts else _taken_apart(line, word)


def _taken_apart(line: Line, word: Wanted) -> Iterable[Counts]:
    """Count the parts of a compound that was never said itself: two of them, or else the longest one that was said."""
    alone: dict[str, Counts] = {}
    for parts in word.split:
        head, tail = map(line.count, parts)
        if head and tail:
            return (head, tail)
        alone |= {part: counts for part, counts in zip(parts, (head, tail), strict=True) if counts}
    longest = max(alone, key=len, default="")
    return (dict.fromkeys(alone[longest], PART),) if len(longest) > SHORTEST_PART else ()


def _count(line: Line, word: Wanted) -> Counts:
    counts: dict[int, float] = {}
    for form in word.forms:
        for number, count in line.count(form).items():
            counts[number] = counts.get(number, 0) + count
    if word.part:
        for number in line.count_part(word.part):
            counts.setdefault(number, PART)
    return counts


def _around(each: Sequence[float]) -> list[float]:
    """Add up what each turn has with its neighbours."""
    sums = [0.0, *accumulate(each)]
    begins, ends = [0.0] * BEFORE + sums, [*sums[AFTER + 1 :], *sums[-1:] * AFTER]
    return [end - begin for begin, end in zip(begins, ends, strict=False)]


def _spread(counts: Counts, turns: int) -> Counts:
    """Count for each turn what is said in it and its neighbours."""
    sums: dict[int, float] = defaultdict(float)
    for number, count in counts.items():
        for near in range(max(0, number - AFTER), min(turns, number + BEFORE + 1)):
            sums[near] += count
    return sums


def _penalties(lengths: Sequence[float]) -> list[float]:
    """Give what BM25 puts beside the count of a word, by how long each turn is."""
    least, slope = K1 * (1 - B), K1 * B * len(lengths) / (sum(lengths) or 1)
    return [least + slope * length for length in lengths]


def _add(scores: list[float], counts: Counts, penalties: Sequence[float], weight: float) -> None:
    """Add the BM25 of one word to the scores."""
    gain = (K1 + 1) * weight * math.log(1 + (len(scores) - len(counts) + 0.5) / (len(counts) + 0.5))
    for number, count in counts.items():
        scores[number] += gain * count / (count + penalties[number])
