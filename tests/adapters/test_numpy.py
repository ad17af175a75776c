"""How near vectors are."""

from __future__ import annotations

import pytest

from adapters import numpy
from core.search.vectors import to_vector


def test_what_points_the_same_way_is_nearest() -> None:
    said = [to_vector(v) for v in ((1, 0.1, 0), (0, 1, 0.1), (0.1, 0, 1))]
    near = numpy.near(said, to_vector((2, 0, 0)))
    assert near[0] > 0.9
    assert max(near[1:]) < 0


def test_what_all_have_in_common_tells_nothing() -> None:
    said = [to_vector((10, 1, 0)), to_vector((10, 0, 1))]
    assert numpy.near(said, to_vector((10, 1, 0))) == pytest.approx([1, -1], abs=0.1)


def test_one_vector_alone_and_one_of_nothing_are_neither_near_nor_far() -> None:
    assert numpy.near([to_vector((1, 0))], to_vector((1, 0))) == pytest.approx([0], abs=1e-3)
    assert numpy.near([to_vector((0, 0))], to_vector((0, 0))) == [0]


def test_as_many_as_there_are_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy, "AT_ONCE", 2)
    assert len(numpy.near([to_vector((n, 1)) for n in range(5)], to_vector((1, 1)))) == 5
