"""Another history for some chats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.conversation import Conversation
from core.llm import LLM, TokenCounter
from core.memory.memory import Compaction, Memory
from core.messages import ChatKey
from core.prompt import Prompt
from core.store import ConversationStore
from core.tools import Tool


class PerChat(Memory):
    """Keeps the history of some chats in another way than that of the others.

    A chat given without a topic stands for all of its topics that are not given themselves.
    """

    is_history = True

    def __init__(self, usual: Memory, others: Mapping[ChatKey, Memory]) -> None:
        self.usual = usual
        self.others = others

    def of(self, chat: ChatKey) -> Memory:
        """Give the history of a chat."""
        return self.others.get(chat) or self.others.get(ChatKey(chat.platform, chat.chat)) or self.usual

    def meet(self, llm: LLM) -> None:
        """Let each history know the model."""
        for memory in (self.usual, *self.others.values()):
            memory.meet(llm)

    def stand_on(self, store: ConversationStore, counter: TokenCounter) -> None:
        """Let each history know where everything is kept."""
        for memory in (self.usual, *self.others.values()):
            memory.stand_on(store, counter)

    async def recall(self, conversation: Conversation, prompt: Prompt) -> None:
        """Let the history of this chat recall; what it tells the model comes with it."""
        memory = self.of(conversation.chat)
        prompt.add(f"{type(memory).__name__} rules", memory.rules, place="system")
        await memory.recall(conversation, prompt)

    def tools(self, conversation: Conversation) -> Sequence[Tool]:
        """Give the tools of the history of this chat."""
        return self.of(conversation.chat).tools(conversation)

    def due(self, conversation: Conversation, budget: int) -> bool:
        """Say whether the history of this chat is due."""
        return self.of(conversation.chat).due(conversation, budget)

    async def compact(self, conversation: Conversation, work: Compaction) -> None:
        """Let the history of this chat shrink."""
        await self.of(conversation.chat).compact(conversation, work)

    async def squeeze(self, conversation: Conversation, work: Compaction, excess: int) -> Conversation:
        """Let the history of this chat free what is too much."""
        return await self.of(conversation.chat).squeeze(conversation, work, excess)
