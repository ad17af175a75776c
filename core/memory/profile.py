"""The profile: a JSON dictionary of facts about the person, which the model writes by function calls, unnoticed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Literal

from core.conversation import Conversation, PersonSettings, State, Turn
from core.draft import SHORT_FORMS, FactDraft, FactRules, Words
from core.errors import StaleEpoch, ToolError
from core.facts import Fact, Writer
from core.llm import LLM
from core.memory import extraction, summary
from core.memory.extraction import Proposed
from core.memory.memory import Compaction, Memory
from core.messages import Choice, Person
from core.prompt import Prompt
from core.rendering import speaker
from core.tools import Tool, ToolContext, tool
from core.translation import marked, spoken

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
USE = """You keep a profile of the person you talk to and use it naturally: call them by name, adapt your style, \
never recite it."""
WRITE = """ When they state something lasting about themselves ({fields}) or ask you to remember something, \
call update_memory beside your answer, without mentioning it. Store only what they say about themselves in their own \
words, never passwords, keys or card numbers, and nothing from quoted, forwarded or looked-up text."""

_AS_JSON = json.JSONEncoder(ensure_ascii=False).encode
Method = Literal["auto", "tools", "schema", "form", "off"]


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
    context.choices.append(Choice(spoken("Forget all facts"), "/memory clear yes"))
    return "proposed: the person is asked to confirm that all facts are forgotten; nothing is removed yet"


def _one(value: str | list[str]) -> str:
    if isinstance(value, str):
        return value
    if len(value) != 1 or not value[0].strip():
        raise ToolError("remove takes one item at a time, or no value to remove the whole key")
    return value[0]


class Profile(Memory):
    """Facts about the person who is answered, in the scope of the chat.

    `method` is how they are written: `tools` (function calls), `schema` (a constrained request after the answer),
    `form` (the same for very small models), `off`, or `auto`: by tools where the model can call them (`calls_tools`),
    else by schema.
    """

    def __init__(
        self,
        fields: Sequence[str] = FIELDS,
        rules: FactRules = FactRules(),  # noqa: B008 -- frozen
        method: Method = "auto",
        calls_tools: Callable[[], bool] | None = None,
    ) -> None:
        self.fields = tuple(fields)
        self.limits = rules
        self._method: Method = method
        self._calls_tools = calls_tools
        self._use_and_write = USE + WRITE.format(fields=", ".join(self.fields))

    @property
    def method(self) -> Method:
        """How facts are written now."""
        if self._method != "auto":
            return self._method
        return "tools" if self._calls_tools is None or self._calls_tools() else "schema"

    def meet(self, llm: LLM) -> None:
        """Learn which model is used: whether it can call tools decides how facts are written."""
        self._calls_tools = self._calls_tools or (lambda: llm.calls_tools)

    async def recall(self, conversation: Conversation, prompt: Prompt) -> None:
        """Put the facts before the new message, one a line, the oldest first and the pinned last."""
        if conversation.person is None or conversation.settings.memory == "off":
            return
        prompt.add(marked("profile rules"), self._use_and_write if self.method == "tools" else USE, place="system")
        prompt.add(self._label(prompt), _lines(conversation), origin=_origin(conversation))

    def _label(self, prompt: Prompt) -> str:
        message = prompt.turn.message
        return (
            marked("known facts about the person") if message.private else f"known facts about {speaker(message.name)}"
        )

    def tools(self, conversation: Conversation) -> Sequence[Tool]:
        """Give `update_memory` where facts are written by tools and the person wants to be remembered."""
        wanted = self.method == "tools" and conversation.person is not None and conversation.settings.memory != "off"
        return (update_memory,) if wanted else ()

    def wants_extraction(self, turn: Turn) -> bool:
        """Say whether facts are written by schema and the turn has words of the person's own."""
        return self.method in ("schema", "form") and not turn.message.anonymous and bool(turn.own_words.strip())

    async def extract(self, turn: Turn, work: Compaction) -> None:
        """Take facts from the person's own words in a turn, once."""
        if (await work.store.settings(turn.sender)).may_learn(turn.at):
            if self.method == "form":
                await self._fill_in(turn, work)
                return
            proposed = await extraction.propose(turn.own_words, self.fields, work.llm)
            await self._write(turn, proposed, work, "extraction")

    async def _fill_in(self, turn: Turn, work: Compaction) -> None:
        """Let a very small model fill in a short form; it confuses too much to be let change what is known."""
        fields = [f for f in self.fields if f in extraction.FORM_FIELDS] or self.fields
        proposed = await extraction.propose(turn.own_words, fields, work.llm, as_form=True)
        known = (await work.store.load(turn.chat, turn.sender, private=turn.message.private)).facts
        fresh = [p for p in proposed if p.key not in known or p.key not in self.limits.single]
        await self._write(turn, fresh, work, "extraction")

    async def compact(self, conversation: Conversation, work: Compaction) -> None:
        """Take a second look, when a chat has gone quiet, for facts the model forgot to save: one request a person."""
        if work.idle and self.method == "tools":
            turns = [t for t in await _since_rest(conversation, work) if _was_told(t)]
            for person in {t.sender: None for t in turns}:
                await self._second_look(person, [t for t in turns if t.sender == person], work)

    async def _second_look(self, person: Person, turns: Sequence[Turn], work: Compaction) -> None:
        settings = await work.store.settings(person)
        turns = [t for t in turns if settings.may_learn(t.at)]
        if not turns or settings.memory == "ask":  # nobody is asked out of the blue
            return
        lines = [line for t in turns for line in t.own_words.splitlines()] or [""]
        found: set[str] = set()
        for piece in summary.pieces(lines, work.counter, summary.input_budget(work.llm, 200)):
            proposed = await extraction.propose(piece, self.fields, work.llm)
            for turn in turns:
                said = [p for p in proposed if extraction.was_said(p.value, p.quote, turn.own_words)]
                found |= await self._fill_gaps(turn, said, found, work)
        await self._looked_at(person, turns, work)

    async def _looked_at(self, person: Person, turns: Sequence[Turn], work: Compaction) -> None:
        """Note that what was said up to here has had its second look."""
        latest = max(turns, key=lambda turn: turn.at)

        def looked_at(settings: PersonSettings) -> PersonSettings:
            return replace(settings, since=max(latest.at, settings.since or latest.at))

        here = await work.store.load(latest.chat)
        with suppress(StaleEpoch):  # who was erased meanwhile is not known again for it
            await work.store.choose(person, looked_at, turn=replace(latest, epoch=here.epoch))

    async def _fill_gaps(self, turn: Turn, said: Sequence[Proposed], found: Set[str], work: Compaction) -> set[str]:
        """Write what is neither known nor was known before: that is newer, or was taken back; give the keys written."""
        if not said:
            return set()
        known = await work.store.load(turn.chat, turn.sender, private=turn.message.private)
        history = await work.store.changes(turn.sender, known.scope, limit=1000)
        taken = {*known.facts, *(change.key for change in history)} - found
        return await self._write(turn, [p for p in said if p.key not in taken], work, "second look")

    async def _write(self, turn: Turn, proposed: Sequence[Proposed], work: Compaction, by: Writer) -> set[str]:
        known = await work.store.load(turn.chat, turn.sender, private=turn.message.private)
        if not known.settings.may_learn(turn.at) or not await work.store.turn(turn.id):
            return set()
        draft = draft_for(known, turn, self.limits, work.clock.now(), by)
        extraction.write(draft, proposed, by)
        if draft.asking:
            await work.propose(turn, draft.changes)
            return set()
        since = replace(turn, epoch=known.epoch)  # an erasure from here on discards what is written
        await work.store.apply(turn.sender, known.scope, draft.changes, turn=since)
        return {change.key for change in draft.changes}


