"""The profile: a JSON dictionary of facts about the person, which the model writes by function calls, unnoticed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Literal

from core.conversation import Conversation, Turn
from core.draft import SHORT_FORMS, FactDraft, FactRules, Words
from core.errors import ToolError
from core.facts import Fact, Writer
from core.memory import extraction, summary
from core.memory.extraction import Proposed
from core.memory.memory import Compaction, Memory
from core.messages import Choice
from core.prompt import Prompt
from core.rendering import speaker
from core.tools import Tool, ToolContext, tool

FIELDS = (
    "name",
    "gender",
    "age",
    "birth_date",
    "city",
    "language",
    "time_zone",
    "habits",
    "interests",
    "hobbies",
)
RULES = """You keep a profile of the person you talk to and use it naturally: call them by name, adapt your style, \
never recite it. When they state something lasting about themselves ({fields}) or ask you to remember something, \
call update_memory beside your answer, without mentioning it. Store only what they say about themselves in their own \
words, never passwords, keys or card numbers, and nothing from quoted, forwarded or looked-up text."""

Method = Literal["auto", "tools", "schema", "off"]


@tool(silent=True)
async def update_memory(
    context: ToolContext,
    action: Literal["add", "change", "remove", "clear", "+", ".", "-", "_"],
    key: str = "",
    value: str | list[str] = "",
) -> str:
    """Write the profile of the person whose message you answer.

    add (+): set a key, or append one more item to it. change (.): replace what a key holds. remove (-): delete a key,
    or only the item given as value. clear (_): propose to forget everything; the person has to confirm.
    key: a short snake_case name, such as name, city, hobbies. value: short text, or a list of short texts.
    """
    name = SHORT_FORMS.get(action, action)
    facts = context.facts
    if name == "add":
        return facts.add(context.call, key, value)
    if name == "change":
        return facts.change(context.call, key, value)
    if name == "remove":
        return facts.remove(context.call, key, _one(value))
    context.choices.append(Choice("Forget everything about me", "/memory clear yes"))
    return "proposed: the person is asked to confirm that all facts are forgotten; nothing is removed yet"


def _one(value: str | list[str]) -> str:
    if isinstance(value, str):
        return value
    if len(value) > 1:
        raise ToolError("remove takes one item at a time")
    return value[0] if value else ""


class Profile(Memory):
    """Facts about the person who is answered, in the scope of the chat.

    `method` is how they are written: `tools` (function calls), `schema` (a constrained request after the answer),
    `off`, or `auto`: by tools where the model can call them (`calls_tools`), else by schema.
    """

    def __init__(
        self,
        fields: Sequence[str] = FIELDS,
        rules: FactRules = FactRules(),  # noqa: B008 -- frozen
        method: Method = "auto",
        calls_tools: Callable[[], bool] = lambda: True,
    ) -> None:
        self.fields = tuple(fields)
        self.limits = rules
        self._method: Method = method
        self._calls_tools = calls_tools

    @property
    def method(self) -> Method:
        """How facts are written now."""
        if self._method != "auto":
            return self._method
        return "tools" if self._calls_tools() else "schema"

    async def recall(self, conversation: Conversation, prompt: Prompt) -> None:
        """Put the facts before the new message, one a line, the oldest first and the pinned last."""
        if self.method == "tools" and self.tools(conversation):
            prompt.add("profile rules", RULES.format(fields=", ".join(self.fields)), place="system")
        if conversation.settings.memory != "off":
            prompt.add(self._label(prompt), _lines(conversation), origin=f"{conversation.person}, {conversation.scope}")

    def _label(self, prompt: Prompt) -> str:
        message = prompt.turn.message
        return "known facts about the person" if message.private else f"known facts about {speaker(message.name)}"

    def tools(self, conversation: Conversation) -> Sequence[Tool]:
        """Give `update_memory` where facts are written by tools and the person wants to be remembered."""
        wanted = self.method == "tools" and conversation.person is not None and conversation.settings.memory != "off"
        return (update_memory,) if wanted else ()

    def wants_extraction(self, turn: Turn) -> bool:
        """Say whether facts are written by schema and the turn has words of the person's own."""
        return self.method == "schema" and not turn.message.anonymous and bool(turn.own_words.strip())

    async def extract(self, turn: Turn, work: Compaction) -> None:
        """Take facts from the person's own words in a turn, once."""
        proposed = await extraction.propose(turn.own_words, self.fields, work.llm)
        await self._write(turn, proposed, work, "extraction")

    async def compact(self, conversation: Conversation, work: Compaction) -> None:
        """Take a second look, when a chat has gone quiet, for facts the model forgot to save: one request a person."""
        if work.idle and self.method == "tools":
            turns = [t for t in await _since_rest(conversation, work) if not t.message.anonymous]
            for person in {t.sender: None for t in turns}:
                await self._second_look([t for t in turns if t.sender == person], work)

    async def _second_look(self, turns: Sequence[Turn], work: Compaction) -> None:
        words = "\n".join(t.own_words for t in turns if t.own_words.strip())
        room = summary.input_budget(work.llm, 200)
        for piece in summary.pieces(words.splitlines() or [""], work.counter, room):
            proposed = await extraction.propose(piece, self.fields, work.llm)
            for turn in turns:
                found = [p for p in proposed if extraction.was_said(p.value, p.quote, turn.own_words)]
                await self._write(turn, found, work, "second look")

    async def _write(self, turn: Turn, proposed: Sequence[Proposed], work: Compaction, by: Writer) -> None:
        if not proposed:
            return
        known = await work.store.load(turn.chat, turn.sender, private=turn.message.private)
        if known.settings.memory != "off" and await work.store.turn(turn.id):
            draft = draft_for(known, turn, self.limits, work.clock.now(), by)
            extraction.write(draft, [p for p in proposed if _is_news(known, p, by)], by)
            since = replace(turn, epoch=known.epoch)  # an erasure from here on discards what is written
            await work.store.apply(turn.sender, known.scope, draft.changes, turn=since)


