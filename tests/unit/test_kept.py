"""How long the ways down a tree of turns are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.kept import Ranges, chain


@st.composite
def trees(draw: st.DrawFn) -> dict[int, int | None]:
    """Draw a tree: each turn by its id, with its parent, an older one or none."""
    parents: dict[int, int | None] = {}
    for turn in draw(st.lists(st.integers(1, 60), unique=True, max_size=25).map(sorted)):
        parents[turn] = draw(st.sampled_from([None, *parents]))
    return parents


@given(trees())
def test_a_way_is_as_long_as_the_walk_back_and_none_leads_across(parents: dict[int, int | None]) -> None:
    ranges = Ranges(parents)
    for last in parents:
        walk = [*chain(parents, last, None), None]
        for before in (None, *parents):
            assert ranges.length(before, last) == (walk.index(before) if before in walk else -1)
        assert ranges.length(99, last) == -1, "a turn that is not there leads nowhere"


class Counted(dict[int, int | None]):
    """A tree that counts how often a parent is asked for."""

    asked = 0

    def __getitem__(self, turn: int) -> int | None:
        self.asked += 1
        return super().__getitem__(turn)


def test_a_way_is_not_walked_however_long_it_is() -> None:
    parents = Counted({turn: turn - 1 or None for turn in range(1, 5001)})
    ranges = Ranges(parents)
    assert [ranges.length(None, turn) for turn in parents] == list(parents)
    assert parents.asked <= 2 * len(parents)
