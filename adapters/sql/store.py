"""The SQL store: every method of the port as one transaction on the database's thread."""
# ruff: noqa: D102 - what each method promises is said once, at the port

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from typing import Any, Literal

from adapters.sql import (
    access,
    archive,
    bots,
    branches,
    buttons,
    chats,
    entities,
    erasure,
    expiry,
    facts,
    importing,
    inbox,
    jobs,
    links,
    moving,
    naming,
    notes,
    pairing,
    path,
    seeing,
    turns,
    upgrade,
    usage,
    vectors,
)
from adapters.sql.address import is_postgresql, to_address
from adapters.sql.cache import Cache
from adapters.sql.database import Database, Prepare, R
from adapters.sql.sqlite import SqliteDatabase, Synchronous, look
from adapters.sql.upgrade import Schema
from adapters.sql.vectors import embed as keep_vectors
from adapters.sql.verify import verify
from core.conversation import Conversation, PersonSettings, Segment, State, Step, Turn
from core.duty import Duty
from core.errors import StoreError
from core.facts import Change, Facts
from core.kept import storable
from core.messages import ChatKey, Message, Person
from core.notes import Note
from core.records import AuditEntry, Branch, Brought, ChatInfo, Day, Job, Receipt, Stats, Unfinished
from core.search.query import Query, found
from core.search.terms import Stem, Terms
from core.search.vectors import Vector
from core.usage import Spent

SINGLE = 200
"""Turns that are not put together yet, above which a search has it done."""

LONG = 1000
"""Turns above which a search is done in a thread of its own, since it would hold others up."""


