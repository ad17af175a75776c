"""The contract of every memory: one way of remembering."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from core.clock import Clock
from core.conversation import Conversation, Turn
from core.facts import Change
from core.llm import LLM, TokenCounter
from core.memory import noting
from core.prompt import Prompt
from core.store import ConversationStore
from core.tools import Tool, ToolContext

Propose = Callable[[Turn, Sequence[Change]], Awaitable[None]]
"""Asks the person of a turn about changes of facts that are stored only when they agree."""


async def unasked(turn: Turn, changes: Sequence[Change]) -> None:
    """Ask nobody, where nobody can be asked."""


@dataclass(frozen=True)
class Compaction:
    """What a memory may use to compact: `budget` is what a prompt may cost in tokens.

    `idle` says that the chat has gone quiet, `low` that it is compacted to its low-water mark whether or not it has
    reached the high one. `propose` is for who wants to be asked before a fact is stored.
    """

    store: ConversationStore
    llm: LLM
    counter: TokenCounter
    clock: Clock
    budget: int
    idle: bool = False
    low: bool = False
    propose: Propose = unasked


class Memory:
    """One way of remembering.

    What it writes goes through the tools' `ToolContext.facts` or through `note`, or through the store while compacting;
    so export and erasure reach it. A memory that keeps data elsewhere can't be exported or erased.
    """

    is_history: bool = False
    """Whether this is a kind of history; a bot has exactly one."""
    rules: str = ""
    """What the model is told about this memory, in the system message."""

    def meet(self, llm: LLM) -> None:
        """Learn which model the bot uses, before anything else."""

    def stand_on(self, store: ConversationStore, counter: TokenCounter) -> None:
        """Learn where everything is kept, to look there, and how tokens are counted; before anything else.

        One that overrides this and keeps notes calls it as well.
        """
        self._store = store

    async def recall(self, conversation: Conversation, prompt: Prompt) -> None:
        """Put what is remembered into the prompt. Only reads."""

    def tools(self, conversation: Conversation) -> Sequence[Tool]:
        """Give the tools by which the model may write this memory."""
        return ()

    async def notes(self, conversation: Conversation) -> Mapping[str, str]:
        """Give what this memory has noted about the person it meets here, the oldest first; nothing with memory off."""
        return await noting.noted(self._store, self._name, conversation)

    async def note(self, context: ToolContext, key: str, text: str = "") -> str:
        """Keep a text under a key about the person who is answered; without text, what is there is taken away.

        Gives in words what was done. Raises ToolError where the same words could be no fact.
        """
        return await noting.note(self._store, self._name, context, key, text)

    @property
    def _name(self) -> str:
        return f"{type(self).__module__}:{type(self).__qualname__}"

    def due(self, conversation: Conversation, budget: int) -> bool:
        """Say whether this conversation should be compacted soon."""
        return False

    async def compact(self, conversation: Conversation, work: Compaction) -> None:
        """Shrink what is remembered of a conversation, without holding its lock; safe to be cut short or repeated.

        Raises LLMError or StaleBase when nothing could be done now; then nothing has changed, and it is tried again.
        """

    def wants_extraction(self, turn: Turn) -> bool:
        """Say whether an answered turn should be looked at once more by `extract`."""
        return False

    async def extract(self, turn: Turn, work: Compaction) -> None:
        """Take from an answered turn what should be kept of it. Raises LLMError to be tried again."""

    async def squeeze(self, conversation: Conversation, work: Compaction, excess: int) -> Conversation:
        """Free at least `excess` tokens of history at once, without a model, as far as it goes; give what is left.

        Called on the way to an answer, only when the prompt can't fit otherwise. The turn being answered is not part
        of the conversation given.
        """
        return conversation
