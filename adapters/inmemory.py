"""The in-memory store: everything a database would keep, gone when the process ends."""
# ruff: noqa: D102 - what each method promises is said once, at the port

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from pydantic_core import to_jsonable_python

from core.conversation import OPEN, Conversation, PersonSettings, Segment, State, Step, Turn
from core.errors import StaleBase, StaleEpoch
from core.facts import Change, Fact, Facts
from core.kept import (
    BUTTON_DAYS,
    MOST_PAIRINGS,
    Cut,
    Gone,
    bare,
    chain,
    covering,
    cut,
    destination,
    export_of,
    joined,
    latest,
    merged,
    moved,
    resourced,
    retold,
    storable,
    tells,
    unsaid,
    withdrawn,
)
from core.messages import PRIVATE, ChatKey, Message, Person
from core.store import AuditEntry, ChatInfo, Job, Receipt, Stats


@dataclass
class _Received:
    """An inbox entry: waiting while it has its message, taken while it has a turn, else the bare key."""

    at: datetime
    message: Message | None
    turn: int | None = None


@dataclass
class _Chat:
    private: bool = True
    head: int | None = None
    epoch: int = 0
    edition: int = 0
    active_at: datetime | None = None
    rested: bool = True


@dataclass
class _Queued:
    job: Job
    owner: str = ""
    until: datetime | None = None


