"""Looking at all that is kept: lists, counts, exports, a search for what was erased."""
# ruff: noqa: D102 - what each method promises is said once, at the port

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from pydantic_core import to_jsonable_python

from adapters.inmemory.usage import Usage
from core.conversation import OPEN, PersonSettings, State, Turn
from core.kept import chain, export_of, latest, storable, tells_the_same
from core.messages import ChatKey, Person
from core.records import ChatInfo, Day, Stats
from core.search.postings import Entry, Line, posted
from core.search.query import Query, found, turn_terms
from core.search.vectors import Vector


class Seeing(Usage):
    """Only reads."""

    async def chats(self) -> Sequence[ChatInfo]:
        await asyncio.sleep(0)
        found = [
            ChatInfo(key, c.private, len(self._turns_of(key)), len(self._segments_of(key)), c.active_at)
            for key, c in self._chats.items()
            if c.active_at
        ]
        return sorted(sorted(found, key=lambda i: str(i.chat)), key=lambda i: i.active_at, reverse=True)

    async def heard(self, platform: str, *, limit: int) -> Mapping[ChatKey, datetime]:
        await asyncio.sleep(0)
        found = {chat: kept.active_at for chat, kept in self._chats.items() if kept.active_at}
        received: dict[ChatKey, datetime] = {}
        for (chat, _), one in self._inbox.items():
            received[chat] = max(one.at, received.get(chat, one.at))
        return latest({**found, **received}, platform, limit)

    async def search(self, chat: ChatKey, query: Query) -> Sequence[Turn]:
        await asyncio.sleep(0)
        chat = storable(chat)
        told = posted(self._entry(turn) for turn in self._turns_of(chat) if _is_told(turn))
        head = self._chats[chat].head if chat in self._chats else None
        line = Line([told], head, lambda turn: self._turns[turn].parent)
        model = query.asked.model if query.asked else None
        vectors = {turn: self._vectors[turn][1] for turn in line.turns if self._has_vector(turn, model)}
        hits = found(line, query, self._terms, vectors)
        return [self._turns[turn] for turn in hits if not self._turns[turn].incognito]

    def _entry(self, turn: Turn) -> Entry:
        return Entry(turn.id, turn.parent, turn.at.timestamp(), turn_terms(turn, self._terms))

    async def index(self, chat: ChatKey) -> None:  # noqa: ARG002 -- as the port names it
        await asyncio.sleep(0)

    def _has_vector(self, turn: int, model: str | None) -> bool:
        return turn in self._vectors and self._vectors[turn][0] == model

    async def unembedded(self, chat: ChatKey, model: str, *, limit: int) -> Sequence[Turn]:
        await asyncio.sleep(0)
        told = [turn for turn in self._turns_of(storable(chat)) if _is_told(turn) and not turn.incognito]
        return [t for t in sorted(told, key=lambda t: -t.id) if not self._has_vector(t.id, model)][:limit]

    async def embed(self, chat: ChatKey, model: str, vectors: Sequence[tuple[Turn, Vector]]) -> None:
        await asyncio.sleep(0)
        for turn, vector in vectors:
            kept = self._turns.get(turn.id)
            if kept and kept.chat == storable(chat) and tells_the_same(kept, turn):
                self._vectors[turn.id] = (storable(model), vector)

    async def unnamed(self, chat: ChatKey, *, limit: int) -> Sequence[Turn]:
        await asyncio.sleep(0)
        told = filter(_is_told, self._turns_of(storable(chat)))
        return [t for t in sorted(told, key=lambda t: t.id) if t.id not in self._names][:limit]

    async def name(self, chat: ChatKey, names: Mapping[int, Sequence[str]]) -> None:
        await asyncio.sleep(0)
        for turn, spoken_of in names.items():
            if turn in self._turns and self._turns[turn].chat == storable(chat):
                self._names[turn] = {self._terms.key(storable(name)): storable(name) for name in spoken_of}

    async def named(self, chat: ChatKey, text: str, *, limit: int, without: Collection[int]) -> Sequence[Turn]:
        await asyncio.sleep(0)
        chat, parts = storable(chat), self._terms.parts(storable(text))
        head = self._chats[chat].head if chat in self._chats else None
        turns = [self._turns[turn] for turn in chain(self._parents(), head, None) if turn not in without]
        return [t for t in turns if parts & self._names.get(t.id, {}).keys() and not t.incognito][:limit]

    async def stats(self) -> Stats:
        await asyncio.sleep(0)
        facts = {key: found for key, found in self._facts.items() if found}
        return Stats(
            chats=sum(c.active_at is not None for c in self._chats.values()),
            people=len({t.sender for t in self._turns.values()} | {person for person, _ in facts}),
            turns=len(self._turns),
            open_turns=sum(t.state in OPEN for t in self._turns.values()),
            segments=len(self._segments),
            facts=sum(map(len, facts.values())),
            jobs=len(self._jobs),
        )

    async def days(self, until: datetime, *, count: int) -> Sequence[Day]:
        await asyncio.sleep(0)
        last = until.astimezone(UTC).date()
        dates = [last - timedelta(days=ago) for ago in reversed(range(count))]
        return [_day(day, [t for t in self._turns.values() if t.at.astimezone(UTC).date() == day]) for day in dates]

    async def export(self, person: Person) -> dict[str, Any]:
        await asyncio.sleep(0)
        person = storable(person)
        return export_of(
            person,
            self._settings.get(person, PersonSettings()),
            {
                s: list(facts.values())
                for (p, s), facts in sorted(self._facts.items(), key=str)
                if p == person and facts
            },
            {s: log for (p, s), log in sorted(self._changes.items(), key=str) if p == person and log},
            {
                s: list(notes.values())
                for (p, s), notes in sorted(self._notes.items(), key=str)
                if p == person and notes
            },
            [r.message for r in self._inbox.values() if r.message and r.message.sender == person],
            [self._exported(key, person) for key in sorted(self._spoke_in(person), key=str)],
            self._usage_of(person),
        )

    def _exported(self, key: ChatKey, person: Person) -> dict[str, Any]:
        private = self._chat(key).private
        turns = [t for t in self._turns_of(key) if private or t.sender == person]
        segments = self._segments_of(key) if private else []
        chat = self._chat(key)
        place = {"head": chat.head, "asides": chat.asides}
        entities: dict[str, list[int]] = {}
        for turn in turns:
            for name in self._names.get(turn.id, {}).values():
                entities.setdefault(name, []).append(turn.id)
        return {
            "chat": str(key),
            "private": private,
            **place,
            "turns": turns,
            "segments": segments,
            "entities": entities,
        }

    async def holds(self, text: str) -> Sequence[str]:
        await asyncio.sleep(0)
        wanted = json.dumps(storable(text), ensure_ascii=False)[1:-1]
        return sorted(name for name, rows in self._tables().items() if wanted and wanted in _written(rows))

    async def remains(self, text: str) -> Sequence[str]:  # noqa: ARG002 -- there are no files
        await asyncio.sleep(0)
        return []

    def _tables(self) -> dict[str, Any]:
        return {
            "allow": list(self._allow.items()),
            "audit": self._audit,
            "block": list(self._block.items()),
            "button": list(self._buttons.items()),
            "change": list(self._changes.items()),
            "chat": list(map(str, self._chats)),
            "entity": list(self._names.values()),
            "vector": [model for model, _ in self._vectors.values()],
            "fact": list(self._facts.items()),
            "inbox": [(str(chat), key, r.message) for (chat, key), r in self._inbox.items()],
            "job": [queued.job for queued in self._jobs.values()],
            "link": list(self._links.items()),
            "link_code": list(self._link_codes.items()),
            "wrong_code": self._wrong_codes,
            "move": [(str(old), str(new)) for old, new in self._moves.items()],
            "note": list(self._notes.items()),
            "pairing": list(self._pairings.items()),
            "person": list(self._settings.items()),
            "segment": list(self._segments.values()),
            "usage": self._usage,
            "turn": list(self._turns.values()),
        }


def _day(day: date, turns: Sequence[Turn]) -> Day:
    return Day(
        day,
        len(turns),
        sum(t.state in (State.ANSWERED, State.DELIVERED) for t in turns),
        sum(t.state is State.FAILED and t.failure not in ("stopped", "budget") for t in turns),
        len({t.sender for t in turns}),
        sum(t.tokens for t in turns),
    )


def _written(rows: Any) -> str:
    return json.dumps(to_jsonable_python(rows, bytes_mode="base64"), ensure_ascii=False)


def _is_told(turn: Turn) -> bool:
    """Say whether a turn is no longer open, or has an answer."""
    return turn.state is not State.RECEIVED or turn.answer is not None
