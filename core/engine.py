"""The front door: a message in, a reply out."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Coroutine, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import replace

from core import sentences
from core.access import Access
from core.adapter import Outgoing
from core.backlog import Backlog, Put, Take
from core.collaborators import Collaborators
from core.commands.command import Command, Commands, Context
from core.compactor import Compactor
from core.conversation import State, Turn
from core.delivery import Delivery
from core.errors import CommandError, Relieved, StoreError
from core.exchange import Exchange
from core.kept import destination
from core.lanes import Entry, Lane, Lanes
from core.linking import Linking
from core.messages import ChatKey, Message, Person, Reply
from core.pairing import Pairing
from core.prompt import Row
from core.rates import Kind, RateLimit, Rates, Verdict
from core.records import AuditEntry
from core.translation import ENGLISH, speaking, spoken

logger = logging.getLogger("keepmind.engine")


class Engine:
    """Answers messages and runs commands: in order within a chat, side by side across chats."""

    def __init__(
        self,
        shared: Collaborators,
        access: Access,
        commands: Commands,
        compactor: Compactor,
        rates: Rates = Rates(),  # noqa: B008 -- frozen
        language: str = ENGLISH,
    ) -> None:
        self.shared = shared
        self.access = access
        self.commands = commands
        self.compactor = compactor
        self.language = language
        self.pairing = Pairing(shared.store, shared.clock)
        self.linking = Linking(shared.store, shared.clock)
        self.limit = RateLimit(rates)
        self._lanes = Lanes(self._work)
        self._backlog = Backlog(
            shared.store, shared.outage, self._lanes, self._accept_waiting, parallel=shared.limits.parallel
        )
        shared.outage.resume = self._backlog.resume
        self.standby: set[str] = set()
        """Platforms that another process serves: what is said there only fills the inbox."""
        self._at_once: set[asyncio.Task[Reply | None]] = set()

    async def handle(self, message: Message) -> Reply | None:
        """Take a message and wait for its reply, delivered; None when it is a repeat or needs no answer."""
        done = await self.accept(message)
        return await asyncio.shield(done) if done is not None else None

    async def accept(self, message: Message) -> asyncio.Future[Reply | None] | None:
        """Take a message: when this returns it is stored, and will be answered even if the process dies.

        Gives a future of its reply, or None when there is nothing to do. Raises StoreError when it can't be stored.
        """
        with self.speaking_to(message):
            return await self._accept_in_order(message)

    def speaking_to(self, message: Message) -> AbstractContextManager[None]:
        """Speak the language of a message's sender until the block is left; if unknown, that of who answers."""
        return speaking(message.language or self.shared.composers.of(message.chat).language or self.language)

    async def _accept_in_order(self, message: Message) -> asyncio.Future[Reply | None] | None:
        chat, store = message.chat, self.shared.store
        async with self._backlog.door(chat):  # what came first is queued first, however long storing it takes
            if chat.platform not in self.standby:
                await self._backlog.before(chat)
                return await self._accept(message, lambda keep: store.receive(message, keep=keep))
            if await store.receive(message) and chat.platform not in self.standby:
                await self._backlog.queue(chat)  # the bot was taken meanwhile, maybe without seeing this message
            return None

    async def _accept_waiting(self, message: Message, take: Take, *, judged: bool, put: Put | None) -> None:
        with self.speaking_to(message):
            await self._accept(message, take, judged=judged, put=put)

    async def _accept(
        self, message: Message, take: Take, *, judged: bool = False, put: Put | None = None
    ) -> asyncio.Future[Reply | None] | None:
        if not await self.access.may_speak(message):
            return self._spawn(self._refuse(message))
        found = self.commands.find(message.text) if message.addressed and not message.forwarded else None
        if self._is_nothing(message, found):
            return None
        if not judged and self._judge(message, found) is not Verdict.HEARD:
            return None
        self._backlog.know(message)
        storing = take(found is None)
        try:
            if not await (storing if judged else self._counted(message, found, storing)):
                return None
        except StoreError:  # it may be stored nevertheless, and is then found in the inbox
            self._backlog.unknow(message)
            raise
        self.compactor.give_way(message.chat)
        return self._enter(message, found, put)

    async def decline(self, message: Message, sentence: str, **values: object) -> None:
        """Tell somebody once, by a marked sentence, why what they sent can't be read.

        It counts as a message, and nothing of it is kept.
        """
        with self.speaking_to(message):
            if self._judge(message) is not Verdict.HEARD:
                return
            if await self._counted(message, None, self.shared.store.receive(message, keep=False)):
                self._spawn(self._say(message, spoken(sentence, **values)))

    def reading(self, message: Message) -> AbstractContextManager[None]:
        """Let what the sender has just said wait for a message whose files are read until the block is left."""
        return self._lanes.coming(message.chat, message.sender)

    def is_over(self, message: Message) -> bool:
        """Say whether a message will be passed over because too much was said: reading its files would be in vain."""
        return self._is_limited(message) and self.limit.is_over(message, _kind(self.commands.find(message.text)))

    def _is_limited(self, message: Message) -> bool:
        return message.addressed and not self.access.is_admin(message.sender, anonymous=message.anonymous)

    def _judge(self, message: Message, found: tuple[Command | None, str] | None = None) -> Verdict:
        """Count a message; the first that is over a limit is told so."""
        verdict = self.limit.judge(message, _kind(found)) if self._is_limited(message) else Verdict.HEARD
        if verdict is Verdict.REACHED:
            logger.info("too much was said by %s in %s", message.sender, message.chat)
            self._spawn(self._say(message, spoken(sentences.TOO_MUCH)))
        return verdict

    async def _counted(
        self, message: Message, found: tuple[Command | None, str] | None, storing: Awaitable[bool]
    ) -> bool:
        """Store a message that was judged, and say whether it is new.

        One that can't be stored comes again, and a repeat was counted before: neither counts. Raises StoreError.
        """
        is_new = False
        try:
            is_new = await storing
        finally:
            if not is_new and self._is_limited(message):
                self.limit.give_back(message, _kind(found))
        return is_new

    async def _say(self, message: Message, sentence: str) -> None:
        await self._delivery(message.chat).say(Outgoing(message.chat, sentence, reply_to=message.id))

    def _is_nothing(self, message: Message, found: tuple[Command | None, str] | None) -> bool:
        """Say whether there is nothing to do: no words and no file, or in a group a command that is another bot's."""
        if found is None:
            return not (message.text.strip() or message.attachments)
        return found[0] is None and not message.private and self.commands.is_foreign(message.text)

    def _enter(
        self, message: Message, found: tuple[Command | None, str] | None, put: Put | None
    ) -> asyncio.Future[Reply | None] | None:
        if put is None and found is None and self.shared.outage.holds(message.chat):
            return None  # it is in the inbox, and is taken from there
        command, arguments = found or (None, "")
        entry = Entry(message, command, arguments)
        if found is not None and (command is None or command.at_once):
            return self._spawn(self._command(entry))
        (put or self._lanes.put)(message.chat, entry)
        return entry.done

    def _spawn(self, work: Coroutine[None, None, Reply | None]) -> asyncio.Task[Reply | None]:
        task = asyncio.create_task(_safely(work))
        self._at_once.add(task)
        task.add_done_callback(self._at_once.discard)
        return task

    async def _refuse(self, message: Message) -> None:
        who = message.sender
        if message.anonymous or not message.addressed or await self.access.is_blocked(message):
            return
        if self.limit.judge(message, "stranger") is not Verdict.HEARD:
            return
        code, is_new = await self.pairing.ask(who, message.language)
        if is_new or message.text.startswith("/start"):
            sentence, only_for = sentences.stranger(who, code), None if message.private else who
            out = Outgoing(message.chat, sentence, only_for=only_for, reply_to=message.id)
            await self._delivery(message.chat).say(out)

    def welcome(self, person: Person, language: str) -> None:
        """Tell a stranger who was let in that they may speak."""
        with speaking(language or self.language):
            self.tell(person, spoken(sentences.LET_IN))

    def tell(self, person: Person, text: str) -> None:
        """Tell somebody something in private, where they can be reached."""
        if person.platform in self.shared.deliveries:
            chat = ChatKey(person.platform, person.user)
            self._spawn(self._delivery(chat).say(Outgoing(chat, text, only_for=person)))

    def _delivery(self, chat: ChatKey) -> Delivery:
        return self.shared.deliveries[chat.platform]

    async def _work(self, lane: Lane) -> None:
        entries = lane.doing = []
        reply = None
        try:
            if lane.queue[0].command is not None:
                entries.append(lane.queue.popleft())
                reply = await self._command(entries[0])
            else:
                reply = await self._answer(lane, entries)
        finally:
            lane.doing = []
            for entry in entries:
                entry.end(reply)

    async def _answer(self, lane: Lane, entries: list[Entry]) -> Reply | None:
        async with lane.lock:
            if not lane.queue or lane.queue[0].command is not None:
                return None  # what waited was dropped or has moved while the chat was held
            entries.append(lane.queue.popleft())
            with self.speaking_to(entries[0].message):
                return await self._exchange(lane, entries)

    async def _exchange(self, lane: Lane, entries: list[Entry]) -> Reply | None:
        lane.exchange = exchange = Exchange(self.shared, lane.chat, entries[0].message.sender)
        began = time.perf_counter()
        try:
            await lane.burst(entries, self._delivery(lane.chat).adapter.quiet, self.shared.limits.max_burst)
            self.shared.meter.part("wait", time.perf_counter() - entries[0].came)
            if entries[0].turn is None:
                return await exchange.run([e.message for e in entries])
            return await self._take_up_turn(lane, entries, exchange)
        except Exception as error:  # a bug with one turn ends in an apology, not the lane
            return await exchange.broke(error)
        finally:
            lane.exchange = None
            if exchange.waits:
                self.shared.outage.hold(lane.chat, exchange.waits)
                lane.drop_talk()
            self._measure(lane.chat.platform, exchange.outcome, time.perf_counter() - began)

    async def _take_up_turn(self, lane: Lane, entries: list[Entry], exchange: Exchange) -> Reply | None:
        turn, more = entries[0].turn, entries[1:]
        assert turn is not None
        if more and not await exchange.joined(turn, [e.message for e in more]):
            lane.put_back(more)
            del entries[1:]
        return await exchange.resume(turn)

    def _measure(self, platform: str, outcome: str, seconds: float) -> None:
        self.shared.meter.turn(platform, outcome or "none", seconds)
        if outcome == State.DELIVERED:
            self.shared.seconds.append(seconds)

    async def _command(self, entry: Entry) -> Reply:
        with self.speaking_to(entry.message):
            return await self._answer_command(entry)

    async def _answer_command(self, entry: Entry) -> Reply:
        reply, message = await self._run_command(entry), entry.message
        only_for = message.sender if reply.private and not message.private else None
        shown = Outgoing(message.chat, reply.text, True, only_for, message.id, reply.choices, reply.file)
        out, delivery = replace(shown, asker=message.asker), self._delivery(message.chat)
        if not (reply.replaces and message.pressed and await delivery.replaced(message.pressed, out)):
            await delivery.say(out)
        return reply

    async def _run_command(self, entry: Entry) -> Reply:
        message, command = entry.message, entry.command
        if command is None:
            name = message.text.strip()[1:].split()[0][:40]
            near = self.commands.nearest(name)
            sentence = sentences.NEARLY_A_COMMAND if near else sentences.NO_SUCH_COMMAND
            return Reply(spoken(sentence, name=name, near=near), private=True)
        admin = self.access.is_admin(message.sender, anonymous=message.anonymous)
        try:
            if command.admin and admin:
                what = f"/{command.name} {entry.arguments}".strip()
                await self.shared.store.audit(
                    AuditEntry(str(message.sender), what, str(message.chat), self.shared.clock.now())
                )
            return await command.run(Context(message, self, admin), entry.arguments)
        except CommandError as error:
            return Reply(str(error), private=command.private or command.admin)
        except Relieved:
            raise  # whoever serves the bot now answers
        except Exception as error:  # a command's bug must not cost the person a reply
            logger.error("command /%s failed: %s", command.name, type(error).__name__)
            logger.debug("its traceback", exc_info=error)
            return Reply(spoken(sentences.APOLOGY_COMMAND))

    @asynccontextmanager
    async def interrupted(self, chat: ChatKey, *, drop: bool = False) -> AsyncIterator[bool]:
        """End the turn in progress in a chat, keeping what was said, and let no other begin until the block is left.

        Gives whether a turn was in progress. Raises the chat's epoch, so that nothing begun before can save any more;
        with `drop` what waits there is forgotten too. Not for commands that wait in the queue themselves.
        """
        async with self._lanes.hold(chat, drop=drop) as stopped:
            await self.shared.store.raise_epoch(chat)
            yield stopped

    async def retract(self, chat: ChatKey, message_id: str) -> bool:
        """Forget a message that is no longer said, with its turn, which ends if it is in progress; False if unknown.

        Raises StoreError.
        """
        exchange = self._lanes.in_progress(chat)
        turn = exchange.turn if exchange is not None else None
        answered_now = turn is not None and any(m.id == message_id for m in turn.messages)
        async with self.interrupted(chat) if answered_now else nullcontext():
            erased = (await self.shared.store.erase_message(chat, message_id)).total
        return self.shared.stretches.drop_message(chat, message_id) or bool(erased)

    def answer(self, turn: Turn) -> None:
        """Let a turn that is begun be answered before anything else that waits in its chat."""
        self._lanes.put(turn.chat, Entry(turn.message, turn=turn), first=True)

    def answering(self, chat: ChatKey) -> Person | None:
        """Say whose turn is in progress in a chat, None when none is."""
        exchange = self._lanes.in_progress(chat)
        return None if exchange is None else exchange.sender

    async def asker(self, chat: ChatKey) -> Person | None:
        """Say whose turn is in progress in a chat, or waits there for the model; None when there is none."""
        waiting = (turn.sender for turn in await self._waiting_turns(chat))
        return self.answering(chat) or next(waiting, None)

    async def _waiting_turns(self, chat: ChatKey) -> Sequence[Turn]:
        held = self.shared.outage.holds(chat)
        return [turn for turn in await self.shared.store.open_turns(chat) if turn.waits] if held else []

    async def interrupt(self, chat: ChatKey, *, drop: bool = False) -> bool:
        """End the turn in progress in a chat as `interrupted` does, or that waits there for the model, and go on.

        Say whether there was one.
        """
        async with self.interrupted(chat, drop=drop) as stopped:
            waiting = await self._waiting_turns(chat)
            for turn in waiting:
                await Exchange(self.shared, chat, turn.sender).end(turn)
            return stopped or bool(waiting)

    async def move(self, old: ChatKey, new: ChatKey) -> None:
        """Let a chat, with its topics, become another: all that is kept of it goes along, and what waits there.

        Waits for the turns in progress, so not for what runs within one. Again is harmless. Raises StoreError.
        """
        here = {old, *self._lanes, *self.shared.outage, *self._backlog}
        becoming = {chat: to for chat in here if (to := destination(chat, old, new))}
        async with AsyncExitStack() as held:
            chats = sorted({*becoming, *becoming.values()}, key=str)
            for chat in chats:
                await held.enter_async_context(self._lanes.still(chat))
            for chat in chats:
                await held.enter_async_context(self._backlog.door(chat))
            await self.shared.store.move_chat(old, new)
            for chat, to in becoming.items():
                self._lanes.move(chat, to)
                self.shared.outage.move(chat, to)
                self._backlog.move(chat, to)
            await self.access.move(old, new, self.shared.clock.now())

    def last_report(self, message: Message) -> Sequence[Row] | None:
        """Tell what the last prompt composed for a person in a chat was made of; None when there was none yet."""
        return self.shared.reports.get((message.chat, message.sender))

    async def recover(self, platform: str = "") -> int:
        """Take up what a stopped process left open in the chats the adapters serve; how many turns and messages.

        With a `platform` only what is open there. When this returns the first chats are queued, and the others are one
        after the other. Raises StoreError.
        """
        return await self._backlog.take_over(lambda chat: self._serves(chat, platform))

    async def take_up(self) -> int:
        """Take what another process has put into the inbox; how many messages. Raises StoreError."""
        return await self._backlog.take_in(self._serves)

    def _serves(self, chat: ChatKey, platform: str = "") -> bool:
        delivery = self.shared.deliveries.get(chat.platform)
        if chat.platform in self.standby or platform not in ("", chat.platform):
            return False
        return delivery is not None and delivery.adapter.serves(chat)

    @property
    def waiting(self) -> int:
        """How many messages and commands wait for their turn."""
        return self._lanes.waiting + self._backlog.waiting

    @property
    def busy(self) -> int:
        """How many chats have something in progress."""
        return len(self._lanes)

    async def idle(self) -> None:
        """Wait until nothing is in progress: after `recover`, until what was left open is answered."""
        await self._backlog.idle()
        await self._lanes.idle()

    async def aclose(self, seconds: float = 10) -> None:
        """Finish what is in progress within `seconds`; what is not can be taken up at the next start."""
        await self.shared.outage.aclose()
        await self._backlog.aclose()
        ends = time.monotonic() + seconds
        await self._lanes.drain(seconds)
        if self._at_once:
            _, late = await asyncio.wait(self._at_once, timeout=max(0, ends - time.monotonic()))
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)


def _kind(found: tuple[Command | None, str] | None) -> Kind:
    """Say what a message counts as: a command that asks the model is a message like any other."""
    return "message" if found is None or (found[0] is not None and found[0].asks) else "command"


async def _safely(work: Coroutine[None, None, Reply | None]) -> Reply | None:
    try:
        return await work
    except Exception as error:  # nobody may be waiting for it
        logger.error("a command met a bug: %s", type(error).__name__)
        logger.debug("its traceback", exc_info=error)
        return None
