"""Tells how near vectors are, thousands at once, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from core.search.vectors import Vector

AT_ONCE = 4096
"""Vectors that are unpacked at once, so that a long chat takes little memory."""


def near(said: Sequence[Vector], asked: Vector) -> list[float]:
    """Give the cosine of each vector with another, both counted from the mean of all, each as long as any."""
    mean = sum(part.sum(axis=0) for part in _parts(said)) / len(said)
    question = _unit(np.frombuffer(asked, np.int8)[np.newaxis])[0] - mean
    question /= max(float(np.linalg.norm(question)), 1e-9)
    return [cosine for part in _parts(said) for cosine in (_unit(part - mean) @ question).tolist()]


def _parts(said: Sequence[Vector]) -> Iterator[Any]:
    for at in range(0, len(said), AT_ONCE):
        part = said[at : at + AT_ONCE]
        yield _unit(np.frombuffer(b"".join(part), np.int8).reshape(len(part), -1))


def _unit(vectors: Any) -> Any:
    vectors = vectors.astype(np.float32)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