class SqlStore:
    """A ConversationStore in a SQLite database; get one from `open_store`."""

    def __init__(self, database: Database, terms: Terms, *, indexing: bool = True) -> None:
        self._database = database
        self._terms = terms
        self._kept = terms if indexing else None
        self._caught_up: set[ChatKey] = set()

    async def receive(self, message: Message, *, keep: bool = True) -> bool:
        return await self._database.single(inbox.receive, message, keep)

    async def waiting(self, chat: ChatKey | None = None) -> Sequence[Message]:
        return await self._database.read(inbox.waiting, chat)

    async def unfinished(self) -> Mapping[ChatKey, Unfinished]:
        return await self._database.read(turns.unfinished)

    async def begin(self, messages: Sequence[Message], *, state: State, tokens: int, at: datetime) -> Turn:
        return await self._database.quick(turns.begin, messages, state, tokens, at, self._kept)

    async def load(self, chat: ChatKey, person: Person | None = None, *, private: bool = True) -> Conversation:
        return await self._database.read(turns.load, chat, person, private)

    async def open(self, messages: Sequence[Message], *, tokens: int, at: datetime) -> tuple[Conversation, Turn]:
        return await self._database.quick(turns.open_turn, messages, tokens, at, self._kept)

    async def join(self, turn: Turn, messages: Sequence[Message], *, tokens: int, at: datetime) -> Turn | None:
        return await self._database.quick(turns.join, turn, messages, tokens, at)

    async def save(self, turn: Turn, *, jobs: Sequence[Job] = (), spent: Sequence[Spent] = ()) -> None:
        await self._database.quick(turns.save, turn, jobs, spent, self._kept)

    async def progress(self, turn_id: int, *, chunk: int, preview: str, state: State) -> None:
        await self._database.single(turns.progress, turn_id, chunk, preview, state)

    async def turn(self, turn_id: int) -> Turn | None:
        return await self._database.read(turns.turn, turn_id)

    async def open_turns(self, chat: ChatKey | None = None) -> Sequence[Turn]:
        return await self._database.read(turns.open_turns, chat)

    async def covered(self, segment: Segment) -> Sequence[Turn]:
        return await self._database.read(path.covered, segment)

    async def retry(self, seen: Conversation, turn: Turn, *, tokens: int, at: datetime) -> Turn:
        return await self._database.write(branches.retry, seen, turn, tokens, at)

    async def move_head(self, seen: Conversation, to: int | None, *, asides: Sequence[int | None]) -> None:
        await self._database.write(branches.move_head, seen, to, asides)

    async def add_turns(self, chat: ChatKey, turns: Sequence[Turn], *, under: int | None = None) -> Sequence[Turn]:
        return await self._database.write(branches.add_turns, chat, turns, under, self._kept)

    async def branches(self, chat: ChatKey) -> Sequence[Branch]:
        return await self._database.read(branches.branches, chat)

    async def line(self, chat: ChatKey, turn_id: int) -> Sequence[Turn]:
        return await self._database.read(branches.line, chat, turn_id)

    async def reword(self, chat: ChatKey, turn_id: int, messages: Sequence[Message]) -> bool:
        return await self._database.write(erasure.reword, chat, turn_id, messages, self._kept)

    async def raise_epoch(self, chat: ChatKey) -> int:
        return await self._database.write(chats.raise_epoch, chat)

    async def edit(self, chat: ChatKey, message_id: str, text: str) -> bool:
        edited = await self._database.write(erasure.edit, chat, message_id, text, self._kept)
        if edited:
            await self._database.erased()
        return edited

    async def said(self, chat: ChatKey, message_id: str) -> Message | None:
        return await self._database.read(erasure.said, chat, message_id)

    async def search(self, chat: ChatKey, query: Query) -> Sequence[Turn]:
        await self._catch_up(chat)
        line, single = await self._database.read(archive.line, chat)
        if single > SINGLE:
            await self.index(chat)
        known = await self._vectors(chat, query.asked.model) if query.asked else {}
        if len(line.turns) > LONG:
            hits = await asyncio.to_thread(found, line, query, self._terms, known)
        else:
            hits = found(line, query, self._terms, known)
        return await self._database.read(archive.read, chat, hits) if hits else []

    async def _vectors(self, chat: ChatKey, model: str) -> Mapping[int, Vector]:
        return await self._database.read(vectors.of_chat, chat, model)

    async def unembedded(self, chat: ChatKey, model: str, *, limit: int) -> Sequence[Turn]:
        return await self._database.read(vectors.unembedded, chat, model, limit)

    async def embed(self, chat: ChatKey, model: str, vectors: Sequence[tuple[Turn, Vector]]) -> None:
        await self._database.write(keep_vectors, chat, model, vectors)

    async def index(self, chat: ChatKey) -> None:
        await self._catch_up(chat)
        await self._database.write(archive.put_together, chat)

    async def unnamed(self, chat: ChatKey, *, limit: int) -> Sequence[Turn]:
        return await self._database.read(entities.unnamed, chat, limit)

    async def _catch_up(self, chat: ChatKey) -> None:
        """Keep the terms of what was told while they were not kept as it was said."""
        if chat in self._caught_up:
            return
        if behind := await self._database.read(archive.behind, chat):
            await self._database.write(archive.catch_up, chat, behind, self._terms)
        if self._kept is not None:
            self._caught_up.add(chat)

    async def name(self, chat: ChatKey, names: Mapping[int, Sequence[str]]) -> None:
        await self._database.write(entities.name, chat, names, self._terms)

    async def named(self, chat: ChatKey, text: str, *, limit: int, without: Collection[int]) -> Sequence[Turn]:
        return await self._database.read(naming.named, chat, text, limit, without, self._terms)

    async def move_chat(self, old: ChatKey, new: ChatKey) -> None:
        await self._database.write(moving.move_chat, old, new)

    async def moves(self) -> Mapping[ChatKey, ChatKey]:
        return await self._database.read(moving.moves)

    async def leave(self, message: Message) -> bool:
        return await self._database.single(inbox.leave, message)

    async def add_segment(self, chat: ChatKey, segment: Segment, *, covers: Sequence[Step], edition: int) -> Segment:
        return await self._database.write(path.add_segment, chat, segment, covers, edition)

    async def apply(
        self,
        person: Person,
        scope: str,
        changes: Sequence[Change],
        *,
        turn: Turn | None = None,
        seen: Conversation | None = None,
    ) -> None:
        await self._database.write(facts.apply, person, scope, changes, turn, seen)

    async def known(self, person: Person, scope: str) -> Facts:
        return await self._database.single(facts.of, person, scope)

    async def changes(self, person: Person, scope: str, *, limit: int = 50) -> Sequence[Change]:
        return await self._database.read(facts.changes, person, scope, limit)

    async def bring_in(self, person: Person, brought: Brought) -> None:
        await self._database.write(importing.bring_in, person, brought, self._kept)

    async def note(self, person: Person, scope: str, note: Note, *, turn: Turn | None = None) -> None:
        await self._database.write(notes.note, person, scope, note, turn)

    async def notes(self, person: Person, scope: str) -> Sequence[Note]:
        return await self._database.read(notes.notes, person, scope)

    async def settings(self, person: Person) -> PersonSettings:
        return await self._database.single(facts.settings, person)

    async def choose(
        self, person: Person, chosen: Callable[[PersonSettings], PersonSettings], *, turn: Turn | None = None
    ) -> None:
        await self._database.write(facts.choose, person, chosen, turn)

    async def scopes(self, person: Person) -> Sequence[str]:
        return await self._database.read(facts.scopes, person)

    async def people(self, chat: ChatKey) -> Sequence[Person]:
        return await self._database.read(facts.people, chat)

    async def enqueue(self, job: Job) -> None:
        await self._database.write(jobs.enqueue, job)

    async def claim(self, owner: str, now: datetime, *, lease: float, limit: int) -> Sequence[Job]:
        return await self._database.write(jobs.claim, owner, now, lease, limit)

    async def finish(self, job: Job, owner: str, *, spent: Sequence[Spent] = ()) -> None:
        await self._database.write(jobs.finish, job, owner, spent)

    async def postpone(self, job: Job, owner: str, due: datetime, *, spent: Sequence[Spent] = ()) -> None:
        await self._database.write(jobs.postpone, job, owner, due, spent)

    async def quiet(self, before: datetime, *, limit: int) -> Sequence[ChatKey]:
        return await self._database.read(jobs.quiet, before, limit)

    async def rest(self, chat: ChatKey, seen: datetime) -> None:
        await self._database.write(jobs.rest, chat, seen)

    async def spend(self, spent: Sequence[Spent]) -> None:
        if spent:
            await self._database.write(usage.spend, spent)

    async def spent(self, since: date, *, person: Person | None = None, chat: ChatKey | None = None) -> Sequence[Spent]:
        return await self._database.read(usage.spent, since, person, chat)

    async def spenders(self, since: date, of: Literal["person", "chat"], *, limit: int) -> Sequence[tuple[str, int]]:
        return await self._database.read(usage.spenders, since, of, limit)

    async def chats(self) -> Sequence[ChatInfo]:
        return await self._database.read(seeing.chats)

    async def heard(self, platform: str, *, limit: int) -> Mapping[ChatKey, datetime]:
        return await self._database.read(seeing.heard, platform, limit)

    async def stats(self) -> Stats:
        return await self._database.read(seeing.stats)

    async def days(self, until: datetime, *, count: int) -> Sequence[Day]:
        return await self._database.read(seeing.days, until, count)

    async def export(self, person: Person) -> dict[str, Any]:
        return await self._database.read(seeing.export, person)

    async def erase_turn(self, chat: ChatKey, turn_id: int) -> Receipt:
        return await self._erased(await self._database.write(erasure.erase_turn, chat, turn_id))

    async def erase_branch(self, chat: ChatKey, turn_id: int) -> Receipt:
        return await self._erased(await self._database.write(erasure.erase_branch, chat, turn_id))

    async def erase_message(self, chat: ChatKey, message_id: str) -> Receipt:
        return await self._erased(await self._database.write(erasure.erase_message, chat, message_id))

    async def erase_fact(self, person: Person, scope: str, key: str) -> Receipt:
        return await self._erased(await self._database.write(erasure.erase_fact, person, scope, key))

    async def erase_notes(self, person: Person, scope: str) -> Receipt:
        return await self._erased(await self._database.write(erasure.erase_notes, person, scope))

    async def erase_chat(self, chat: ChatKey) -> Receipt:
        return await self._erased(await self._database.write(erasure.erase_chat, chat))

    async def erase_person(self, person: Person) -> Receipt:
        return await self._erased(await self._database.write(erasure.erase_person, person))

    async def _erased(self, receipt: Receipt) -> Receipt:
        await self._database.erased()
        return receipt

    async def holds(self, text: str) -> Sequence[str]:
        as_it_is = await self._database.read(seeing.holds, text)
        return sorted({*as_it_is, *await self._database.read(archive.leaks, text, self._terms)})

    async def remains(self, text: str) -> Sequence[str]:
        return await self._database.files_with(storable(text))

    async def verify(self) -> Sequence[str]:
        return await self._database.read(verify)

    async def expire(self, now: datetime, *, keep_days: float, spent_since: date = date.min) -> int:
        return await self._database.write(expiry.expire, now, keep_days, spent_since)

    async def button(self, command: str, owner: Person, at: datetime) -> int:
        return await self._database.write(buttons.button, command, owner, at)

    async def pressed(self, id: int) -> tuple[str, Person] | None:
        return await self._database.read(buttons.pressed, id)

    def duty(self) -> Duty:
        return self._database.duty()

    async def introduce(self, bot: str) -> str:
        return await self._database.write(bots.introduce, bot)

    async def dismiss(self, platform: str) -> bool:
        return await self._database.write(bots.dismiss, platform)

    async def audit(self, entry: AuditEntry) -> None:
        await self._database.write(access.audit, entry)

    async def audited(self, *, limit: int = 50) -> Sequence[AuditEntry]:
        return await self._database.read(access.audited, limit)

    async def allow(self, entry: str, by: str, at: datetime) -> None:
        await self._database.write(access.allow, entry, by, at)

    async def disallow(self, entry: str) -> bool:
        return await self._database.write(access.disallow, entry)

    async def allowed(self) -> Sequence[str]:
        return await self._database.read(access.allowed)

    async def block(self, entry: str, by: str, at: datetime) -> None:
        await self._database.write(access.block, entry, by, at)

    async def unblock(self, entry: str) -> bool:
        return await self._database.write(access.unblock, entry)

    async def blocked(self) -> Sequence[str]:
        return await self._database.read(access.blocked)

    async def pair(self, person: Person, code: str, now: datetime, until: datetime) -> str:
        return await self._database.write(pairing.pair, person, code, now, until)

    async def paired(self, code: str, now: datetime) -> Person | None:
        return await self._database.write(pairing.paired, code, now)

    async def offer_link(self, person: Person, code: str, until: datetime) -> None:
        await self._database.write(links.offer, person, code, until)

    async def link_owner(self, code: str, now: datetime) -> Person | None:
        return await self._database.read(links.owner, code, now)

    async def link(self, code: str, person: Person, now: datetime) -> Person | None:
        return await self._database.write(links.link, code, person, now)

    async def unlink(self, person: Person) -> bool:
        return await self._database.write(links.unlink, person)

    async def linked(self, person: Person) -> Sequence[Person]:
        return await self._database.single(links.linked, person)

    async def note_wrong_code(self, person: Person, at: datetime) -> None:
        await self._database.write(links.note_wrong, person, at)

    async def wrong_codes(self, person: Person, since: datetime) -> int:
        return await self._database.read(links.wrong, person, since)

    async def aclose(self) -> None:
        await self._database.stop()


