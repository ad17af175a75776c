"""A snapshot of what is sent to the model, in labelled sections that know their origin and their cost."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from core.conversation import Conversation, Segment, Step, Turn
from core.llm import PromptMessage, Request, TokenCounter, ToolSpec
from core.rendering import block, bot_messages, person_message, segment_block
from core.translation import counted, marked, spoken

Place = Literal["system", "facts", "excerpts", "now"]
MESSAGE_COST = 4
"""Tokens that a chat format adds to each message (OpenAI's cookbook counts 3, other formats up to 5)."""
JOIN_COST = 2
"""Tokens that joining a section to others may add."""
CUT = "\n[… shortened …]\n"
Row = tuple[str, str, int]
"""A part of a prompt: its label, where it came from, its cost in tokens."""


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
    return cost([turn.asked, *turn.replied], counter)


def tools_cost(tools: Sequence[ToolSpec], counter: TokenCounter) -> int:
    """Count what the declared tools cost."""
    return sum(counter.count(t.written) + 12 for t in tools)


def request_cost(request: Request, counter: TokenCounter) -> int:
    """Count what a whole request asks."""
    return cost(request.messages, counter) + tools_cost(request.tools, counter)


class Prompt:
    """What is sent to the model for one turn.

    Memories put their part in with `add` and `show`. In the order of the request: the system sections, the history
    (segments and raw turns in the order they were said), then, before the new message, the volatile sections.
    `room` is what it may cost in tokens; `asked` is the new message as it is sent.
    """

    def __init__(
        self,
        conversation: Conversation,
        turn: Turn,
        counter: TokenCounter,
        tools: Sequence[ToolSpec] = (),
        room: int = sys.maxsize,
    ):
        self.conversation = conversation
        self.turn = turn
        self.tools = tuple(tools)
        self.room = room
        self.sections: list[Section] = []
        self.history: list[Step] = []
        self.counter = counter
        self._cited: set[int] = set()
        self.asked = person_message(turn) if _has_images(turn) else turn.asked

    def add(self, label: str, text: str | Sequence[str], *, place: Place = "facts", origin: str = "") -> None:
        """Add a section; blank text adds nothing. All but the system sections become labelled blocks of data.

        Text given as lines, the most dispensable first, may lose lines when the prompt does not fit otherwise.
        """
        lines = () if isinstance(text, str) else tuple(text)
        whole = text if isinstance(text, str) else "\n".join(lines)
        if whole.strip():
            written = whole if place == "system" else block(label, whole)
            self.sections.append(Section(label, written, place, origin or label, self._section_cost(written), lines))

    def _section_cost(self, written: str) -> int:
        return self.counter.count(written) + JOIN_COST

    def rewrite(self, section: Section, text: str, lines: Sequence[str] = ()) -> None:
        """Put another text in the place of a section; a blank one removes it."""
        at = next(n for n, s in enumerate(self.sections) if s is section)
        new = replace(section, text=text, tokens=self._section_cost(text), lines=tuple(lines))
        self.sections[at : at + 1] = [new] if text.strip() else []

    def cite(self, turns: Iterable[Turn]) -> None:
        """Note turns that an excerpt shows, so that no other memory shows them again."""
        self._cited.update(turn.id for turn in turns)

    def show(self, steps: Sequence[Step]) -> None:
        """Show steps of the conversation's path: segments as their gist, turns raw."""
        self.history.extend(steps)

    @property
    def shown(self) -> frozenset[int]:
        """The turns that are shown, raw or as excerpts, and the one being answered."""
        return frozenset({self.turn.id, *self._cited, *(step.id for step in self.history if isinstance(step, Turn))})

    @property
    def tokens(self) -> int:
        """What the whole costs: tools, sections, history, and the turn being answered with its tool rounds."""
        sections = sum([s.tokens for s in self.sections])
        return self._tools_tokens + sections + self._history_tokens + self.turn_tokens

    @property
    def remembered(self) -> int:
        """What of it is remembered costs: the history, facts and excerpts."""
        return self._history_tokens + sum([s.tokens for s in self.sections if s.place in ("facts", "excerpts")])

    @property
    def excess(self) -> int:
        """How many tokens it costs more than it may."""
        return self.tokens - self.room

    @property
    def _tools_tokens(self) -> int:
        return tools_cost(self.tools, self.counter) if self.tools else 0

    @property
    def _history_tokens(self) -> int:
        if self.conversation.edition:
            return sum(map(self.step_tokens, self.history))
        return sum([s.tokens for s in self.history])

    def step_tokens(self, step: Step) -> int:
        """What a step of the history costs; where there were edits, turns are counted anew."""
        if self.conversation.edition and isinstance(step, Turn):
            return turn_cost(step, self.counter)
        return step.tokens

    @property
    def message_tokens(self) -> int:
        """What the new message costs, and the frame of the request."""
        return _message_cost(self.asked, self.counter) + 2 * MESSAGE_COST

    @property
    def turn_tokens(self) -> int:
        """What the turn being answered costs: its message and its tool rounds."""
        rounds = cost(bot_messages(self.turn), self.counter) if self.turn.rounds else 0
        return self.message_tokens + rounds

    def drop(self, place: Place) -> None:
        """Leave out the sections of a place."""
        self.sections = [s for s in self.sections if s.place != place]

    def messages(self) -> tuple[PromptMessage, ...]:
        """Write the request: one system message first, then the talk, what is remembered, and the new message last.

        User messages may follow one another: the blocks of memory are messages of their own, so that the new message
        stands alone. For servers that want roles to take turns the model's adapter joins them.
        """
        system = "\n\n".join(s.text for s in self.sections if s.place == "system")
        written = [PromptMessage("system", system)] if system else []
        for step in self.history:
            written.extend(step.written)
        volatile = "\n\n".join(s.text for s in self.sections if s.place != "system")
        if volatile:
            written.append(PromptMessage("user", volatile))
        written.append(self.asked)
        written.extend(bot_messages(self.turn))
        return tuple(written)

    def report(self) -> list[Row]:
        """List label, origin and token cost of every part, in the order of the request; no text of it.

        What counts something is said in the language spoken now; the rest is marked, to be said where it is shown.
        """
        rows = [(s.label, s.origin, s.tokens) for s in self.sections if s.place == "system"]
        declared = counted("{count} declared", "{count} declared", len(self.tools))
        rows.append((marked("tools"), declared, self._tools_tokens))
        rows.extend(_step_row(s) for s in self.history if isinstance(s, Segment))
        raw = [s for s in self.history if isinstance(s, Turn)]
        shown = counted("{count} turn of this chat", "{count} turns of this chat", len(raw))
        rows.append((marked("window"), shown, sum(map(self.step_tokens, raw))))
        rows.extend((s.label, s.origin, s.tokens) for s in self.sections if s.place != "system")
        return [*rows, (marked("message"), spoken("turn {number}", number=self.turn.id), self.turn_tokens)]


def _step_row(segment: Segment) -> tuple[str, str, int]:
    covered = counted(
        "{count} turn of this chat, turn {last}",
        "{count} turns of this chat, up to turn {last}",
        segment.turns,
        last=segment.last,
    )
    return (marked("summary"), covered, segment.tokens)


def segment_cost(text: str, counter: TokenCounter) -> int:
    """What a segment of this text costs in a prompt."""
    return counter.count(segment_block(text)) + MESSAGE_COST


def _has_images(turn: Turn) -> bool:
    return any(a.data for m in turn.messages for a in m.attachments)


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
