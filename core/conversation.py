"""All that is remembered of one chat, as it is loaded for a turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

from core.facts import Facts
from core.llm import Finish, PromptMessage, ToolCall
from core.messages import ChatKey, Message, Person
from core.rendering import bot_messages, person_message, segment_block


class State(StrEnum):
    """How far a turn has come. `heard` is a group's talk that needs no answer; `failed` keeps what was said."""

    HEARD = "heard"
    RECEIVED = "received"
    ANSWERED = "answered"
    DELIVERED = "delivered"
    FAILED = "failed"


OPEN = (State.RECEIVED, State.ANSWERED)
WAITS = "waits"
"""The `failure` of a turn that is still to be answered, once the model is back."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back for one call."""

    call_id: str
    content: str


@dataclass(frozen=True, slots=True)
class ToolRound:
    """Calls the model made in one go, each with its result, in the same order. `text` is what it said beside them."""

    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the bot said. `finish` other than `stop` says that it is not whole; `model` is who wrote it."""

    text: str
    finish: Finish = "stop"
    model: str = ""


@dataclass(frozen=True)
class Turn:
    """One exchange: the message(s) of one sender, tool rounds, the answer. It is stored and trimmed whole.

    `tokens` is what the turn costs in a prompt. `chunk` counts the chunks of the answer already delivered,
    `preview` is the platform's id of a begun preview. `failure` says in a word why a turn failed, or that its answer
    `waits` for the model, which its person has been told.
    `epoch` is the chat's epoch when the turn began. One that lies `inside` its parent begins an aside there; any other
    follows it. `retry_of` is the turn that said the same and was answered first, None when this is it.
    """

    id: int
    parent: int | None
    chat: ChatKey
    state: State
    messages: tuple[Message, ...]
    rounds: tuple[ToolRound, ...] = ()
    answer: Answer | None = None
    tokens: int = 0
    chunk: int = 0
    preview: str = ""
    failure: str = ""
    epoch: int = 0
    at: datetime = field(default_factory=lambda: datetime.fromtimestamp(0, UTC))
    inside: bool = False
    retry_of: int | None = None

    @property
    def last(self) -> int:
        """The turn that this step of a path ends on: itself."""
        return self.id

    @property
    def before(self) -> int | None:
        """The turn that this step of a path comes after."""
        return self.parent

    @property
    def sender(self) -> Person:
        """Whose turn it is."""
        return self.messages[0].sender

    @property
    def message(self) -> Message:
        """The first message; a turn always has one."""
        return self.messages[0]

    @property
    def incognito(self) -> bool:
        """Whether nothing of it is kept once it is answered."""
        return self.messages[0].incognito

    @property
    def waits(self) -> bool:
        """Whether it could not be answered yet, and will be."""
        return self.failure == WAITS and self.state is State.RECEIVED

    @property
    def own_words(self) -> str:
        """What the sender said themselves in this turn."""
        return "\n".join(m.own_words for m in self.messages if m.own_words)

    def changed(self, **changes: Any) -> Turn:
        """Give the turn with some values changed, as `dataclasses.replace` does in five times the time.

        What was said keeps its rendering when it is not changed itself.
        """
        values = dict(self.__dict__)
        for rendering in ("replied", "written") if "messages" not in changes else ("asked", "replied", "written"):
            values.pop(rendering, None)
        fresh = object.__new__(Turn)
        fresh.__dict__.update(values, **changes)
        return fresh

    @cached_property
    def asked(self) -> PromptMessage:
        """What was said, as a later prompt shows it: images are placeholders."""
        return _without_images(person_message(self))

    @cached_property
    def replied(self) -> Sequence[PromptMessage]:
        """The tool rounds and the answer, as a later prompt shows them."""
        return bot_messages(self)

    @cached_property
    def written(self) -> tuple[PromptMessage, ...]:
        """The whole turn, as a later prompt shows it."""
        return (_without_images(person_message(self)), *bot_messages(self))  # not kept twice


def _without_images(message: PromptMessage) -> PromptMessage:
    return replace(message, images=()) if message.images else message


MadeBy = Literal["model", "extract", "aside"]


@dataclass(frozen=True)
class Segment:
    """The gist of a contiguous range of turns: the one after `before` up to and including `last`.

    `before` is the parent of the first turn covered, None when that is a root. `made_by` is `extract` for a segment
    made without a model, to be redone, and `aside` for the one line that is kept of an aside. `turns` counts the turns
    covered. A segment ending on a turn is a checkpoint on it: walking back from the head, it stands for its range.
    """

    id: int
    before: int | None
    last: int
    text: str
    tokens: int
    turns: int
    made_by: MadeBy = "model"

    @cached_property
    def written(self) -> tuple[PromptMessage, ...]:
        """The segment as a prompt shows it."""
        return (PromptMessage("user", segment_block(self.text)),)


@dataclass(frozen=True, slots=True)
class PersonSettings:
    """What a person chose about their memory; `zone` is an IANA time zone name.

    With `share` facts from private may be used in groups, and those of groups in private.
    Facts are learned only from what was said after `since`: what came before was said with memory off, or has been
    forgotten on purpose. While `incognito`, nothing they say is kept once it is answered.
    """

    memory: Literal["on", "ask", "off"] = "on"
    language: str = ""
    zone: str = ""
    since: datetime | None = None
    incognito: bool = False
    share: bool = False

    def may_learn(self, at: datetime) -> bool:
        """Say whether facts may be learned from what was said at a time."""
        return self.memory != "off" and (self.since is None or at > self.since)


Step = Segment | Turn


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Facts about the asking person that are kept elsewhere and may be used here as well."""

    person: Person
    scope: str
    facts: Facts