def _is_news(known: Conversation, proposed: Proposed, by: Writer) -> bool:
    """A second look only fills gaps: what was stored since then is newer than what it looks at."""
    return by != "second look" or proposed.key not in known.facts


def _lines(conversation: Conversation) -> Sequence[str]:
    facts = sorted(conversation.facts.by_key.values(), key=_age)
    return [json.dumps(f.key, ensure_ascii=False) + ": " + json.dumps(f.value, ensure_ascii=False) for f in facts]


def _age(fact: Fact) -> tuple[bool, str, int]:
    newest = max((i.source.day, i.source.turn or 0) for i in fact.items)
    return (fact.pinned, *newest)


async def _since_rest(conversation: Conversation, work: Compaction) -> list[Turn]:
    """The turns said since the last idle compaction, folded ones included; the latest 200 at most."""
    turns: list[Turn] = []
    since = conversation.rested_at
    for step in reversed(conversation.path):
        turns[:0] = [step] if isinstance(step, Turn) else await work.store.covered(step)
        if len(turns) >= 200 or (since is not None and turns and turns[0].at <= since):
            break
    return [t for t in turns if since is None or t.at > since]


def draft_for(
    conversation: Conversation, turn: Turn, rules: FactRules, now: datetime, by: Writer, zone: tzinfo | None = None
) -> FactDraft:
    """Open a working copy of a person's facts for what a turn says."""
    day = turn.at.astimezone(zone).date().isoformat() if zone else turn.at.date().isoformat()
    words = Words(str(turn.chat), turn.id, turn.own_words, _foreign(turn))
    return FactDraft(conversation.facts, rules, words, now, by, day)


def _foreign(turn: Turn) -> str:
    parts = [r.content for one in turn.rounds for r in one.results]
    for m in turn.messages:
        parts += [m.text] if m.forwarded else []
        parts += [m.quote.text] if m.quote else []
        parts += [a.text for a in m.attachments]
    return "\n".join(parts)
