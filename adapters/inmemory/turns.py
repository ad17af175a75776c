"""What is said, from the inbox to a saved turn, and the segments that stand for turns."""
# ruff: noqa: D102 - what each method promises is said once, at the port

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from adapters.inmemory.jobs import Jobs
from adapters.inmemory.state import Chat, Received
from core.conversation import OPEN, Conversation, PersonSettings, Segment, State, Step, Turn
from core.errors import StaleBase, StaleEpoch
from core.facts import Facts
from core.kept import bare, chain, placed, storable
from core.messages import PRIVATE, ChatKey, Message, Person
from core.records import Branch, Job, Unfinished
from core.usage import Spent


class Turns(Jobs):
    """Messages, turns, segments."""

    async def receive(self, message: Message, *, keep: bool = True) -> bool:
        await asyncio.sleep(0)
        message = storable(message)
        key = (message.chat, message.id)
        if key in self._inbox:
            return False
        self._inbox[key] = Received(message.sent_at, message if keep else None)
        return True

    async def waiting(self, chat: ChatKey | None = None) -> Sequence[Message]:
        await asyncio.sleep(0)
        return [r.message for r in self._inbox.values() if r.message and chat in (None, r.message.chat)]

    async def said(self, chat: ChatKey, message_id: str) -> Message | None:
        await asyncio.sleep(0)
        chat, message_id = storable((chat, message_id))
        received = self._inbox.get((chat, message_id))
        if received and received.message:
            return received.message
        return next((m for t in self._turns.values() if t.chat == chat for m in t.messages if m.id == message_id), None)

    async def leave(self, message: Message) -> bool:
        await asyncio.sleep(0)
        received = self._inbox.get(storable((message.chat, message.id)))
        waits = received is not None and received.message is not None
        if received is not None:
            received.message = None
        return waits

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

    async def join(self, turn: Turn, messages: Sequence[Message], *, tokens: int, at: datetime) -> Turn | None:
        await asyncio.sleep(0)
        stored, chat = self._turns.get(turn.id), self._chat(storable(turn.chat))
        if stored is None or stored.state is not State.RECEIVED or stored.retry_of is not None:
            return None
        if chat.head != turn.id or chat.asides[-1:] == (turn.id,):
            return None
        said = list(stored.messages)
        for message in storable(tuple(messages)):
            received = self._inbox.get((message.chat, message.id))
            if received and received.message:
                said.append(replace(received.message, incognito=message.incognito))
                received.message, received.turn = None, turn.id
        chat.active_at = max(at, chat.active_at or at)
        self._turns[turn.id] = joined = replace(stored, messages=tuple(said), tokens=stored.tokens + tokens)
        return joined

    def _begin(self, messages: tuple[Message, ...], state: State, tokens: int, at: datetime) -> Turn:
        received = [self._inbox.get((m.chat, m.id)) for m in messages]
        waiting = [(r.message, m.incognito) for r, m in zip(received, messages, strict=True) if r and r.message]
        said = tuple(replace(message, incognito=incognito) for message, incognito in waiting)
        if len(said) < len(messages):
            raise StaleEpoch("A message no longer waits; it was taken by another turn or erased.")
        key = said[0].chat
        chat = self._chat(key)
        said = said if state is State.RECEIVED else tuple(map(bare, said))
        inside = bool(chat.asides) and chat.asides[-1] == chat.head
        begun = Turn(0, chat.head, key, state, said, tokens=tokens, epoch=chat.epoch, at=at, inside=inside)
        turn = self._put(begun, chat)
        for entry in received:
            if entry:
                entry.message, entry.turn = None, turn.id
        return turn

    def _put(self, begun: Turn, chat: Chat) -> Turn:
        """Store a turn that is begun; it is the head."""
        turn = replace(begun, id=self._next_id())
        self._turns[turn.id] = turn
        chat.head, chat.private, chat.rested = turn.id, turn.message.private, False
        chat.active_at = max(turn.at, chat.active_at or turn.at)
        return turn

    async def retry(self, seen: Conversation, turn: Turn, *, tokens: int, at: datetime) -> Turn:
        await asyncio.sleep(0)
        chat, stored = self._as_seen(seen), self._turns.get(turn.id)
        if stored is None or stored.chat != storable(seen.chat):
            raise StaleBase("The turn to answer anew is erased.")
        anew = Turn(
            0, stored.parent, stored.chat, State.RECEIVED, stored.messages, tokens=tokens, epoch=chat.epoch, at=at
        )
        return self._put(replace(anew, inside=stored.inside, retry_of=stored.retry_of or stored.id), chat)

    async def add_turns(self, chat: ChatKey, turns: Sequence[Turn], *, under: int | None = None) -> Sequence[Turn]:
        await asyncio.sleep(0)
        chat = storable(chat)
        if under is not None and (under not in self._turns or self._turns[under].chat != chat):
            raise StaleBase("The turn to add others after is erased.")
        ids: dict[int, int] = {}
        for turn in turns:
            ids[turn.id] = self._add(chat, turn, *placed(turn, under, ids))
        return [self._turns[id_] for id_ in ids.values()]

    def _add(self, key: ChatKey, turn: Turn, parent: int | None, first: int | None) -> int:
        chat, id_ = self._chat(key), self._next_id()
        messages = tuple(replace(m, chat=key) for m in storable(turn.messages))
        place = {"id": id_, "chat": key, "parent": parent, "retry_of": first, "epoch": chat.epoch}
        self._turns[id_] = turn.changed(messages=messages, answer=storable(turn.answer), **place)
        chat.private = chat.private if chat.active_at else messages[0].private
        chat.active_at = max(turn.at, chat.active_at or turn.at)
        return id_

    async def branches(self, chat: ChatKey) -> Sequence[Branch]:
        await asyncio.sleep(0)
        return [Branch(t.id, t.parent, t.inside) for t in self._turns_of(storable(chat))]

    async def line(self, chat: ChatKey, turn_id: int) -> Sequence[Turn]:
        await asyncio.sleep(0)
        turn, found = self._turns.get(turn_id), list[Turn]()
        while turn is not None and turn.chat == storable(chat):
            found.append(turn)
            turn = self._turns[turn.parent] if turn.parent is not None else None
        return found[::-1]

    async def move_head(self, seen: Conversation, to: int | None, *, asides: Sequence[int | None]) -> None:
        await asyncio.sleep(0)
        chat = self._as_seen(seen)
        if to is not None and (to not in self._turns or self._turns[to].chat != storable(seen.chat)):
            raise StaleBase("The turn to go back to is erased.")
        chat.head, chat.asides = to, tuple(asides)

    def _as_seen(self, seen: Conversation) -> Chat:
        chat = self._chat(storable(seen.chat))
        if (chat.head, chat.epoch) != (seen.head, seen.epoch):
            raise StaleBase("Something was said in the chat, or it was cleared, since it was seen.")
        return chat

    def _load(self, key: ChatKey, person: Person | None, private: bool) -> Conversation:
        chat = self._chats.get(key, Chat(private))
        private = private if chat.active_at is None else chat.private
        scope = PRIVATE if private else key.scope
        conversation = Conversation(
            key,
            tuple(self._path(chat.head)),
            chat.head,
            chat.epoch,
            chat.edition,
            private,
            person,
            scope,
            asides=chat.asides,
        )
        if person is None:
            return conversation
        facts = Facts(dict(self._facts.get((person, scope), {})))
        return replace(conversation, facts=facts, settings=self._settings.get(person, PersonSettings()))

    async def save(self, turn: Turn, *, jobs: Sequence[Job] = (), spent: Sequence[Spent] = ()) -> None:
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
        self._spend(spent)

    async def progress(self, turn_id: int, *, chunk: int, preview: str, state: State) -> None:
        await asyncio.sleep(0)
        if turn := self._turns.get(turn_id):
            self._turns[turn_id] = replace(turn, chunk=chunk, preview=storable(preview), state=state)

    async def turn(self, turn_id: int) -> Turn | None:
        await asyncio.sleep(0)
        return self._turns.get(turn_id)

    async def open_turns(self, chat: ChatKey | None = None) -> Sequence[Turn]:
        await asyncio.sleep(0)
        return [t for t in self._turns.values() if t.state in OPEN and chat in (None, t.chat)]

    async def unfinished(self) -> Mapping[ChatKey, Unfinished]:
        await asyncio.sleep(0)
        turns = Counter(t.chat for t in self._turns.values() if t.state in OPEN)
        waiting: dict[ChatKey, list[str]] = {chat: [] for chat in turns}
        for (chat, message), received in self._inbox.items():
            if received.message:
                waiting.setdefault(chat, []).append(message)
        return {chat: Unfinished(turns[chat], ids) for chat, ids in waiting.items()}

    async def covered(self, segment: Segment) -> Sequence[Turn]:
        await asyncio.sleep(0)
        if segment.id not in self._segments:
            return []
        _, stored = self._segments[segment.id]
        return [self._turns[t] for t in chain(self._parents(), stored.last, stored.before)][::-1]

    async def raise_epoch(self, chat: ChatKey) -> int:
        await asyncio.sleep(0)
        kept = self._chat(storable(chat))
        kept.epoch += 1
        return kept.epoch

    async def add_segment(self, chat: ChatKey, segment: Segment, *, covers: Sequence[Step], edition: int) -> Segment:
        await asyncio.sleep(0)
        chat = storable(chat)
        last = self._turns.get(segment.last)
        if last is None or last.chat != chat or self._chat(chat).edition != edition:
            raise StaleBase("The chat was edited since the summary began.")
        steps = self._path(segment.last, segment.before)
        if not steps or _names(steps) != _names(covers) or steps[0].before != segment.before:
            raise StaleBase("The chat was folded otherwise since the summary began.")
        turns = sum(s.turns if isinstance(s, Segment) else 1 for s in steps)
        stored = replace(storable(segment), id=self._next_id(), turns=turns)
        self._segments[stored.id] = (chat, stored)
        return stored


def _names(steps: Sequence[Step]) -> list[tuple[type[Step], int]]:
    return [(type(step), step.id) for step in steps]
