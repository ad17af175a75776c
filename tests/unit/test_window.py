"""Which turns stay raw and which are folded: whole turns, between two marks."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from core.conversation import Segment, State, Step, Turn
from core.memory.window import WindowLimits, enough, first_part, foldable, has_hole, is_over, parted
from core.messages import ChatKey, Message, Person
from tests.fakes import START

CHAT = ChatKey("test", "anna")


def turn(number: int, tokens: int = 10, state: State = State.DELIVERED) -> Turn:
    message = Message(str(number), CHAT, Person("test", "anna"), "hi", START)
    return Turn(number, number - 1 or None, CHAT, state, (message,), tokens=tokens)


def path(*tokens: int) -> list[Step]:
    return [turn(number, cost) for number, cost in enumerate(tokens, 1)]


def ids(run: Sequence[Step]) -> list[int]:
    return [t.id for t in run]


SEGMENT = Segment(1, None, 5, "gist", 10, 5)


def test_the_window_is_over_by_turns_or_by_tokens_whichever_comes_first() -> None:
    limits = WindowLimits(high_turns=3, high_tokens=100)
    assert not is_over([turn(n) for n in range(3)], limits)
    assert is_over([turn(n) for n in range(4)], limits)
    assert is_over([turn(1, 101)], limits)


def test_at_most_the_low_mark_stays() -> None:
    assert ids(foldable(path(*[10] * 10), turns=4, tokens=1000)) == [1, 2, 3, 4, 5, 6]
    assert ids(foldable(path(*[10] * 10), turns=9, tokens=25)) == [1, 2, 3, 4, 5, 6, 7, 8]


def test_nothing_is_folded_below_the_low_mark() -> None:
    assert foldable(path(10, 10), turns=4, tokens=1000) == []
    assert foldable([], turns=0, tokens=0) == []


def test_the_newest_turn_stays_though_it_is_larger_than_the_mark() -> None:
    assert ids(foldable(path(10, 5000), turns=4, tokens=1000, newest=6000)) == [1]
    assert ids(foldable(path(10, 5000), turns=4, tokens=1000, newest=4000)) == [1, 2]


def test_all_is_folded_when_nothing_may_stay() -> None:
    assert ids(foldable(path(10, 0), turns=0, tokens=0)) == [1, 2]


def test_what_is_being_answered_and_what_follows_stays() -> None:
    steps = [turn(1), turn(2), turn(3, state=State.RECEIVED), turn(4)]
    assert ids(foldable(steps, turns=0, tokens=0)) == [1, 2]


def test_an_answered_turn_not_delivered_yet_may_be_folded() -> None:
    assert ids(foldable([turn(1, state=State.ANSWERED)], turns=0, tokens=0)) == [1]


def test_a_hole_before_a_segment_is_folded_whole() -> None:
    steps: list[Step] = [turn(1), turn(2), SEGMENT, turn(6)]
    assert has_hole(steps)
    assert ids(foldable(steps, turns=100, tokens=10_000)) == [1, 2]
    assert not has_hole([SEGMENT, turn(6)])


def test_a_part_is_at_least_one_turn() -> None:
    run = [turn(1, 500), turn(2, 10), turn(3, 10)]
    assert ids(first_part(run, 100)) == [1]
    assert ids(first_part(run, 515)) == [1, 2]


def test_enough_is_as_little_as_frees_what_is_asked() -> None:
    run = [turn(1, 50), turn(2, 50), turn(3, 50)]
    assert [ids(enough(run, tokens)) for tokens in (1, 50, 51, 10_000)] == [[1], [1], [1, 2], [1, 2, 3]]


def test_marks_shrink_with_the_budget() -> None:
    small = WindowLimits().within(1000)
    assert (small.high_tokens, small.low_tokens) == (500, 250)
    assert WindowLimits().within(100_000) == WindowLimits()


kinds = st.lists(st.tuples(st.sampled_from(["turn", "turn", "turn", "open", "segment"]), st.integers(0, 300)))


@given(kinds, st.integers(0, 10), st.integers(0, 1000), st.integers(0, 300))
def test_what_is_folded_is_contiguous_raw_and_the_oldest(
    kinds: list[tuple[str, int]], turns: int, tokens: int, newest: int
) -> None:
    steps: list[Step] = [
        SEGMENT if kind == "segment" else turn(n, cost, State.RECEIVED if kind == "open" else State.DELIVERED)
        for n, (kind, cost) in enumerate(kinds, 1)
    ]
    run = foldable(steps, turns=turns, tokens=tokens, newest=newest)
    assert all(isinstance(t, Turn) and t.state is not State.RECEIVED for t in run)
    if run:
        start = steps.index(run[0])
        assert steps[start : start + len(run)] == run
        assert all(isinstance(s, Segment) for s in steps[:start])
    staying = [s for s in steps if isinstance(s, Turn) and s not in run]
    if not has_hole(steps) and all(t.state is not State.RECEIVED for t in staying) and len(staying) > 1:
        assert len(staying) <= turns
        assert sum(t.tokens for t in staying) <= tokens


LINE = Segment(9, 4, 6, "an aside", 10, 2, "aside")


def test_the_line_kept_of_an_aside_is_folded_with_the_turns_around_it() -> None:
    steps: list[Step] = [*path(10, 10, 10, 10), LINE, turn(7), turn(8)]
    assert not has_hole(steps)
    assert foldable(steps, turns=2, tokens=1000) == steps[:5]
    assert foldable(steps, turns=3, tokens=1000) == steps[:4]


def test_no_run_crosses_the_turn_at_which_an_aside_was_begun() -> None:
    steps = path(*[10] * 8)
    assert ids(foldable(steps, turns=2, tokens=1000, walls=[4])) == [1, 2, 3, 4]
    assert ids(foldable(steps[4:], turns=2, tokens=1000, walls=[4])) == [5, 6]
    assert ids(foldable(steps, turns=5, tokens=1000, walls=[4, 6])) == [1, 2, 3]
    assert [ids(part) for part in parted(steps, [None, 2, 2, 8])] == [[1, 2], [3, 4, 5, 6, 7, 8]]
