"""Messages edited on the platform, and chats that become others."""
# ruff: noqa: D102 - what each method promises is said once, at the port

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from adapters.inmemory.erasure import Erasure
from adapters.inmemory.jobs import Jobs
from adapters.inmemory.state import Chat, Received
from core.conversation import Turn
from core.kept import covering, destination, joined, joined_asides, merged, moved, resourced, retold, storable, unsaid
from core.messages import ChatKey, Message


class Moving(Erasure, Jobs):
    """What is told anew, and what moves."""

    async def edit(self, chat: ChatKey, message_id: str, text: str) -> bool:
        await asyncio.sleep(0)
        chat, message_id, text = storable((chat, message_id, text))
        received = self._inbox.get((chat, message_id))
        if received and received.message:
            received.message = replace(received.message, text=text)
            return True
        holding = [t for t in self._turns.values() if t.chat == chat and any(m.id == message_id for m in t.messages)]
        for turn in holding:
            self._reword(turn, tuple(replace(m, text=text) if m.id == message_id else m for m in turn.messages))
        return bool(holding)

    async def reword(self, chat: ChatKey, turn_id: int, messages: Sequence[Message]) -> bool:
        await asyncio.sleep(0)
        turn = self._turns.get(turn_id)
        if turn is None or turn.chat != storable(chat):
            return False
        self._reword(turn, tuple(replace(m, chat=turn.chat) for m in storable(tuple(messages))))
        return True

    def _reword(self, turn: Turn, messages: tuple[Message, ...]) -> None:
        if messages == turn.messages:
            return
        edited = self._turns[turn.id] = replace(turn, messages=messages)
        self._names.pop(turn.id, None)
        self._vectors.pop(turn.id, None)
        self._drop_segments(covering({turn.id}, self._parents(), self._segments_of(turn.chat)))
        self._drop_notes(lambda note: note.turn == turn.id)
        self._withdraw(unsaid(edited))
        self._drop_buttons(turn.sender)
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
        self._move_notes(str(old), new.scope, names)
        for entries in (self._allow, self._block):
            if str(old) in entries:
                entries.setdefault(str(new), entries[str(old)])
        if old.topic is None:
            self._move_usage(old, new)
        self._moves[old] = new

    async def moves(self) -> Mapping[ChatKey, ChatKey]:
        await asyncio.sleep(0)
        return dict(self._moves)

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
        asides = tuple(joined_asides(before.asides, there.asides))
        self._chats[new] = Chat(private, doing.head, asides, epoch, edition, active_at, rested)
        self._chats[old] = Chat(before.private, epoch=epoch, edition=edition)

    def _move_waiting(self, old: ChatKey, new: ChatKey) -> None:
        for (chat, _), received in list(self._inbox.items()):
            if chat == old and received.message:
                message = moved(received.message, new)
                self._inbox.setdefault((new, message.id), Received(received.at, message))
            if chat == old:
                received.message = received.turn = None

    def _move_jobs(self, names: Mapping[str, str]) -> None:
        for (kind, key), queued in list(self._jobs.items()):
            subject = queued.job.subject
            if subject in names:
                del self._jobs[kind, key]
                self._enqueue(replace(queued.job, key=names[subject] + key.removeprefix(subject)))

    def _move_notes(self, old: str, new: str, names: Mapping[str, str]) -> None:
        for owner in list(self._notes):
            there = (owner[0], new if owner[1] == old else owner[1])
            notes = {key: replace(n, chat=names.get(n.chat, n.chat)) for key, n in self._notes.pop(owner).items()}
            self._notes[there] = notes | self._notes.get(there, {})

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
