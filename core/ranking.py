"""Ranks what was said by what is looked for: BM25, of each turn alone and of it amid its neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nlargest
from itertools import accumulate

from core.terms import SHORTEST_PART, Wanted

K1, B = 0.9, 0.4
BEFORE, AFTER = 2, 1
"""How many turns before and after a turn are its neighbours."""
AMID = 0.6
"""The weight of a turn amid its neighbours, beside that of the turn alone; chosen on half of LoCoMo."""
PART = 0.5
"""What a word counts that is only a part of a longer one."""
Counts = Mapping[int, float]
"""How often something is said, by the number of the turn."""


def joined(terms: Iterable[str]) -> str:
    """Write terms so that each can be found in them as a whole word, in no time."""
    text = "  ".join(terms)
    return f" {text} " if text else ""


def ranked(turns: Sequence[str], wanted: Sequence[Wanted], *, limit: int, allowed: Callable[[int], bool]) -> list[int]:
    """Give the numbers of the allowed turns that match best, best first.

    `turns` are the terms of each turn, as `joined` writes them, in the order they were said.
    """
    if not turns:
        return []
    lengths = list(map(len, turns))
    alone, amid = _penalties(lengths), _penalties(_around(lengths))
    scores = [0.0] * len(turns)
    for counts in _found(turns, wanted):
        _add(scores, counts, alone, 1 - AMID)
        _add(scores, _spread(counts, len(turns)), amid, AMID)
    hits = (number for number, score in enumerate(scores) if score and allowed(number))
    return nlargest(limit, hits, key=lambda number: (scores[number], number))


def _found(turns: Sequence[str], wanted: Sequence[Wanted]) -> Iterable[Counts]:
    """Count each word that is looked for."""
    for word in wanted:
        counts = _count(turns, word)
        yield from (counts,) if counts else _taken_apart(turns, word)


def _taken_apart(turns: Sequence[str], word: Wanted) -> Iterable[Counts]:
    """Count the parts of a compound that was never said itself: two of them, or else the longest one that was said."""
    alone: dict[str, Counts] = {}
    for parts in word.split:
        head, tail = (_count(turns, Wanted((part,))) for part in parts)
        if head and tail:
            return (head, tail)
        alone |= {part: counts for part, counts in zip(parts, (head, tail), strict=True) if counts}
    longest = max(alone, key=len, default="")
    return (dict.fromkeys(alone[longest], PART),) if len(longest) > SHORTEST_PART else ()


def _count(turns: Sequence[str], word: Wanted) -> Counts:
    counts: dict[int, float] = {}
    for form in word.forms:
        whole = f" {form} "
        for number in [n for n, terms in enumerate(turns) if whole in terms]:
            counts[number] = counts.get(number, 0) + turns[number].count(whole)
    if word.part:
        begins, ends = f" {word.part}", f"{word.part} "
        for number in [n for n, terms in enumerate(turns) if begins in terms or ends in terms]:
            counts.setdefault(number, PART)
    return counts


def _around(lengths: Sequence[int]) -> list[int]:
    """Give the length of each turn with its neighbours."""
    sums = [0, *accumulate(lengths)]
    last = len(lengths)
    return [sums[min(last, n + AFTER + 1)] - sums[max(0, n - BEFORE)] for n in range(last)]


def _spread(counts: Counts, turns: int) -> Counts:
    """Count for each turn what is said in it and its neighbours."""
    sums = [0.0] * (turns + AFTER + BEFORE)
    for number, count in counts.items():
        for near in range(number, number + AFTER + BEFORE + 1):
            sums[near] += count
    return {number: count for number, count in enumerate(sums[AFTER : AFTER + turns]) if count}


def _penalties(lengths: Sequence[int]) -> list[float]:
    """Give what BM25 puts beside the count of a word, by how long each turn is."""
    mean = sum(lengths) / len(lengths) or 1
    least, slope = K1 * (1 - B), K1 * B / mean
    return [least + slope * length for length in lengths]


def _add(scores: list[float], counts: Counts, penalties: Sequence[float], weight: float) -> None:
    """Add the BM25 of one word to the scores."""
    gain = (K1 + 1) * weight * math.log(1 + (len(scores) - len(counts) + 0.5) / (len(counts) + 0.5))
    for number, count in counts.items():
        scores[number] += gain * count / (count + penalties[number])
