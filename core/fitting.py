"""Makes a prompt fit its room: what is shortened or left out of it, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.conversation import Segment, Step
from core.llm import TokenCounter
from core.messages import Attachment, Message
from core.prompt import JOIN_COST, Prompt, segment_cost, shorten, turn_cost
from core.rendering import block, person_message

LEAST = 16
"""Tokens that are left of whatever is shortened, for the mark and some words around it."""


def shorten_attached(prompt: Prompt) -> None:
    """Bring a turn that is larger than the whole room to half of it: its largest attachments and results shrink."""
    if prompt.turn_tokens > prompt.room:
        _shrink_turn(prompt, prompt.turn_tokens - prompt.room // 2)
        prompt.asked = person_message(prompt.turn)


def fit(prompt: Prompt) -> None:
    """Shorten what must be, in this order, until the prompt fits.

    Results of the tools just run, facts by age, images; tools and system text when they leave no quarter of the room
    to the new message; then the message itself. What follows only matters where the room is tiny, or where history
    could not be folded.
    """
    for step in (_results, _facts, _images, _fixed, _message, _rounds, _volatile, _history, _system, _oldest):
        if prompt.excess <= 0:
            return
        step(prompt)


def smaller(sizes: Sequence[int], over: int, least: int = LEAST) -> list[int]:
    """Take `over` off the largest sizes, but leave `least` of each."""
    left = list(sizes)
    for at in sorted(range(len(left)), key=lambda n: -left[n]):
        take = min(max(over, 0), max(left[at] - least, 0))
        left[at] -= take
        over -= take
    return left


def _results(prompt: Prompt) -> None:
    if prompt.turn.rounds:
        _shrink_turn(prompt, prompt.excess, attachments=False)


def _shrink_turn(prompt: Prompt, over: int, *, attachments: bool = True) -> None:
    turn, count = prompt.turn, prompt.counter.count
    texts = [a.text for m in turn.messages for a in m.attachments] if attachments else []
    results = [r.content for one in turn.rounds for r in one.results]
    goals = iter(smaller([count(t) for t in texts + results], over))
    written = iter([shorten(t, next(goals), prompt.counter) for t in texts + results])
    messages = turn.messages
    if attachments:
        messages = tuple(_attaching(m, [replace(a, text=next(written)) for a in m.attachments]) for m in messages)
    rounds = tuple(replace(o, results=tuple(replace(r, content=next(written)) for r in o.results)) for o in turn.rounds)
    prompt.turn = replace(turn, messages=messages, rounds=rounds)


def _attaching(message: Message, attachments: Sequence[Attachment]) -> Message:
    return replace(message, attachments=tuple(attachments))


def _facts(prompt: Prompt) -> None:
    for section in [s for s in prompt.sections if s.lines]:
        over, lines = prompt.excess, list(section.lines)
        while lines and over > 0:
            over -= prompt.counter.count(lines.pop(0))
        _write_lines(prompt, section.label, lines)
        while lines and prompt.excess > 0:
            _write_lines(prompt, section.label, lines := lines[1:])


def _write_lines(prompt: Prompt, label: str, lines: Sequence[str]) -> None:
    section = next(s for s in prompt.sections if s.label == label and s.lines)
    prompt.rewrite(section, block(label, "\n".join(lines)) if lines else "", lines)


def _images(prompt: Prompt) -> None:
    while prompt.excess > 0 and prompt.asked.images:
        prompt.asked = replace(prompt.asked, images=prompt.asked.images[:-1])


def _fixed(prompt: Prompt) -> None:
    if _over_beside_message(prompt) > 0:
        prompt.tools = ()
    system = [s for s in prompt.sections if s.place == "system"]
    goals = smaller([s.tokens for s in system], _over_beside_message(prompt))
    for section, goal in zip(system, goals, strict=True):
        if goal < section.tokens:
            prompt.rewrite(section, shorten(section.text, goal - JOIN_COST, prompt.counter))


def _over_beside_message(prompt: Prompt) -> int:
    """How much is too much when the new message gets its share: all of it, or a quarter of the room."""
    return prompt.excess - max(prompt.message_tokens - prompt.room // 4, 0)


def _message(prompt: Prompt) -> None:
    goal = max(prompt.counter.count(prompt.asked.content) - prompt.excess, LEAST)
    prompt.asked = replace(prompt.asked, content=shorten(prompt.asked.content, goal, prompt.counter))


def _rounds(prompt: Prompt) -> None:
    while prompt.excess > 0 and len(prompt.turn.rounds) > 1:
        prompt.turn = replace(prompt.turn, rounds=prompt.turn.rounds[1:])


def _volatile(prompt: Prompt) -> None:
    prompt.drop("facts")
    if prompt.excess > 0:
        prompt.drop("now")


def _history(prompt: Prompt) -> None:
    sizes = [prompt.step_tokens(s) for s in prompt.history]
    goals = smaller(sizes, prompt.excess)
    for at, (size, goal) in enumerate(zip(sizes, goals, strict=True)):
        if goal < size:
            prompt.history[at] = short_step(prompt.history[at], goal, prompt.counter)


def short_step(step: Step, goal: int, counter: TokenCounter) -> Step:
    """Shorten a segment, or what was said in a turn and its answer, to about `goal` tokens, with a visible mark."""
    if isinstance(step, Segment):
        text = shorten(step.text, max(goal - step.tokens + counter.count(step.text), 1), counter)
        return replace(step, text=text, tokens=segment_cost(text, counter))
    said = replace(step.message, text=shorten(step.asked.content, goal // 2, counter), attachments=(), quote=None)
    answer = step.answer and replace(step.answer, text=shorten(step.answer.text, goal // 2, counter))
    short = replace(step, messages=(said,), rounds=(), answer=answer)
    return replace(short, tokens=turn_cost(short, counter))


def _system(prompt: Prompt) -> None:
    for section in [s for s in reversed(prompt.sections) if s.place == "system"]:
        if prompt.excess > 0:
            prompt.rewrite(section, "")


def _oldest(prompt: Prompt) -> None:
    while prompt.excess > 0 and prompt.history:
        del prompt.history[0]
