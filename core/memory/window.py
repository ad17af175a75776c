"""Chooses which turns stay raw and which are folded: whole turns, between a high and a low-water mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.conversation import OPEN, Step, Turn


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


def foldable(path: Sequence[Step], *, turns: int, tokens: int) -> list[Turn]:
    """Give the oldest contiguous run of raw turns to fold, so that at most `turns` and `tokens` of them stay.

    A run with a segment after it is folded whole. Turns still being answered, and what follows them, stay.
    """
    run: list[Turn] = []
    for step in path:
        if isinstance(step, Turn):
            if step.state in OPEN and step.state != "answered":
                break
            run.append(step)
        elif run:
            return run
    return run[: len(run) - _staying(run, turns, tokens)]


def _staying(run: Sequence[Turn], turns: int, tokens: int) -> int:
    """Count the newest turns of a run that stay within both marks."""
    spent = count = 0
    for turn in reversed(run):
        spent += turn.tokens
        if count == turns or spent > tokens:
            break
        count += 1
    return count


def first_part(run: Sequence[Turn], tokens: int) -> list[Turn]:
    """Give the beginning of a run that costs at most `tokens`, and at least one turn."""
    spent = 0
    part: list[Turn] = []
    for turn in run:
        spent += turn.tokens
        if part and spent > tokens:
            break
        part.append(turn)
    return part