class InMemoryStore:
    """A ConversationStore in plain dictionaries. It yields once in every method, so that races show."""

    def __init__(self) -> None:
        self._inbox: dict[tuple[ChatKey, str], _Received] = {}
        self._chats: dict[ChatKey, _Chat] = {}
        self._turns: dict[int, Turn] = {}
        self._segments: dict[int, tuple[ChatKey, Segment]] = {}
        self._facts: dict[tuple[Person, str], dict[str, Fact]] = {}
        self._changes: dict[tuple[Person, str], list[Change]] = {}
        self._settings: dict[Person, PersonSettings] = {}
        self._jobs: dict[tuple[str, str], _Queued] = {}
        self._audit: list[AuditEntry] = []
        self._allow: dict[str, tuple[str, datetime]] = {}
        self._buttons: dict[int, tuple[str, Person, datetime]] = {}
        self._block: dict[str, tuple[str, datetime]] = {}
        self._pairings: dict[Person, tuple[str, datetime]] = {}
        self._last_id = 0

    async def receive(self, message: Message, *, keep: bool = True) -> bool:
        await asyncio.sleep(0)
        message = storable(message)
        key = (message.chat, message.id)
        if key in self._inbox:
            return False
        self._inbox[key] = _Received(message.sent_at, message if keep else None)
        return True

    async def waiting(self) -> Sequence[Message]:
        await asyncio.sleep(0)
        return [r.message for r in self._inbox.values() if r.message]

    async def begin(self, messages: Sequence[Message], *, state: State, tokens: int, at: datetime) -> Turn:
        await asyncio.sleep(0)
        return self._begin(storable(tuple(messages)), state, tokens, at)

    async def load(self, chat: ChatKey, person: Person | None = None, *, private: bool = True) -> Conversation:
        await asyncio.sleep(0)
        return self._load(storable(chat), storable(person), private)

    async def open(self, messages: Sequence[Message], *, tokens: int, at: datetime) -> tuple[Conversation, Turn]:
        await asyncio.sleep(0)
        turn = self._begin(storable(tuple(messages)), State.RECEIVED, tokens, at)
        return self._load(turn.chat, turn.sender, turn.message.private), turn

    def _begin(self, messages: tuple[Message, ...], state: State, tokens: int, at: datetime) -> Turn:
        received = [self._inbox.get((m.chat, m.id)) for m in messages]
        said = tuple(r.message for r in received if r and r.message)
        if len(said) < len(messages):
            raise StaleEpoch("A message no longer waits; it was taken by another turn or erased.")
        key = said[0].chat
        chat = self._chat(key)
        said = said if state is State.RECEIVED else tuple(map(bare, said))
        turn = Turn(self._next_id(), chat.head, key, state, said, tokens=tokens, epoch=chat.epoch, at=at)
        self._turns[turn.id] = turn
        chat.head, chat.private, chat.rested = turn.id, said[0].private, False
        chat.active_at = max(at, chat.active_at or at)
        for entry in received:
            if entry:
                entry.message, entry.turn = None, turn.id
        return turn

    def _load(self, key: ChatKey, person: Person | None, private: bool) -> Conversation:
        chat = self._chats.get(key, _Chat(private))
        private = private if chat.active_at is None else chat.private
        scope = PRIVATE if private else key.scope
        conversation = Conversation(
            key, tuple(self._path(chat.head)), chat.head, chat.epoch, chat.edition, private, person, scope
        )
        if person is None:
            return conversation
        facts = Facts(dict(self._facts.get((person, scope), {})))
        return replace(conversation, facts=facts, settings=self._settings.get(person, PersonSettings()))

    def _path(self, last: int | None, before: int | None = None) -> list[Step]:
        steps: list[Step] = []
        while last is not None and last != before:
            step = self._checkpoint(last) or self._turns[last]
            steps.append(step)
            last = step.before if isinstance(step, Segment) else step.parent
        return steps[::-1]

    def _checkpoint(self, turn: int) -> Segment | None:
        return max((s for _, s in self._segments.values() if s.last == turn), key=lambda s: s.id, default=None)

    def _chat(self, key: ChatKey) -> _Chat:
        return self._chats.setdefault(key, _Chat())

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    async def save(self, turn: Turn, *, jobs: Sequence[Job] = ()) -> None:
        await asyncio.sleep(0)
        stored = self._turns.get(turn.id)
        if stored is None or self._chat(stored.chat).epoch != turn.epoch:
            raise StaleEpoch("The turn is no longer wanted; its chat was stopped or cleared.")
        self._turns[turn.id] = replace(
            stored,
            state=turn.state,
            messages=stored.messages if turn.state is State.RECEIVED else tuple(map(bare, stored.messages)),
            rounds=storable(turn.rounds),
            answer=storable(turn.answer),
            tokens=turn.tokens,
            chunk=turn.chunk,
            preview=storable(turn.preview),
            failure=storable(turn.failure),
        )
        for job in jobs:
            self._enqueue(job)

    async def progress(self, turn_id: int, *, chunk: int, preview: str, state: State) -> None:
        await asyncio.sleep(0)
        if turn := self._turns.get(turn_id):
            self._turns[turn_id] = replace(turn, chunk=chunk, preview=storable(preview), state=state)

    async def turn(self, turn_id: int) -> Turn | None:
        await asyncio.sleep(0)
        return self._turns.get(turn_id)

    async def open_turns(self) -> Sequence[Turn]:
        await asyncio.sleep(0)
        return [t for t in self._turns.values() if t.state in OPEN]

    async def covered(self, segment: Segment) -> Sequence[Turn]:
        await asyncio.sleep(0)
        if segment.id not in self._segments:
            return []
        _, stored = self._segments[segment.id]
        return [self._turns[t] for t in chain(self._parents(), stored.last, stored.before)][::-1]

    def _parents(self) -> dict[int, int | None]:
        return {t.id: t.parent for t in self._turns.values()}

    async def raise_epoch(self, chat: ChatKey) -> int:
        await asyncio.sleep(0)
        kept = self._chat(storable(chat))
        kept.epoch += 1
        return kept.epoch

    async def edit(self, chat: ChatKey, message_id: str, text: str) -> bool:
        await asyncio.sleep(0)
        chat, message_id, text = storable((chat, message_id, text))
        received = self._inbox.get((chat, message_id))
        if received and received.message:
            received.message = replace(received.message, text=text)
            return True
        holding = [t for t in self._turns.values() if t.chat == chat and any(m.id == message_id for m in t.messages)]
        for turn in holding:
            self._reword(turn, message_id, text)
        return bool(holding)

    async def said(self, chat: ChatKey, message_id: str) -> Message | None:
        await asyncio.sleep(0)
        chat, message_id = storable((chat, message_id))
        received = self._inbox.get((chat, message_id))
        if received and received.message:
            return received.message
        return next((m for t in self._turns.values() if t.chat == chat for m in t.messages if m.id == message_id), None)

    def _reword(self, turn: Turn, message_id: str, text: str) -> None:
        messages = tuple(replace(m, text=text) if m.id == message_id else m for m in turn.messages)
        if messages == turn.messages:
            return
        edited = self._turns[turn.id] = replace(turn, messages=messages)
        self._drop_segments(covering({turn.id}, self._parents(), self._segments_of(turn.chat)))
        self._withdraw(unsaid(edited))
        self._chat(turn.chat).edition += 1

    async def move_chat(self, old: ChatKey, new: ChatKey) -> None:
        await asyncio.sleep(0)
        old, new = storable((old, new))
        known = {old, *self._chats, *(chat for chat, _ in self._inbox)}
        to = {chat: there for chat in known if (there := destination(chat, old, new))}
        for chat, there in to.items():
            self._move_turns(chat, there)
            self._move_waiting(chat, there)
        names = {str(chat): str(there) for chat, there in to.items()}
        self._move_jobs(names)
        self._move_facts(str(old), new.scope, names)
        for entries in (self._allow, self._block):
            if str(old) in entries:
                entries.setdefault(str(new), entries[str(old)])

    def _move_turns(self, old: ChatKey, new: ChatKey) -> None:
        turns, before, there = self._turns_of(old), self._chat(old), self._chat(new)
        if not turns:
            return
        segments = [*self._segments_of(old), *self._segments_of(new)]
        doing = joined(before.head, there.head, self._parents(), segments)
        for turn in turns:
            messages = tuple(moved(m, new) for m in turn.messages)
            self._turns[turn.id] = replace(turn, chat=new, messages=messages, preview="")
        self._segments |= {s.id: (new, s) for s in self._segments_of(old)}
        self._mend(doing)
        epoch, edition = max(before.epoch, there.epoch) + 1, max(before.edition, there.edition) + 1
        private = there.private if there.active_at else before.private
        active_at = max(at for at in (before.active_at, there.active_at) if at)
        rested = before.rested and there.rested
        self._chats[new] = _Chat(private, doing.head, epoch, edition, active_at, rested)
        self._chats[old] = _Chat(before.private, None, epoch, edition)

    def _move_waiting(self, old: ChatKey, new: ChatKey) -> None:
        for (chat, _), received in list(self._inbox.items()):
            if chat == old and received.message:
                message = moved(received.message, new)
                self._inbox.setdefault((new, message.id), _Received(received.at, message))
            if chat == old:
                received.message = received.turn = None

    def _move_jobs(self, names: Mapping[str, str]) -> None:
        for (kind, key), queued in list(self._jobs.items()):
            subject = queued.job.subject
            if subject in names:
                del self._jobs[kind, key]
                self._enqueue(replace(queued.job, key=names[subject] + key.removeprefix(subject)))

    def _move_facts(self, old: str, new: str, names: Mapping[str, str]) -> None:
        for owner in list(self._changes):
            there = (owner[0], new if owner[1] == old else owner[1])
            log = [retold(change, names) for change in self._changes.pop(owner)]
            self._changes[there] = sorted([*self._changes.get(there, []), *log], key=lambda c: c.id)
        for owner in list(self._facts):
            there = (owner[0], new if owner[1] == old else owner[1])
            known = {key: resourced(fact, names) for key, fact in self._facts.pop(owner).items()}
            kept = self._facts.get(there, {})
            self._facts[there] = kept | {key: merged(fact, kept.get(key)) for key, fact in known.items()}

    async def add_segment(self, chat: ChatKey, segment: Segment, *, covers: Sequence[Step], edition: int) -> Segment:
        await asyncio.sleep(0)
        chat = storable(chat)
        last = self._turns.get(segment.last)
        if last is None or last.chat != chat or self._chat(chat).edition != edition:
            raise StaleBase("The chat was edited since the summary began.")
        steps = self._path(segment.last, segment.before)
        if not steps or _names(steps) != _names(covers) or _start(steps[0]) != segment.before:
            raise StaleBase("The chat was folded otherwise since the summary began.")
        turns = sum(s.turns if isinstance(s, Segment) else 1 for s in steps)
        stored = replace(storable(segment), id=self._next_id(), turns=turns)
        self._segments[stored.id] = (chat, stored)
        return stored

    async def apply(self, person: Person, scope: str, changes: Sequence[Change], *, turn: Turn | None = None) -> None:
        await asyncio.sleep(0)
        person, scope, changes = storable((person, scope, tuple(changes)))
        if turn is not None and self._chat(storable(turn.chat)).epoch != turn.epoch:
            raise StaleEpoch("The chat was stopped or cleared since this was learned.")
        for change in changes:
            if not self._applied(person, scope, change):
                self._apply(person, scope, change)

    def _applied(self, person: Person, scope: str, change: Change) -> bool:
        where = self._changes if change.turn is not None else {(person, scope): self._changes.get((person, scope), [])}
        return any((c.turn, c.call) == (change.turn, change.call) for log in where.values() for c in log)

    def _apply(self, person: Person, scope: str, change: Change) -> None:
        self._changes.setdefault((person, scope), []).append(replace(change, id=self._next_id()))
        facts = self._facts.setdefault((person, scope), {})
        if change.after is None:
            facts.pop(change.key, None)
        else:
            facts[change.key] = change.after

    async def changes(self, person: Person, scope: str, *, limit: int = 50) -> Sequence[Change]:
        await asyncio.sleep(0)
        return self._changes.get(storable((person, scope)), [])[::-1][:limit]

    async def settings(self, person: Person) -> PersonSettings:
        await asyncio.sleep(0)
        return self._settings.get(storable(person), PersonSettings())

    async def set_settings(self, person: Person, settings: PersonSettings) -> None:
        await asyncio.sleep(0)
        self._settings[storable(person)] = storable(settings)

    async def scopes(self, person: Person) -> Sequence[str]:
        await asyncio.sleep(0)
        return sorted(s for (p, s), facts in self._facts.items() if p == storable(person) and facts)

    async def people(self, chat: ChatKey) -> Sequence[Person]:
        await asyncio.sleep(0)
        return sorted({t.sender for t in self._turns_of(storable(chat))}, key=str)

    def _turns_of(self, chat: ChatKey) -> list[Turn]:
        return [t for t in self._turns.values() if t.chat == chat]

    def _segments_of(self, chat: ChatKey) -> list[Segment]:
        return [s for key, s in self._segments.values() if key == chat]

    async def enqueue(self, job: Job) -> None:
        await asyncio.sleep(0)
        self._enqueue(job)

    def _enqueue(self, job: Job) -> None:
        job = storable(job)
        self._jobs.setdefault((job.kind, job.key), _Queued(job))

    async def claim(self, owner: str, now: datetime, *, lease: float, limit: int) -> Sequence[Job]:
        await asyncio.sleep(0)
        free = [q for q in self._jobs.values() if q.job.due <= now and (q.until is None or q.until <= now)]
        taken = sorted(free, key=lambda q: (q.job.due, q.job.kind, q.job.key))[:limit]
        for queued in taken:
            queued.owner, queued.until = owner, now + timedelta(seconds=lease)
        return [queued.job for queued in taken]

    async def finish(self, job: Job, owner: str) -> None:
        await asyncio.sleep(0)
        if queued := self._held(job, owner):
            del self._jobs[queued.job.kind, queued.job.key]

    async def postpone(self, job: Job, owner: str, due: datetime) -> None:
        await asyncio.sleep(0)
        if queued := self._held(job, owner):
            later = replace(queued.job, due=due, attempts=queued.job.attempts + 1)
            self._jobs[later.kind, later.key] = _Queued(later)

    def _held(self, job: Job, owner: str) -> _Queued | None:
        queued = self._jobs.get(storable((job.kind, job.key)))
        return queued if queued and queued.until and queued.owner == owner else None

    async def quiet(self, before: datetime, *, limit: int) -> Sequence[ChatKey]:
        await asyncio.sleep(0)
        awake = [(c.active_at, str(k), k) for k, c in self._chats.items() if c.active_at and not c.rested]
        return [key for active_at, _, key in sorted(awake, key=lambda a: a[:2]) if active_at < before][:limit]

    async def rest(self, chat: ChatKey, seen: datetime) -> None:
        await asyncio.sleep(0)
        kept = self._chats.get(storable(chat))
        if kept and kept.active_at and kept.active_at <= seen:
            kept.rested = True

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
            [r.message for r in self._inbox.values() if r.message and r.message.sender == person],
            [self._exported(key, person) for key in sorted(self._spoke_in(person), key=str)],
        )

    def _exported(self, key: ChatKey, person: Person) -> dict[str, Any]:
        private = self._chat(key).private
        turns = [t for t in self._turns_of(key) if private or t.sender == person]
        segments = self._segments_of(key) if private else []
        return {"chat": str(key), "private": private, "turns": turns, "segments": segments}

    def _spoke_in(self, person: Person) -> set[ChatKey]:
        return {t.chat for t in self._turns.values() if t.sender == person}

    async def erase_turn(self, chat: ChatKey, turn_id: int) -> Receipt:
        await asyncio.sleep(0)
        turn = self._turns.get(turn_id)
        if turn is None or turn.chat != storable(chat):
            return Receipt()
        return _receipt(self._erase_turns(turn.chat, [turn_id]))

    async def erase_message(self, chat: ChatKey, message_id: str) -> Receipt:
        await asyncio.sleep(0)
        chat, message_id = storable((chat, message_id))
        received = self._inbox.get((chat, message_id))
        if received and received.message:
            received.message = None
            return _receipt(Counter(messages=1))
        holding = (t for t in self._turns.values() if t.chat == chat and any(m.id == message_id for m in t.messages))
        turn = next(holding, None)
        return _receipt(self._erase_turns(chat, [turn.id])) if turn else Receipt()

    async def erase_fact(self, person: Person, scope: str, key: str) -> Receipt:
        await asyncio.sleep(0)
        person, scope, key = storable((person, scope, key))
        fact = self._facts.get((person, scope), {}).pop(key, None)
        self._drop_buttons(person)
        log = self._changes.get((person, scope), [])
        left = [c for c in log if c.key != key]
        self._changes[person, scope] = left
        return _receipt(Counter(facts=int(fact is not None), changes=len(log) - len(left)))

    async def erase_chat(self, chat: ChatKey) -> Receipt:
        await asyncio.sleep(0)
        return _receipt(self._erase_chat(storable(chat)))

    async def erase_person(self, person: Person) -> Receipt:
        await asyncio.sleep(0)
        person = storable(person)
        counts: Counter[str] = Counter()
        spoke_in = self._spoke_in(person)
        for key in spoke_in | {k for (k, _), r in self._inbox.items() if r.message and r.message.sender == person}:
            if self._chat(key).private and key in spoke_in:
                counts += self._erase_chat(key)
            else:
                own = [t.id for t in self._turns_of(key) if t.sender == person]
                counts += self._erase_turns(key, own) + self._drop_waiting(key, person)
        counts += self._drop_person(person)
        return _receipt(counts + self._drop_jobs([str(person)]))

    def _erase_turns(self, key: ChatKey, turns: Collection[int]) -> Counter[str]:
        chat, erased = self._chat(key), set(turns)
        doing = cut(erased, self._parents(), self._segments_of(key), chat.head)
        self._mend(doing)
        for turn in erased:
            del self._turns[turn]
        for received in self._inbox.values():
            received.turn = None if received.turn in erased else received.turn
        chat.head, chat.epoch, chat.edition = doing.head, chat.epoch + 1, chat.edition + 1
        counts = Counter(turns=len(erased), segments=len(doing.segments))
        withdrawing = self._withdraw(lambda source: source.turn in erased, erased)
        return counts + withdrawing + self._drop_jobs(map(str, erased))

    def _mend(self, doing: Cut) -> None:
        self._drop_segments(doing.segments)
        for turn, parent in doing.parents.items():
            self._turns[turn] = replace(self._turns[turn], parent=parent)
        for segment, before in doing.befores.items():
            chat, stored = self._segments[segment]
            self._segments[segment] = (chat, replace(stored, before=before))

    def _drop_segments(self, segments: Collection[int]) -> None:
        for segment in segments:
            del self._segments[segment]

    def _erase_chat(self, key: ChatKey) -> Counter[str]:
        counts = self._erase_turns(key, [t.id for t in self._turns_of(key)])
        counts += self._withdraw(lambda source: source.chat == str(key))
        counts += self._drop_waiting(key) + self._drop_jobs([str(key)])
        chat = self._chat(key)
        chat.active_at, chat.rested = None, True
        return counts

    def _drop_waiting(self, key: ChatKey, person: Person | None = None) -> Counter[str]:
        waiting = [r for (chat, _), r in self._inbox.items() if chat == key and r.message]
        dropped = [r for r in waiting if r.message and person in (None, r.message.sender)]
        for received in dropped:
            received.message = None
        return Counter(messages=len(dropped))

    def _drop_jobs(self, subjects: Iterable[str]) -> Counter[str]:
        about = set(subjects)
        dropped = [key for key, queued in self._jobs.items() if queued.job.subject in about]
        for key in dropped:
            del self._jobs[key]
        return Counter(jobs=len(dropped))

    def _drop_person(self, person: Person) -> Counter[str]:
        counts = Counter(settings=int(self._settings.pop(person, None) is not None))
        counts += Counter(buttons=self._drop_buttons(person))
        counts += Counter(pairings=int(self._pairings.pop(person, None) is not None))
        for owner in [key for key in self._facts.keys() | self._changes.keys() if key[0] == person]:
            counts += Counter(facts=len(self._facts.pop(owner, {})), changes=len(self._changes.pop(owner, [])))
        return counts

    def _withdraw(self, gone: Gone, turns: Collection[int] = ()) -> Counter[str]:
        counts: Counter[str] = Counter()
        for (person, _), facts in self._facts.items():
            for key, fact in list(facts.items()):
                left = withdrawn(fact, gone)
                if left is not fact:
                    self._drop_buttons(person)
                if left is None:
                    del facts[key]
                    counts["facts"] += 1
                else:
                    facts[key] = left
                    counts["items"] += len(fact.items) - len(left.items)
        for owner, log in self._changes.items():
            self._changes[owner] = [c for c in log if c.turn not in turns and not tells(c, gone)]
            counts["changes"] += len(log) - len(self._changes[owner])
        return counts

    async def holds(self, text: str) -> Sequence[str]:
        await asyncio.sleep(0)
        wanted = json.dumps(storable(text), ensure_ascii=False)[1:-1]
        return sorted(name for name, rows in self._tables().items() if wanted and wanted in _written(rows))

    def _tables(self) -> dict[str, Any]:
        return {
            "allow": list(self._allow.items()),
            "audit": self._audit,
            "block": list(self._block.items()),
            "button": list(self._buttons.items()),
            "change": list(self._changes.items()),
            "chat": list(map(str, self._chats)),
            "fact": list(self._facts.items()),
            "inbox": [(str(chat), key, r.message) for (chat, key), r in self._inbox.items()],
            "job": [queued.job for queued in self._jobs.values()],
            "pairing": list(self._pairings.items()),
            "person": list(self._settings.items()),
            "segment": list(self._segments.values()),
            "turn": list(self._turns.values()),
        }

    async def verify(self) -> Sequence[str]:
        await asyncio.sleep(0)
        return [*self._lost_heads(), *self._lost_turns(), *self._broken_rounds(), *self._lost_segments()]

    def _lost_heads(self) -> list[str]:
        heads = [(key, c.head) for key, c in self._chats.items() if c.head is not None]
        return [f"The head {head} of {key} does not exist." for key, head in heads if head not in self._turns]

    def _lost_turns(self) -> list[str]:
        return [
            f"The turn {r.turn} that took message {message} of {chat} does not exist."
            for (chat, message), r in self._inbox.items()
            if r.turn is not None and r.turn not in self._turns
        ]

    def _broken_rounds(self) -> list[str]:
        return [
            f"A tool round of turn {t.id} has calls without their results."
            for t in self._turns.values()
            if any([c.id for c in r.calls] != [x.call_id for x in r.results] for r in t.rounds)
        ]

    def _lost_segments(self) -> list[str]:
        parents = self._parents()
        return [
            f"Segment {s.id} of {chat} does not cover the turns it says."
            for chat, s in self._segments.values()
            if sum(1 for _ in chain(parents, s.last, s.before)) != s.turns
        ]

    async def expire(self, now: datetime, *, keep_days: float) -> int:
        await asyncio.sleep(0)
        limit = now - timedelta(days=keep_days)
        old = [key for key, r in self._inbox.items() if r.message is None and r.at < limit]
        for key in old:
            del self._inbox[key]
        self._buttons = {
            id_: button for id_, button in self._buttons.items() if button[2] >= now - timedelta(days=BUTTON_DAYS)
        }
        self._pairings = {person: pairing for person, pairing in self._pairings.items() if pairing[1] > now}
        return len(old)

    async def button(self, command: str, owner: Person, at: datetime) -> int:
        await asyncio.sleep(0)
        id_ = self._next_id()
        self._buttons[id_] = (storable(command), storable(owner), at)
        return id_

    async def pressed(self, id: int) -> tuple[str, Person] | None:
        await asyncio.sleep(0)
        button = self._buttons.get(id)
        return button[:2] if button else None

    def _drop_buttons(self, owner: Person) -> int:
        own = [id_ for id_, (_, person, _) in self._buttons.items() if person == owner]
        for id_ in own:
            del self._buttons[id_]
        return len(own)

    async def audit(self, entry: AuditEntry) -> None:
        await asyncio.sleep(0)
        self._audit.append(storable(entry))

    async def audited(self, *, limit: int = 50) -> Sequence[AuditEntry]:
        await asyncio.sleep(0)
        return self._audit[::-1][:limit]

    async def allow(self, entry: str, by: str, at: datetime) -> None:
        await asyncio.sleep(0)
        self._allow.setdefault(storable(entry), (storable(by), at))

    async def disallow(self, entry: str) -> bool:
        await asyncio.sleep(0)
        return self._allow.pop(storable(entry), None) is not None

    async def allowed(self) -> Sequence[str]:
        await asyncio.sleep(0)
        return sorted(self._allow)

    async def block(self, entry: str, by: str, at: datetime) -> None:
        await asyncio.sleep(0)
        self._block.setdefault(storable(entry), (storable(by), at))

    async def unblock(self, entry: str) -> bool:
        await asyncio.sleep(0)
        return self._block.pop(storable(entry), None) is not None

    async def blocked(self) -> Sequence[str]:
        await asyncio.sleep(0)
        return sorted(self._block)

    async def pair(self, person: Person, code: str, now: datetime, until: datetime) -> str:
        await asyncio.sleep(0)
        person, good = storable(person), {p: c for p, (c, end) in self._pairings.items() if end > now}
        if person not in good and len(good) < MOST_PAIRINGS:
            good[person] = storable(code)
            self._pairings[person] = (good[person], until)
        return good.get(person, "")

    async def paired(self, code: str, now: datetime) -> Person | None:
        await asyncio.sleep(0)
        wanted = storable(code)
        found = next((p for p, (c, until) in self._pairings.items() if c == wanted and until > now), None)
        if found is not None:
            del self._pairings[found]
        return found

    async def aclose(self) -> None:
        """Let go of nothing: a bot started again on this store finds what it kept."""
        await asyncio.sleep(0)


def _names(steps: Sequence[Step]) -> list[tuple[type[Step], int]]:
    return [(type(step), step.id) for step in steps]


def _start(step: Step) -> int | None:
    return step.before if isinstance(step, Segment) else step.parent


def _receipt(counts: Counter[str]) -> Receipt:
    return Receipt({kind: count for kind, count in counts.items() if count})


def _written(rows: Any) -> str:
    return json.dumps(to_jsonable_python(rows, bytes_mode="base64"), ensure_ascii=False)