@dataclass(frozen=True)
class Conversation:
    """A snapshot of one chat as one person meets it.

    `path` runs from the root to the head: segments where turns are folded, raw turns where they are not.
    Every turn from root to head is in exactly one of its steps. `facts` are the asking person's in this scope
    (`person` None: nobody's); `elsewhere` is what else of them may be used, and `together` all of it (None: `facts`
    alone). `edition` rises whenever something already stored is edited or erased.
    `asides` are the turns that the open asides were begun at, the outermost first (None: before the first turn).
    `rested_at` is when what was last said before the last idle compaction was said. In an `incognito` one nothing is
    remembered, and nothing of it may be stored.
    """

    chat: ChatKey
    path: tuple[Step, ...] = ()
    head: int | None = None
    epoch: int = 0
    edition: int = 0
    private: bool = True
    person: Person | None = None
    scope: str = "private"
    facts: Facts = field(default_factory=Facts)
    settings: PersonSettings = field(default_factory=PersonSettings)
    asides: tuple[int | None, ...] = ()
    rested_at: datetime | None = None
    incognito: bool = False
    elsewhere: tuple[Elsewhere, ...] = ()
    together: Facts | None = None

    @cached_property
    def turns(self) -> Sequence[Turn]:
        """The raw turns, oldest first."""
        return [step for step in self.path if isinstance(step, Turn)]

    @cached_property
    def segments(self) -> Sequence[Segment]:
        """The segments on the path, oldest first."""
        return [step for step in self.path if isinstance(step, Segment)]

    @property
    def profile(self) -> Facts:
        """The asking person's facts as a dictionary, wherever they are kept: key to text or list of texts."""
        return self.facts if self.together is None else self.together

    def without(self, turn_id: int) -> Conversation:
        """The same snapshot without one raw turn (the one being answered)."""
        if self.path and _is_turn(self.path[-1], turn_id):
            return self._with_path(self.path[:-1])
        return self._with_path(tuple(s for s in self.path if not _is_turn(s, turn_id)))

    def _with_path(self, path: tuple[Step, ...]) -> Conversation:
        fresh = object.__new__(Conversation)
        fresh.__dict__.update(self.__dict__, path=path)
        for derived in ("turns", "segments"):
            fresh.__dict__.pop(derived, None)
        return fresh


def _is_turn(step: Step, turn_id: int) -> bool:
    return isinstance(step, Turn) and step.id == turn_id