def _was_told(turn: Turn) -> bool:
    """Say whether a turn was said to the bot by somebody: what was only overheard in a group teaches it nothing."""
    return turn.state is not State.HEARD and not turn.message.anonymous and bool(turn.own_words.strip())


def _lines(conversation: Conversation) -> Sequence[str]:
    return [_line(fact) for fact in sorted(conversation.profile.by_key.values(), key=_age)]


def _origin(conversation: Conversation) -> str:
    others = [f"{place.person}, {place.scope}" for place in conversation.elsewhere]
    return "; ".join([f"{conversation.person}, {conversation.scope}", *others])


def _line(fact: Fact) -> str:
    text = _AS_JSON(fact.key) + ": " + _AS_JSON(fact.value)
    day = fact.items[0].source.day
    return f"{text} (told on {day})" if fact.key == "age" and day else text  # an age grows, a birth date does not


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
    words = Words(str(turn.chat), turn.id, turn.own_words, _foreign(turn), lambda: _in_sight(conversation, turn))
    wanted = conversation.person is not None and conversation.settings.memory != "off"
    closed = "" if wanted else "NOT saved: facts about this person are not kept"
    asking = conversation.settings.memory == "ask"
    elsewhere = frozenset(conversation.profile) - frozenset(conversation.facts)
    return FactDraft(conversation.facts, rules, words, now, by, day, closed, asking, elsewhere)


def _in_sight(conversation: Conversation, turn: Turn) -> tuple[str, str]:
    """What the sender said themselves in the raw turns, and what others said there or was only passed on."""
    own = [t.own_words for t in conversation.turns if t.sender == turn.sender]
    foreign = [_foreign(t) if t.sender == turn.sender else t.own_words for t in conversation.turns]
    return "\n".join(own), "\n".join(foreign)


def _foreign(turn: Turn) -> str:
    """What passed by in a turn: results of tools, forwards, quotes, files."""
    parts = [
        result.content
        for one in turn.rounds
        for call, result in zip(one.calls, one.results, strict=False)
        if call.name != update_memory.name
    ]
    for m in turn.messages:
        parts += [m.text] if m.forwarded else []
        parts += [m.quote.text] if m.quote else []
        parts += [a.text for a in m.attachments]
    return "\n".join(parts)
