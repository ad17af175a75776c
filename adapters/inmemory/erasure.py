"""Erasing: each thing with all that came of it."""
# ruff: noqa: D102 - what each method promises is said once, at the port

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from adapters.inmemory.usage import Usage
from core.kept import Cut, Gone, cut, said_inside, storable, tells, withdrawn
from core.messages import ChatKey, Person
from core.notes import Note
from core.records import Receipt


class Erasure(Usage):
    """What goes, and what goes with it."""

    async def erase_turn(self, chat: ChatKey, turn_id: int) -> Receipt:
        await asyncio.sleep(0)
        turn = self._turns.get(turn_id)
        if turn is None or turn.chat != storable(chat):
            return Receipt()
        return receipt(self._erase_turns(turn.chat, self._with_retries([turn_id])))

    async def erase_branch(self, chat: ChatKey, turn_id: int) -> Receipt:
        await asyncio.sleep(0)
        turn = self._turns.get(turn_id)
        if turn is None or turn.chat != storable(chat):
            return Receipt()
        tree = self._tree(turn.chat)
        doomed = said_inside(turn_id, tree.parents, tree.inside)
        return receipt(self._erase_turns(turn.chat, self._with_retries(doomed)))

    async def erase_message(self, chat: ChatKey, message_id: str) -> Receipt:
        await asyncio.sleep(0)
        chat, message_id = storable((chat, message_id))
        received = self._inbox.get((chat, message_id))
        if received and received.message:
            received.message = None
            return receipt(Counter(messages=1))
        holding = (t for t in self._turns.values() if t.chat == chat and any(m.id == message_id for m in t.messages))
        turn = next(holding, None)
        return receipt(self._erase_turns(chat, self._with_retries([turn.id]))) if turn else Receipt()

    async def erase_fact(self, person: Person, scope: str, key: str) -> Receipt:
        await asyncio.sleep(0)
        person, scope, key = storable((person, scope, key))
        fact = self._facts.get((person, scope), {}).pop(key, None)
        self._drop_buttons(person)
        log = self._changes.get((person, scope), [])
        left = [c for c in log if c.key != key]
        self._changes[person, scope] = left
        return receipt(Counter(facts=int(fact is not None), changes=len(log) - len(left)))

    async def erase_notes(self, person: Person, scope: str) -> Receipt:
        await asyncio.sleep(0)
        return receipt(Counter(notes=len(self._notes.pop(storable((person, scope)), {}))))

    async def erase_chat(self, chat: ChatKey) -> Receipt:
        await asyncio.sleep(0)
        return receipt(self._erase_chat(storable(chat)))

    async def erase_person(self, person: Person) -> Receipt:
        await asyncio.sleep(0)
        person = storable(person)
        counts = Counter(buttons=self._drop_buttons(person))
        spoke_in = self._spoke_in(person)
        for key in spoke_in | {k for (k, _), r in self._inbox.items() if r.message and r.message.sender == person}:
            if self._chat(key).private and key in spoke_in:
                counts += self._erase_chat(key)
            else:
                own = [t.id for t in self._turns_of(key) if t.sender == person]
                counts += self._erase_turns(key, own) + self._drop_waiting(key, person)
        for key in self._sourced_in(person) - spoke_in:
            self._chat(key).epoch += 1  # what was told there may be about to be changed
        counts += self._drop_person(person)
        return receipt(counts + self._drop_jobs([str(person)]))

    def _sourced_in(self, person: Person) -> set[ChatKey]:
        """Name the chats in which something was told that is known of a person."""
        known = [fact for (who, _), facts in self._facts.items() if who == person for fact in facts.values()]
        return {key for key in self._chats if any(i.source.chat == str(key) for f in known for i in f.items)}

    def _erase_turns(self, key: ChatKey, turns: Collection[int]) -> Counter[str]:
        chat, erased = self._chat(key), set(turns)
        doing = cut(erased, self._tree(key))
        self._mend(doing)
        for turn in erased:
            self._drop_buttons(self._turns.pop(turn).sender)
            self._names.pop(turn, None)
            self._vectors.pop(turn, None)
        for received in self._inbox.values():
            received.turn = None if received.turn in erased else received.turn
        chat.head, chat.asides = doing.head, tuple(doing.asides)
        chat.epoch, chat.edition = chat.epoch + 1, chat.edition + 1
        counts = Counter(turns=len(erased), segments=len(doing.segments))
        counts += self._drop_notes(lambda note: note.turn in erased)
        withdrawing = self._withdraw(lambda source: source.turn in erased, erased)
        return counts + withdrawing + self._drop_jobs(map(str, erased))

    def _mend(self, doing: Cut) -> None:
        self._drop_segments(doing.segments)
        for turn, parent in doing.parents.items():
            inside = self._turns[turn].inside or turn in doing.inside
            self._turns[turn] = replace(self._turns[turn], parent=parent, inside=inside)
        for segment, before in doing.befores.items():
            chat, stored = self._segments[segment]
            self._segments[segment] = (chat, replace(stored, before=before))

    def _drop_segments(self, segments: Collection[int]) -> None:
        for segment in segments:
            del self._segments[segment]

    def _erase_chat(self, key: ChatKey) -> Counter[str]:
        counts = self._erase_turns(key, [t.id for t in self._turns_of(key)])
        counts += self._withdraw(lambda source: source.chat == str(key))
        counts += self._drop_notes(lambda note: note.chat == str(key))
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
        counts += Counter(usage=self._disown(person))
        counts += Counter(pairings=int(self._pairings.pop(person, None) is not None))
        counts += Counter(links=self._leave(person) + int(self._link_codes.pop(person, None) is not None))
        self._wrong_codes = [(p, at) for p, at in self._wrong_codes if p != person]
        for owner in [key for key in self._facts.keys() | self._changes.keys() if key[0] == person]:
            counts += Counter(facts=len(self._facts.pop(owner, {})), changes=len(self._changes.pop(owner, [])))
        for owner in [key for key in self._notes if key[0] == person]:
            counts += Counter(notes=len(self._notes.pop(owner)))
        return counts

    def _drop_notes(self, gone: Callable[[Note], bool]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for owner, notes in self._notes.items():
            self._notes[owner] = {key: note for key, note in notes.items() if not gone(note)}
            counts["notes"] += len(notes) - len(self._notes[owner])
        return counts

    def _drop_buttons(self, owner: Person) -> int:
        own = [id_ for id_, (_, person, _) in self._buttons.items() if person == owner]
        for id_ in own:
            del self._buttons[id_]
        return len(own)

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


def receipt(counts: Counter[str]) -> Receipt:
    """Say what went, leaving out what did not."""
    return Receipt({kind: count for kind, count in counts.items() if count})
