"""Chooses which turns stay raw and which are folded: whole turns, between a high and a low-water mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeVar

from core.conversation import State, Step, Turn

S = TypeVar("S", bound=Step)


@dataclass(frozen=True, slots=True)
class WindowLimits:
    """The marks in turns and in tokens, whichever is reached first; `idle_turns` stay when a chat has gone quiet."""

    high_turns: int = 60
    low_turns: int = 24
    high_tokens: int = 6000
    low_tokens: int = 3000
    idle_turns: int = 8

    def within(self, budget: int) -> WindowLimits:
        """Give marks that suit a prompt of `budget` tokens: the window takes at most half of it."""
        high = min(self.high_tokens, budget // 2)
        low = min(self.low_tokens, budget // 4)
        return WindowLimits(self.high_turns, self.low_turns, high, low, self.idle_turns)


def is_over(turns: Sequence[Turn], limits: WindowLimits) -> bool:
    """Say whether raw turns have passed the high-water mark."""
    return len(turns) > limits.high_turns or sum(t.tokens for t in turns) > limits.high_tokens


def has_hole(path: Sequence[Step]) -> bool:
    """Say whether raw turns stand before a segment: one that covered them was deleted after an edit."""
    raw = False
    for step in path:
        if raw and not is_raw(step):
            return True
        raw = isinstance(step, Turn)
    return False


def is_raw(step: Step) -> bool:
    """Say whether a step is as it was said: a turn, or the one line that was kept of an aside."""
    return isinstance(step, Turn) or step.made_by == "aside"


def parted(steps: Sequence[S], walls: Sequence[int | None]) -> list[list[S]]:
    """Part steps after each turn at which an aside was begun: no segment may stand for turns on both sides of it."""
    parts: list[list[S]] = []
    ended = True
    for step in steps:
        if ended:
            parts.append([])
        parts[-1].append(step)
        ended = step.last in walls
    return parts


def settled(path: Sequence[Step]) -> Sequence[Step]:
    """Give the steps before the first turn that is still being answered."""
    for count, step in enumerate(path):
        if isinstance(step, Turn) and step.state is State.RECEIVED:
            return path[:count]
    return path


def foldable(
    path: Sequence[Step], *, turns: int, tokens: int, newest: int = 0, walls: Sequence[int | None] = ()
) -> list[Step]:
    """Give the oldest contiguous run of raw turns to fold, so that at most `turns` and `tokens` of them stay.

    A newest turn larger than that stays as well when it costs at most `newest`. A run with a segment after it is
    folded whole. Turns still being answered, and what follows them, stay. A run ends at a wall.
    """
    run: list[Step] = []
    for step in settled(path):
        if is_raw(step):
            run.append(step)
        elif run:
            break
    else:
        run = run[: len(run) - staying(run, turns, tokens, newest)]
    return parted(run, walls)[0] if run else []


def staying(run: Sequence[Step], turns: int, tokens: int, newest: int) -> int:
    """Count the newest raw turns of a run that stay."""
    raw = list(takewhile(is_raw, reversed(run)))
    spent = count = 0
    for turn in raw:
        spent += turn.tokens
        if count == turns or spent > tokens:
            break
        count += 1
    return count or int(bool(raw) and 0 < raw[0].tokens <= newest)


def enough(run: Sequence[S], tokens: int) -> list[S]:
    """Give the beginning of a run that costs at least `tokens`; all of it when it costs less."""
    spent = 0
    for count, step in enumerate(run, 1):
        spent += step.tokens
        if spent >= tokens:
            return list(run[:count])
    return list(run)


def first_part(run: Sequence[S], tokens: int) -> list[S]:
    """Give the beginning of a run that costs at most `tokens`, and at least one step."""
    spent = 0
    part: list[S] = []
    for step in run:
        spent += step.tokens
        if part and spent > tokens:
            break
        part.append(step)
    return part
