"""The port to what lasts: inbox, turns, segments, facts, jobs, and their erasure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal, Protocol

from core.conversation import Conversation, PersonSettings, Segment, State, Step, Turn
from core.duty import Duty
from core.facts import Change, Facts
from core.messages import ChatKey, Message, Person
from core.notes import Note
from core.records import AuditEntry, Branch, Brought, ChatInfo, Day, Job, Receipt, Stats, Unfinished
from core.search.query import Query
from core.search.vectors import Vector
from core.usage import Spent


class ConversationStore(Protocol):
    """Where everything remembered is kept.

    Each method is one transaction: it holds whole or not at all, and may be called from many tasks at once. Times
    are aware UTC, in and out. Any text is taken: NUL and lone surrogates come back as U+FFFD, everything else as it
    was. `StoreError` (with one clear sentence) is the only error of the database that leaves it.
    """

    # -- inbox and turns ------------------------------------------------------------------------------------------

    async def receive(self, message: Message, *, keep: bool = True) -> bool:
        """Store a message once, by its key (platform, chat, topic, message id); False when the key was seen before.

        With `keep` false only the bare key is stored (a command): nothing waits to be answered.
        """
        ...

    async def waiting(self, chat: ChatKey | None = None) -> Sequence[Message]:
        """Give the messages that no turn has taken yet, of a chat or over all, in the order received."""
        ...

    async def unfinished(self) -> Mapping[ChatKey, Unfinished]:
        """Name what waits and count what is open, by chat, without reading it; ids in the order received.

        Chats with open turns come first, oldest first, then the others by their oldest message.
        """
        ...

    async def begin(self, messages: Sequence[Message], *, state: State, tokens: int, at: datetime) -> Turn:
        """Take waiting messages of one sender into a new turn at the head of their chat, which moves to it.

        Creates the chat when it is new. The messages are taken as they are stored (one may have been edited while it
        waited) but for `incognito`, which is as given, and without bytes of attachments when the state is not
        `received`. Raises StaleEpoch when any of the messages no longer waits (already taken, or erased), changing
        nothing.
        """
        ...

    async def load(self, chat: ChatKey, person: Person | None = None, *, private: bool = True) -> Conversation:
        """Give a snapshot of a chat (an unknown chat is an empty one) with the facts of `person` in its scope.

        `private` tells what an unknown chat is; a known one is what its messages said. The work depends on the
        length of the path, not of the chat.
        """
        ...

    async def open(self, messages: Sequence[Message], *, tokens: int, at: datetime) -> tuple[Conversation, Turn]:
        """Do `begin` with state `received` and `load` for its sender, in one transaction.

        The snapshot holds the new turn as the last step of its path.
        """
        ...

    async def join(self, turn: Turn, messages: Sequence[Message], *, tokens: int, at: datetime) -> Turn | None:
        """Take waiting messages into a turn that is still `received`, after those it holds; give it as it is then.

        They are taken as `begin` does, but those that wait no longer are passed over. `tokens` are what they add. None,
        changing nothing, when the turn is no longer `received`, its chat no longer goes on right after it, or it holds
        what another turn holds too (`retry_of`).
        """
        ...

    async def save(self, turn: Turn, *, jobs: Sequence[Job] = (), spent: Sequence[Spent] = ()) -> None:
        """Store state, rounds, answer, tokens, chunk, preview and failure of a turn, and queue jobs with it.

        What it has `spent` since it was saved last is added to what is stored, as `spend` does.

        The bytes of attachments are dropped unless the state is still `received`. Raises StaleEpoch when the chat's
        epoch is no longer the turn's, or the turn is erased.
        """
        ...

    async def progress(self, turn_id: int, *, chunk: int, preview: str, state: State) -> None:
        """Note how far the delivery of a turn has come. An erased turn is left alone."""
        ...

    async def turn(self, turn_id: int) -> Turn | None:
        """Give one turn, None when there is none."""
        ...

    async def open_turns(self, chat: ChatKey | None = None) -> Sequence[Turn]:
        """Give the turns that are `received` or `answered`, of a chat or over all, oldest first."""
        ...

    async def covered(self, segment: Segment) -> Sequence[Turn]:
        """Give the raw turns a segment stands for, oldest first."""
        ...

    async def retry(self, seen: Conversation, turn: Turn, *, tokens: int, at: datetime) -> Turn:
        """Begin a turn that is answered anew: what a turn on the path said, beside it and not after it. It is the head.

        Raises StaleBase, changing nothing, when head or epoch are no longer as seen, or the turn is erased.
        """
        ...

    async def move_head(self, seen: Conversation, to: int | None, *, asides: Sequence[int | None]) -> None:
        """Let a chat go on after a turn of it (None: as before the first), with these asides open there.

        What lies on other branches is kept, and segments that end on the path still serve. Raises StaleBase, changing
        nothing, when head or epoch are no longer as seen, or there is no such turn.
        """
        ...

    async def add_turns(self, chat: ChatKey, turns: Sequence[Turn], *, under: int | None = None) -> Sequence[Turn]:
        """Store turns that are done, beside the talk: the head stays where it is. Creates the chat when it is new.

        Each comes after the one among those before it whose id it names as its parent, or else after `under` (None: at
        the root). They get ids, chat and epoch here. Raises StaleBase, changing nothing, when there is no such turn.
        """
        ...

    async def branches(self, chat: ChatKey) -> Sequence[Branch]:
        """Give the place of every turn of a chat, oldest first, without what was said there."""
        ...

    async def line(self, chat: ChatKey, turn_id: int) -> Sequence[Turn]:
        """Give the raw turns that lead from the root to a turn, itself the last; none when there is no such turn."""
        ...

    async def reword(self, chat: ChatKey, turn_id: int, messages: Sequence[Message]) -> bool:
        """Put other messages in the place of a turn's, with all that `edit` does; False when there is no such turn."""
        ...

    async def raise_epoch(self, chat: ChatKey) -> int:
        """Raise the epoch of a chat, so that what is running can no longer save; give the new one."""
        ...

    async def edit(self, chat: ChatKey, message_id: str, text: str) -> bool:
        """Replace the text of a message in place; False when it is unknown.

        Segments covering its turn are deleted (its turns are raw again), items whose quote came from this turn and is
        no longer in the sender's words are withdrawn, notes of what was said there go, and the edition rises.
        """
        ...

    async def said(self, chat: ChatKey, message_id: str) -> Message | None:
        """Give a message as it is kept, waiting or in its turn; None when it is unknown or erased."""
        ...

    async def search(self, chat: ChatKey, query: Query) -> Sequence[Turn]:
        """Find what was said in a chat, best first; never in another, nor on a branch that was left.

        A turn is found once it is no longer open, by what was said and by its answer.
        """
        ...

    async def index(self, chat: ChatKey) -> None:
        """Put what was told in a chat into the form in which a search reads it fast; again is harmless.

        A search finds the same without it.
        """
        ...

    async def unembedded(self, chat: ChatKey, model: str, *, limit: int) -> Sequence[Turn]:
        """Give turns of a chat that are no longer open and have no vector of a model, latest first.

        A turn that was edited is one of them again.
        """
        ...

    async def embed(self, chat: ChatKey, model: str, vectors: Sequence[tuple[Turn, Vector]]) -> None:
        """Keep the vectors of turns, in the place of others; a turn that is not as it is given is passed over."""
        ...

    async def unnamed(self, chat: ChatKey, *, limit: int) -> Sequence[Turn]:
        """Give turns of a chat that are no longer open and in which no names have been looked for, oldest first.

        A turn that was edited is one of them again.
        """
        ...

    async def name(self, chat: ChatKey, names: Mapping[int, Sequence[str]]) -> None:
        """Note the names that turns of a chat speak of, none too; again is harmless, an erased turn passed over."""
        ...

    async def named(self, chat: ChatKey, text: str, *, limit: int, without: Collection[int]) -> Sequence[Turn]:
        """Give the turns of a chat that speak of a name in the text, newest first, each once; none of a branch left."""
        ...

    async def move_chat(self, old: ChatKey, new: ChatKey) -> None:
        """Give all that is kept of a chat, and of its topics, to what it has become; again is harmless.

        Turns, segments, waiting messages, jobs, facts and notes move, with what their sources say; the new chat is
        allowed or blocked as the old one was. The turns of both are one line, by age, so that nothing is lost. Moved
        messages get ids that name the old chat, since the new one counts from the start; the bare keys stay with the
        old chat, so that a repeat is still known. Where turns move, epoch and edition of both rise.
        """
        ...

    async def moves(self) -> Mapping[ChatKey, ChatKey]:
        """Give what chats have become, by what they were."""
        ...

    async def leave(self, message: Message) -> bool:
        """Let a message wait no longer, its bare key staying; False when it did not wait."""
        ...

    # -- segments -------------------------------------------------------------------------------------------------

    async def add_segment(self, chat: ChatKey, segment: Segment, *, covers: Sequence[Step], edition: int) -> Segment:
        """Store a segment (its `id` and `turns` are set here) that stands for exactly the steps `covers`, oldest first.

        From now on it is what a walk back meets at its `last` turn. Old segments are kept beneath. Raises StaleBase,
        changing nothing, when the edition is another or the steps from `last` back to `before` are no longer those.
        """
        ...

    # -- facts ----------------------------------------------------------------------------------------------------

    async def apply(
        self,
        person: Person,
        scope: str,
        changes: Sequence[Change],
        *,
        turn: Turn | None = None,
        seen: Conversation | None = None,
    ) -> None:
        """Store changes of facts in order, with their history; a (turn, call) already applied is passed over.

        Each change sets the fact of its key to `after` (None removes it); where the fact is no longer as it was
        `before`, only what the change adds and takes away. Raises StaleEpoch when the `turn` that learned it, or what
        was `seen` of the chat where it was said, is of an older epoch.
        """
        ...

    async def known(self, person: Person, scope: str) -> Facts:
        """Give the facts about a person in a scope."""
        ...

    async def changes(self, person: Person, scope: str, *, limit: int = 50) -> Sequence[Change]:
        """Give the latest changes, newest first."""
        ...

    async def bring_in(self, person: Person, brought: Brought) -> None:
        """Store what a person brings along, whole or not at all; a change whose call is known is passed over.

        Raises StaleBase, changing nothing, when turns are brought and the chat has some.
        """
        ...

    async def settings(self, person: Person) -> PersonSettings:
        """Give what a person chose; the defaults for one not seen before."""
        ...

    async def choose(
        self, person: Person, chosen: Callable[[PersonSettings], PersonSettings], *, turn: Turn | None = None
    ) -> None:
        """Change what a person chose: `chosen` makes it of what it is at this moment.

        Raises StaleEpoch when `turn` is erased, or began in an older epoch.
        """
        ...

    async def note(self, person: Person, scope: str, note: Note, *, turn: Turn | None = None) -> None:
        """Keep a note about a person, in the place of the one of its memory and key; one without text removes that.

        Raises StaleEpoch when `turn` began in an older epoch.
        """
        ...

    async def notes(self, person: Person, scope: str) -> Sequence[Note]:
        """Give the notes about a person in a scope, in the order in which they were first kept."""
        ...

    async def scopes(self, person: Person) -> Sequence[str]:
        """Give the scopes in which facts or notes about a person are kept, sorted."""
        ...

    async def people(self, chat: ChatKey) -> Sequence[Person]:
        """Give everyone who has spoken in a chat, sorted."""
        ...

    # -- jobs -----------------------------------------------------------------------------------------------------

    async def enqueue(self, job: Job) -> None:
        """Queue a job, unless one of its kind and key is queued."""
        ...

    async def claim(self, owner: str, now: datetime, *, lease: float, limit: int) -> Sequence[Job]:
        """Take due jobs that nobody holds, earliest first; they are this owner's for `lease` seconds.

        A time more than `FAR` seconds ahead was set by a clock that has been put back since, and counts as over.
        """
        ...

    async def finish(self, job: Job, owner: str, *, spent: Sequence[Spent] = ()) -> None:
        """Remove a job this owner holds, and add what it has spent as `spend` does.

        Of a job that is no longer held, since what it was about may be erased, it is added as nobody's.
        """
        ...

    async def postpone(self, job: Job, owner: str, due: datetime, *, spent: Sequence[Spent] = ()) -> None:
        """Give a held job back, due later, its attempts one higher; what it has spent is added as `finish` does."""
        ...

    async def quiet(self, before: datetime, *, limit: int) -> Sequence[ChatKey]:
        """Give chats last active before a time that have not rested since, longest quiet first.

        One indexed query; no turn is loaded.
        """
        ...

    async def rest(self, chat: ChatKey, seen: datetime) -> None:
        """Note that what was said in a chat up to `seen` has had its idle compaction."""
        ...

    # -- what the model took --------------------------------------------------------------------------------------

    async def spend(self, spent: Sequence[Spent]) -> None:
        """Add what requests to the model took to what is stored of the same day, person, chat, model and purpose."""
        ...

    async def spent(self, since: date, *, person: Person | None = None, chat: ChatKey | None = None) -> Sequence[Spent]:
        """Add up what was taken from a day on, by day, model and purpose: by a person, in a chat, or by all.

        Sorted; person and chat are not told.
        """
        ...

    async def spenders(self, since: date, of: Literal["person", "chat"], *, limit: int) -> Sequence[tuple[str, int]]:
        """Name who took most from a day on, persons or chats by their keys, with all their tokens; most first."""
        ...

    # -- seeing, erasing, operating -------------------------------------------------------------------------------

    async def chats(self) -> Sequence[ChatInfo]:
        """List all chats, the latest active first."""
        ...

    async def heard(self, platform: str, *, limit: int) -> Mapping[ChatKey, datetime]:
        """Give the chats of a platform, the latest first, and when what was received last there was sent."""
        ...

    async def stats(self) -> Stats:
        """Count what is stored."""
        ...

    async def days(self, until: datetime, *, count: int) -> Sequence[Day]:
        """Count what is stored of so many days, oldest first; the last is that of `until`, and none is left out."""
        ...

    async def export(self, person: Person) -> dict[str, Any]:
        """Give everything kept of a person as plain JSON data: facts and history of every scope, settings, private
        chats whole, own turns in groups."""
        ...

    async def erase_turn(self, chat: ChatKey, turn_id: int) -> Receipt:
        """Erase a turn, and with it every other answer to what was said there: its children get its parent (and begin
        an aside there if it did), segments covering it go (their other turns are raw again), items sourced from it go
        and a fact with its last item, their history too, notes of what was said there, its inbox text, its
        jobs. The edition and the epoch rise. An unknown turn gives an empty receipt.
        """
        ...

    async def erase_branch(self, chat: ChatKey, turn_id: int) -> Receipt:
        """Erase a turn as `erase_turn` does, with all that was said inside it."""
        ...

    async def erase_message(self, chat: ChatKey, message_id: str) -> Receipt:
        """Erase what was said in a message: its turn, as `erase_turn` does, or its text where it still waits.

        An unknown message gives an empty receipt.
        """
        ...

    async def erase_fact(self, person: Person, scope: str, key: str) -> Receipt:
        """Erase a fact with its history."""
        ...

    async def erase_notes(self, person: Person, scope: str) -> Receipt:
        """Erase the notes about a person in a scope."""
        ...

    async def erase_chat(self, chat: ChatKey) -> Receipt:
        """Erase all of one chat: turns, segments, waiting messages, jobs, items and notes sourced from it. The epoch
        and the edition rise; the bare inbox keys stay."""
        ...

    async def erase_person(self, person: Person) -> Receipt:
        """Erase all of a person: facts, history, notes and settings everywhere, private chats whole, own turns in
        groups (as `erase_turn` does), waiting messages. The epochs of their chats rise. What they spent becomes
        nobody's, in no chat: it counts for the bot alone."""
        ...

    async def holds(self, text: str) -> Sequence[str]:
        """Name the tables that hold a text anywhere, sorted: what a verifier asks after an erasure.

        Those of the archive hold it where a turn is found by its stems that no longer says it.
        """
        ...

    async def remains(self, text: str) -> Sequence[str]:
        """Name the files of this program's in which a text is to be read, though no table holds it any more."""
        ...

    async def verify(self) -> Sequence[str]:
        """Check every invariant of what is stored; a sentence for each fault found."""
        ...

    async def expire(self, now: datetime, *, keep_days: float, spent_since: date = date.min) -> int:
        """Drop the bare inbox keys older than `keep_days` days that wait for nothing; how many.

        What has a term of its own goes when that is over: buttons, pairings, codes. So does what was spent on a day
        before `spent_since`.
        """
        ...

    async def button(self, command: str, owner: Person, at: datetime) -> int:
        """Keep the command of a button that a platform has no room for, for 30 days; give its id, never used again.

        It goes with its owner, and when something of theirs that it may name is erased: a fact, a turn, what an edit
        takes back.
        """
        ...

    async def pressed(self, id: int) -> tuple[str, Person] | None:
        """Give the command of a kept button and who may press it; None when it is gone."""
        ...

    def duty(self) -> Duty:
        """Give what this process serves, the same each time: one that serves nothing may write unhindered."""
        ...

    async def introduce(self, bot: str) -> str:
        """Note the bot of a platform (`platform:id`), unless one is noted; give the one that is."""
        ...

    async def dismiss(self, platform: str) -> bool:
        """Let another bot be the one of a platform; False when none was noted."""
        ...

    async def audit(self, entry: AuditEntry) -> None:
        """Note an admin action."""
        ...

    async def audited(self, *, limit: int = 50) -> Sequence[AuditEntry]:
        """Give the latest admin actions, newest first."""
        ...

    async def allow(self, entry: str, by: str, at: datetime) -> None:
        """Let a person or a chat (`platform:id`) talk to the bot; again is harmless."""
        ...

    async def disallow(self, entry: str) -> bool:
        """Take an allowance back; False when there was none."""
        ...

    async def allowed(self) -> Sequence[str]:
        """Give the entries of the allow table, sorted."""
        ...

    async def block(self, entry: str, by: str, at: datetime) -> None:
        """Let a person or a chat (`platform:id`) no longer talk to the bot; again is harmless."""
        ...

    async def unblock(self, entry: str) -> bool:
        """Take a block back; False when there was none."""
        ...

    async def blocked(self) -> Sequence[str]:
        """Give the blocked entries, sorted."""
        ...

    async def pair(self, person: Person, code: str, now: datetime, until: datetime) -> str:
        """Keep a code by which a stranger may be let in; give the one they have already, if it is still good.

        Empty when too many strangers ask at once.
        """
        ...

    async def paired(self, code: str, now: datetime) -> Person | None:
        """Take the person of a code that is still good; the code is used up. None when there is none."""
        ...

    async def offer_link(self, person: Person, code: str, until: datetime) -> None:
        """Keep a code by which another account can be linked with a person's, in the place of an earlier one."""
        ...

    async def link_owner(self, code: str, now: datetime) -> Person | None:
        """Give whose code it is, if it is still good."""
        ...

    async def link(self, code: str, person: Person, now: datetime) -> Person | None:
        """Make the owner of a good code and a person, with all they are linked with, one view; give the owner.

        The code is used up. None, changing nothing, when there is no such code or it is the person's own.
        """
        ...

    async def unlink(self, person: Person) -> bool:
        """Take an account out of its view; nothing else changes. False when it was in none."""
        ...

    async def linked(self, person: Person) -> Sequence[Person]:
        """Give the other accounts of a person's view, sorted."""
        ...

    async def note_wrong_code(self, person: Person, at: datetime) -> None:
        """Note that somebody entered a code that links with nobody."""
        ...

    async def wrong_codes(self, person: Person, since: datetime) -> int:
        """Count the wrong codes that somebody entered after a time; they are known for a day."""
        ...

    async def aclose(self) -> None:
        """Let go of the database; calling it twice is harmless."""
        ...
