"""Entities: the names that were spoken of, each with the turns that did, recalled when it is named again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from core.conversation import Conversation, Turn
from core.llm import TokenCounter
from core.memory.excerpts import excerpts
from core.memory.memory import Compaction, Memory
from core.prompt import Prompt
from core.search.names import Find, names_in
from core.store import ConversationStore
from core.translation import marked
from core.zones import zone_here

AT_ONCE = 100
"""Turns in which names are looked for between two looks at the clock."""


class Entities(Memory):
    """Shows the newest turns about what a message names: at most `limit`, which cost at most `tokens`.

    `find` finds names in a text; it works while the chat is quiet or being compacted, never on the way to an answer.
    """

    def __init__(self, find: Find = names_in, *, limit: int = 6, tokens: int = 300) -> None:
        self.find = find
        self.limit = limit
        self.tokens = tokens

    def stand_on(self, store: ConversationStore, counter: TokenCounter) -> None:  # noqa: ARG002 -- as the contract names it
        """Learn where names are kept."""
        self._store = store

    async def recall(self, conversation: Conversation, prompt: Prompt) -> None:
        """Put what was said of the names in a message before it, the newest first; what is shown anyway is left out."""
        text = prompt.turn.own_words
        if conversation.settings.memory == "off" or not text or _is_all_shown(conversation, prompt):
            return
        found = await self._store.named(conversation.chat, text, limit=self.limit, without=prompt.shown)
        room = min(self.tokens, max(prompt.room // 12, 0))
        lines = excerpts(found, text, prompt.counter, room, zone_here(conversation))[::-1]
        prompt.cite(found)
        label, origin = marked("earlier talk about what is named"), marked("entities of this chat")
        prompt.add(label, lines, place="excerpts", origin=origin)

    async def compact(self, conversation: Conversation, work: Compaction) -> None:
        """Look for names in the turns in which nobody has looked yet."""
        while turns := await work.store.unnamed(conversation.chat, limit=AT_ONCE):
            names = {turn.id: await self._names(turn, work) for turn in turns}
            await work.store.name(conversation.chat, names)

    async def _names(self, turn: Turn, work: Compaction) -> Sequence[str]:
        if (await work.store.settings(turn.sender)).memory == "off":
            return ()
        texts = [message.text for message in turn.messages] + ([turn.answer.text] if turn.answer else [])
        return await asyncio.to_thread(self.find, "\n".join(texts))


def _is_all_shown(conversation: Conversation, prompt: Prompt) -> bool:
    return not conversation.segments and all(turn.id in prompt.shown for turn in conversation.turns)