async def open_store(
    url: str,
    *,
    synchronous: Synchronous = "NORMAL",
    patience: float = 5.0,
    steps: int = 2_000,
    connections: int = 8,
    stem: Stem | None = None,
    indexing: bool = True,
) -> SqlStore:
    """Open the database at a path, or at a `sqlite:///` or `postgresql://` address, made or brought up to date first.

    `patience` is how many seconds to wait for what other programs hold, or for a lost server. Of SQLite: `synchronous`
    is its own setting, `steps` how many turns and segments are kept decoded. Of PostgreSQL: `connections` is how many
    there are at most. `stem` gives the stems of words, by which what was said is found. With `indexing` these are kept
    as turns are saved; without it a turn costs less, and they are made when something is first looked for in its chat.
    Raises StoreError, leaving the database as it is, when it can't be used or is not ours.
    """
    database: Database
    if is_postgresql(url):
        with _library():
            from adapters.sql.postgresql import PostgresqlDatabase
        database = PostgresqlDatabase(to_address(url), patience=patience, connections=connections)
    else:
        database = SqliteDatabase(url, synchronous=synchronous, patience=patience, cache=Cache(steps))
    await database.start(upgrade.upgrade)
    return SqlStore(database, Terms(stem), indexing=indexing)


async def read_schema(url: str) -> Schema:
    """Look at the schema of a database without changing it. Raises StoreError when it can't be used or is not ours."""
    return Schema(await see(url, upgrade.current))


async def see(url: str, seen: Prepare[R]) -> R | None:
    """Look at a database that nobody need have opened; None when it is a file that is not there. Raises StoreError."""
    if not is_postgresql(url):
        return await look(url, seen)
    with _library():
        from adapters.sql import postgresql
    return await postgresql.look(to_address(url), seen)


@contextmanager
def _library() -> Iterator[None]:
    """Import what only PostgreSQL needs, and need not be installed. Raises StoreError."""
    try:
        yield
    except ImportError:
        raise StoreError("PostgreSQL needs one more library: pip install 'keepmind[postgres]'.") from None
