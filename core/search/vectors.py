"""Vectors of what was said, and how near each is to what is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Vector = bytes
"""A signed byte for each dimension."""
Near = Callable[[Sequence[Vector], Vector], Sequence[float]]
"""Tells how near each of some vectors, of which there is at least one, is to another: the cosine, counted from the mean
of all of them, since those of most models all point one way."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for, as a vector of a model."""

    model: str
    vector: Vector
    near: Near

    def nearness(self, turns: Sequence[int], vectors: Mapping[int, Vector]) -> list[float]:
        """Tell how near each turn is; one that has no vector is neither near nor far."""
        size = len(self.vector)
        known = [number for number, turn in enumerate(turns) if len(vectors.get(turn, b"")) == size]
        near = [0.0] * len(turns)
        if known:
            for number, nearness in zip(known, self.near([vectors[turns[n]] for n in known], self.vector), strict=True):
                near[number] = nearness
        return near


def to_vector(numbers: Sequence[float]) -> Vector:
    """Give a vector as signed bytes: only where it points to counts."""
    largest = max(map(abs, numbers), default=0) or 1
    return bytes(round(127 * number / largest) & 255 for number in numbers)
