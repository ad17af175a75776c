"""A snapshot of what is sent to the model, in labelled sections that know their origin and their cost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from core.conversation import Conversation, Segment, Step, Turn
from core.llm import PromptMessage, TokenCounter, ToolSpec
from core.rendering import block, bot_messages, person_message

Place = Literal["system", "facts", "excerpts", "now"]
MESSAGE_COST = 4
"""Tokens that a chat format adds to each message (OpenAI's cookbook counts 3, other formats up to 5)."""
CUT = "\n[… shortened …]\n"


@dataclass(frozen=True, slots=True)
class Section:
    """One labelled part: its text, its place, where it came from, and its cost in tokens.

    `lines` are given where the part can be shortened line by line, the most dispensable first.
    """

    label: str
    text: str
    place: Place
    origin: str
    tokens: int
    lines: tuple[str, ...] = ()


def cost(messages: Iterable[PromptMessage], counter: TokenCounter) -> int:
    """Count the tokens of messages, calls and results included."""
    return sum(_message_cost(m, counter) for m in messages)


def _message_cost(message: PromptMessage, counter: TokenCounter) -> int:
    calls = sum(counter.count(c.name) + counter.count(c.arguments) + 8 for c in message.calls)
    images = 800 * len(message.images)
    return MESSAGE_COST + counter.count(message.content) + calls + images


def turn_cost(turn: Turn, counter: TokenCounter) -> int:
    """Count what a turn costs in later prompts, where its images are placeholders."""
    said = replace(person_message(turn), images=())
    return cost([said, *bot_messages(turn)], counter)


def tools_cost(tools: Sequence[ToolSpec], counter: TokenCounter) -> int:
    """Count what the declared tools cost."""
    return sum(counter.count(t.name + t.description + json.dumps(t.parameters)) + 12 for t in tools)


class Prompt:
    """What is sent to the model for one turn.

    Memories put their part in with `add` and `show`. In the order of the request: the system sections, the history
    (segments and raw turns in the order they were said), then, before the new message, the volatile sections.
    """

    def __init__(self, conversation: Conversation, turn: Turn, counter: TokenCounter, tools: Sequence[ToolSpec] = ()):
        self.conversation = conversation
        self.turn = turn
        self.tools = tuple(tools)
        self.sections: list[Section] = []
        self.history: list[Step] = []
        self._counter = counter
        self._tools_tokens = tools_cost(self.tools, counter)
        self._asked = person_message(turn)
        self._message_tokens = cost([self._asked], counter)

    def add(self, label: str, text: str | Sequence[str], *, place: Place = "facts", origin: str = "") -> None:
        """Add a section; blank text adds nothing. All but the system sections become labelled blocks of data.

        Text given as lines, the most dispensable first, may lose lines when the prompt does not fit otherwise.
        """
        lines = () if isinstance(text, str) else tuple(text)
        whole = "\n".join(lines) if lines else str(text or "")
        if whole.strip():
            written = whole if place == "system" else block(label, whole)
            self.sections.append(Section(label, written, place, origin or label, self._counter.count(written), lines))

    def show(self, steps: Sequence[Step]) -> None:
        """Show steps of the conversation's path: segments as their gist, turns raw."""
        self.history.extend(steps)

    @property
    def tokens(self) -> int:
        """What the whole costs: tools, sections, history, and the turn being answered with its tool rounds."""
        sections = sum(s.tokens for s in self.sections)
        history = sum(s.tokens for s in self.history)
        rounds = cost(bot_messages(self.turn), self._counter) if self.turn.rounds else 0
        return self._tools_tokens + sections + history + self._message_tokens + rounds + 2 * MESSAGE_COST

    def drop(self, place: Place) -> None:
        """Leave out the sections of a place."""
        self.sections = [s for s in self.sections if s.place != place]

    def trim_lines(self, excess: int) -> None:
        """Leave out lines of the sections given as lines, the most dispensable first, until `excess` is gone."""
        goal = self.tokens - excess
        for section in [s for s in self.sections if s.lines]:
            lines = section.lines
            while lines and self.tokens > goal:
                lines = lines[1:]
                self.sections = [s for s in self.sections if s.label != section.label]
                self.add(section.label, lines, place=section.place, origin=section.origin)

    def shorten_message(self, excess: int) -> None:
        """Shorten the new message, with a visible mark, by at least `excess` tokens as far as it goes."""
        kept = max(self._message_tokens - excess - MESSAGE_COST, 16)
        self._asked = replace(self._asked, content=shorten(self._asked.content, kept, self._counter))
        self._message_tokens = cost([self._asked], self._counter)

    def messages(self) -> tuple[PromptMessage, ...]:
        """Write the request: one system message first, then user and assistant in turn, the new message last."""
        system = "\n\n".join(s.text for s in self.sections if s.place == "system")
        written = [PromptMessage("system", system)] if system else []
        for step in self.history:
            _write(written, step)
        volatile = "\n\n".join(s.text for s in self.sections if s.place != "system")
        asked = self._asked
        if volatile:
            asked = replace(asked, content=f"{volatile}\n\n{asked.content}")
        _append(written, asked)
        written.extend(bot_messages(self.turn))
        return tuple(written)

    def report(self) -> list[tuple[str, str, int]]:
        """List label, origin and token cost of every part, in the order of the request."""
        rows = [(s.label, s.origin, s.tokens) for s in self.sections if s.place == "system"]
        rows.append(("tools", f"{len(self.tools)} declared", self._tools_tokens))
        rows.extend(_step_row(s) for s in self.history if isinstance(s, Segment))
        raw = [s for s in self.history if isinstance(s, Turn)]
        rows.append(("window", f"{len(raw)} turns of this chat", sum(t.tokens for t in raw)))
        rows.extend((s.label, s.origin, s.tokens) for s in self.sections if s.place != "system")
        return [*rows, ("message", f"turn {self.turn.id}", self._message_tokens)]


def _step_row(segment: Segment) -> tuple[str, str, int]:
    return ("summary", f"{segment.turns} turns of this chat up to turn {segment.last}", segment.tokens)


def _write(written: list[PromptMessage], step: Step) -> None:
    if isinstance(step, Segment):
        _append(written, PromptMessage("user", segment_block(step)))
        return
    _append(written, step.asked)
    written.extend(step.replied)


def segment_block(segment: Segment) -> str:
    """Write a segment as a block of data."""
    return block("summary of earlier talk", segment.text)


def _append(written: list[PromptMessage], message: PromptMessage) -> None:
    """Add a user message; one that follows another user message is joined to it, so that roles take turns."""
    last = written[-1] if written else None
    if last is None or last.role != "user":
        written.append(message)
        return
    joined = f"{last.content}\n\n{message.content}"
    written[-1] = replace(last, content=joined, images=last.images + message.images)


def shorten(text: str, tokens: int, counter: TokenCounter) -> str:
    """Cut the middle out of a text until it costs at most `tokens`, leaving a visible mark; at least the mark stays."""
    size = counter.count(text)
    if size <= tokens:
        return text
    keep = len(text)
    while keep > 0 and size > tokens:
        keep = min(keep - 1, int(keep * max(tokens, 1) / size * 0.95))
        head = keep * 2 // 3
        cut = text[:head] + CUT + (text[len(text) - (keep - head) :] if keep > head else "")
        size = counter.count(cut)
    return cut if keep > 0 else CUT.strip()
