"""Postings: by each term the turns of a chat that say it, many turns in one piece, which is read fast."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

FIRST = 0xE000
"""The first of the characters for private use, which stand for turns in postings: no term holds one."""
MOST = 4000
"""Turns of one piece at most; there are 6,400 such characters."""
NOBODY = 0
"""What stands for the parent of a turn that has none."""


class Entry(NamedTuple):
    """What the archive knows of a turn: its parent, its time in seconds since 1970, and the terms it is found by."""

    turn: int
    parent: int | None
    at: float
    terms: str


@dataclass(frozen=True)
class Postings:
    """Turns of a chat, oldest first, and what each says.

    `lengths` are the characters of a turn's terms. `terms` are all terms, each once, with spaces around them; `says`
    has for each of these, between spaces, a character for every time that a turn says it: the turn's place after FIRST.
    """

    turns: array[int]
    parents: array[int]
    times: array[float]
    lengths: array[int]
    terms: str
    says: str

    @cached_property
    def by_term(self) -> Mapping[str, str]:
        """Who says each term."""
        return dict(zip(self.terms.split(), self.says.split(), strict=True))

    def partly(self, part: str) -> Iterator[str]:
        """Give who says each term that begins or ends with a part, longer or not."""
        for term in {*_around(self.terms, f" {part}"), *_around(self.terms, f"{part} ")}:
            yield self.by_term[term]

    @cached_property
    def _breaks(self) -> Sequence[int]:
        """The places of turns that come after another than the one before them here."""
        if self.parents[1:] == self.turns[:-1]:
            return (0,)
        pairs = enumerate(zip(self.parents[1:], self.turns, strict=False), 1)
        return (0, *(place for place, (parent, before) in pairs if parent != before))

    def run_to(self, turn: int) -> range:
        """Give the places of a turn and of those that lead to it without a gap; none when it is not here."""
        place = bisect_left(self.turns, turn)
        if place == len(self.turns) or self.turns[place] != turn:
            return range(0)
        return range(self._breaks[bisect_right(self._breaks, place) - 1], place + 1)


def _around(text: str, wanted: str) -> Iterator[str]:
    """Give every term that holds what is wanted, which begins or ends with a space."""
    at = text.find(wanted)
    while at >= 0:
        inside = at + 1 if wanted[0] == " " else at
        yield text[text.rindex(" ", 0, inside + 1) + 1 : text.index(" ", inside)]
        at = text.find(wanted, at + len(wanted) - 1)


def posted(entries: Iterable[Entry]) -> Postings:
    """Make the postings of turns."""
    said, known = dict[str, list[str]](), sorted(entries)
    for place, entry in enumerate(known):
        mark = chr(FIRST + place)
        for term in entry.terms.split():
            said.setdefault(term, []).append(mark)
    return _written(
        array("q", [entry.turn for entry in known]),
        array("q", [entry.parent or NOBODY for entry in known]),
        array("d", [entry.at for entry in known]),
        array("q", [len(entry.terms) for entry in known]),
        {term: "".join(marks) for term, marks in said.items()},
    )


def _written(
    turns: array[int], parents: array[int], times: array[float], lengths: array[int], says: Mapping[str, str]
) -> Postings:
    terms = [term for term, marks in says.items() if marks]
    return Postings(turns, parents, times, lengths, f" {' '.join(terms)} ", " ".join(filter(None, says.values())))


def merged(older: Postings, newer: Postings) -> Postings:
    """Make one piece of two."""
    turns = array("q", sorted([*older.turns, *newer.turns]))
    place = {turn: number for number, turn in enumerate(turns)}
    says: dict[str, str] = {}
    by_turn: dict[int, tuple[int, float, int]] = {}
    for piece in (older, newer):
        marks = piece.says.translate({FIRST + n: FIRST + place[turn] for n, turn in enumerate(piece.turns)})
        for term, more in zip(piece.terms.split(), marks.split(), strict=True):
            says[term] = says.get(term, "") + more
        by_turn |= zip(piece.turns, zip(piece.parents, piece.times, piece.lengths, strict=True), strict=True)
    parents, times, lengths = zip(*(by_turn[turn] for turn in turns), strict=True)
    return _written(turns, array("q", parents), array("d", times), array("q", lengths), says)


def without(piece: Postings, gone: Collection[int]) -> Postings:
    """Take turns out of a piece, with every term that no other turn says."""
    left = [place for place, turn in enumerate(piece.turns) if turn not in gone]
    marks: dict[int, int | None] = {FIRST + place: None for place in range(len(piece.turns))}
    marks |= {FIRST + place: FIRST + now for now, place in enumerate(left)}
    says = dict(zip(piece.terms.split(), piece.says.translate(marks).split(" "), strict=True))
    turns, parents, lengths = (
        array("q", [column[place] for place in left]) for column in (piece.turns, piece.parents, piece.lengths)
    )
    return _written(turns, parents, array("d", [piece.times[place] for place in left]), lengths, says)


def reparented(piece: Postings, parents: Mapping[int, int | None]) -> Postings:
    """Give turns of a piece other parents; turns that are not in it are passed over."""
    known = zip(piece.turns, piece.parents, strict=True)
    return replace(piece, parents=array("q", [(parents.get(turn, parent) or NOBODY) for turn, parent in known]))


class Line:
    """The turns that lead to the head of a chat, in the order said, with who of them says what.

    `parent_of` gives the parent of a turn that no piece knows, since it is still open.
    """

    def __init__(self, pieces: Sequence[Postings], head: int | None, parent_of: Callable[[int], int | None]) -> None:
        self._pieces = pieces
        self.turns, self.times, self.lengths = array("q"), array("d"), array("q")
        self._places = [array("q", [-1]) * len(piece.turns) for piece in pieces]
        for number, run in reversed(list(_runs(pieces, head, parent_of))):
            piece, stretch = pieces[number], slice(run.start, run.stop)
            self._places[number][stretch] = array("q", range(len(self.turns), len(self.turns) + len(run)))
            self.turns += piece.turns[stretch]
            self.times += piece.times[stretch]
            self.lengths += piece.lengths[stretch]

    def count(self, term: str) -> dict[int, float]:
        """Count how often each turn says a term, by its number on the line."""
        return self._counted((places, piece.by_term.get(term, "")) for piece, places in self._each())

    def count_part(self, part: str) -> dict[int, float]:
        """Count how often each turn says a term that begins or ends with a part."""
        return self._counted((places, marks) for piece, places in self._each() for marks in piece.partly(part))

    def _each(self) -> Iterator[tuple[Postings, array[int]]]:
        return zip(self._pieces, self._places, strict=True)

    def _counted(self, said: Iterable[tuple[array[int], str]]) -> dict[int, float]:
        counts: dict[int, float] = {}
        for places, marks in said:
            for mark in marks:
                number = places[ord(mark) - FIRST]
                if number >= 0:
                    counts[number] = counts.get(number, 0) + 1
        return counts


def _runs(
    pieces: Sequence[Postings], head: int | None, parent_of: Callable[[int], int | None]
) -> Iterator[tuple[int, range]]:
    """Walk from the head to the root, a run of turns at a time; each with the number of its piece."""
    turn = head
    while turn:
        found = ((number, run) for number, piece in enumerate(pieces) if (run := piece.run_to(turn)))
        number, run = next(found, (0, range(0)))
        if run:
            yield number, run
        before = pieces[number].parents[run.start] if run else parent_of(turn)
        turn = before if before and before < turn else None  # a parent is older, but in a damaged database
