"""The archive: search over all that was said in this chat, by the model, before an answer, and for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time, tzinfo

from core.conversation import Conversation, Turn
from core.embedding import Meaning
from core.errors import ToolError
from core.llm import LLM, TokenCounter
from core.memory.excerpts import excerpts
from core.memory.memory import Compaction, Memory
from core.memory.pointing import Pointing, pointing_back
from core.prompt import Prompt
from core.search.query import Query
from core.search.vectors import Asked
from core.store import ConversationStore
from core.tools import Tool, ToolContext
from core.translation import marked
from core.zones import zone_here

USE = """search_memory finds what was said earlier in this chat, also long ago and outside of what you see here. When \
asked about something of earlier that you do not see, search before you say that you don't know."""
NOTHING = "nothing was found; other words, or those of another language that is spoken here, may find it"
LIMIT, TOKENS = 10, 530
"""Turns that are found at most, and what they cost at most as they are shown, in tokens."""
FEW = 3
"""Turns below which what is found by words is filled up with the rest of the time pointed to."""


class Archive(Memory):
    """Finds turns by what was said in them: at most `limit` at once, which cost at most `tokens` in the prompt.

    Given their `meaning`, it finds what was said in other words too.
    """

    def __init__(self, meaning: Meaning | None = None, *, limit: int = LIMIT, tokens: int = TOKENS) -> None:
        self._meaning = meaning
        self.limit = limit
        self.tokens = tokens
        self._tool = Tool("search_memory", self.search_memory)

    def meet(self, llm: LLM) -> None:
        """Learn whether the model can search by itself."""
        self._llm = llm

    def stand_on(self, store: ConversationStore, counter: TokenCounter) -> None:
        """Learn where what was said is kept."""
        self._store, self._counter = store, counter

    async def recall(self, conversation: Conversation, prompt: Prompt) -> None:
        """Put what a message points back to before it, in the order it was said; what is shown anyway is left out."""
        if conversation.settings.memory == "off":
            return
        if self._llm.calls_tools:
            prompt.add(marked("archive rules"), USE, place="system")
        zone = zone_here(conversation)
        pointing = pointing_back(prompt.turn.own_words, prompt.turn.at, zone)
        if pointing is not None:
            found = await self._pointed_at(conversation, pointing, prompt.shown)
            room = min(self.tokens, max(prompt.room // 8, 0))
            lines = excerpts(found, pointing.text, prompt.counter, room, zone)
            prompt.cite(found)
            label, origin = marked("excerpts of earlier talk"), marked("archive of this chat")
            prompt.add(label, lines, place="excerpts", origin=origin)

    async def _pointed_at(self, here: Conversation, pointing: Pointing, shown: frozenset[int]) -> Sequence[Turn]:
        asked = await self._asked(pointing.text)
        query = Query(pointing.text, self.limit, shown, pointing.since, pointing.until, asked)
        found = list(await self._store.search(here.chat, query))
        if pointing.since is not None and len(found) < FEW:
            rest = replace(query, text="", asked=None, without=shown | {turn.id for turn in found})
            found += await self._store.search(here.chat, rest)
        if pointing.since is not None and not found:
            found += await self._store.search(here.chat, replace(query, since=None, until=None))
        return found[: self.limit]

    async def compact(self, conversation: Conversation, work: Compaction) -> None:
        """Make what was said fast to search, and its vectors."""
        await work.store.index(conversation.chat)
        if self._meaning is not None:
            await self._meaning.keep(work.store, conversation.chat)

    async def _asked(self, text: str) -> Asked | None:
        return await self._meaning.asked(text) if self._meaning is not None else None

    def tools(self, conversation: Conversation) -> Sequence[Tool]:
        """Give `search_memory`, unless the person wants nothing remembered."""
        return () if conversation.settings.memory == "off" else (self._tool,)

    async def search_memory(self, context: ToolContext, query: str, since: str = "", until: str = "") -> str:
        """Search what was said earlier in this chat.

        query: words that were said then, or a question. since, until: days such as 2026-03-31, if only what was said
        from one day to another matters.
        """
        zone = zone_here(context.conversation)
        first, last = _day(since, time.min, zone), _day(until, time.max, zone)
        shown = context.shown | {context.turn.id}
        wanted = Query(query, self.limit, shown, first, last, await self._asked(query))
        found = await self._store.search(context.conversation.chat, wanted)
        lines = excerpts(found, query, self._counter, self.tokens, zone)
        return "\n".join(lines) or NOTHING


def _day(text: str, at: time, zone: tzinfo) -> datetime | None:
    if not text.strip():
        return None
    try:
        return datetime.combine(date.fromisoformat(text.strip()[:10]), at, zone)
    except ValueError:
        raise ToolError(f"{text[:40]!r} is not a day; write it as 2026-03-31") from None
