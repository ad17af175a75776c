"""The commands of the bot's admins; every use is written to the audit table."""

from __future__ import annotations

from statistics import median

from core.commands import cards
from core.commands.command import Command, Context, command
from core.commands.figures import DAYS, daily, stored
from core.commands.spending import overview, overview_of, told
from core.conversation import Conversation
from core.errors import CommandError, KeepmindError
from core.messages import PRIVATE, ChatKey, Person, Reply
from core.records import AuditEntry, ChatInfo
from core.translation import counted, marked, spoken

DELIVERED = marked("{platform}: {sent} chunks sent, {ambiguous} ambiguous, {refused} refused, {waits} waits")
PACE = marked("seconds to an answer: {middle} in the middle, {longest} at most, of the last {count}")
ALLOWED = marked("{whom} may talk to me now.")


@command(admin=True, at_once=True, private=True, arguments="[CHAT|PERSON]")
async def admin_memory_view(context: Context, whom: str = "") -> str:
    """Show what is stored of a chat or a person (platform:id), or of this chat."""
    key = _key(whom.strip() or str(context.message.chat))
    lines = [line for info in await _chats(context, key) for line in await _view_chat(context, info)]
    lines += await _view_person(context, Person(key.platform, key.chat)) if key.topic is None else []
    return "\n".join(dict.fromkeys(lines)) or spoken("Nothing is stored of {key}.", key=key)


@command(admin=True, at_once=True, private=True, arguments="CHAT|PERSON")
async def admin_memory_clear(context: Context, whom: str) -> Reply:
    """Erase all of a chat or a person (platform:id); `yes` after it confirms."""
    words = whom.split(" ")
    sure = words[-1].casefold() == "yes"
    key = _key(" ".join(words[:-1] if sure else words))
    if not sure:
        what = spoken("This erases all that is kept of {key}.", key=key)
        return cards.confirmation(what, spoken("Erase it"), f"/admin memory clear {key} yes")
    receipts = []
    for info in await _chats(context, key):
        async with context.engine.interrupted(info.chat, drop=True):
            receipts.append(await context.store.erase_chat(info.chat))
    if key.topic is None:
        receipts.append(await context.store.erase_person(Person(key.platform, key.chat)))
    return Reply(cards.receipt(receipts))


def _key(whom: str) -> ChatKey:
    """Read whom an admin means: people and chats are written alike."""
    try:
        return ChatKey.parse(whom.strip())
    except ValueError:
        raise CommandError(
            spoken("{whom!r} is not a chat; write it as platform:chat or platform:chat/topic.", whom=whom.strip())
        ) from None


async def _chats(context: Context, key: ChatKey) -> list[ChatInfo]:
    """The chat of that name that is known, with its topics."""
    topics = key.topic is None
    return [i for i in await context.store.chats() if i.chat == key or (topics and i.chat.scope == key.scope)]


async def _view_chat(context: Context, info: ChatInfo) -> list[str]:
    segments = counted("{count} segment", "{count} segments", info.segments)
    last = spoken("last active {at:%Y-%m-%d %H:%M} UTC", at=info.active_at)
    lines = [f"{info.chat}: {_turns(info.turns)}, {segments}, {last}"]
    for person in await context.store.people(info.chat):
        lines += _facts_of(person, await context.store.load(info.chat, person, private=info.private))
    here = await context.store.load(info.chat, private=info.private)
    return [*lines, *(spoken("summary of {turns}: {text}", turns=_turns(s.turns), text=s.text) for s in here.segments)]


def _turns(count: int) -> str:
    return counted("{count} turn", "{count} turns", count)


def _facts_of(person: Person, conversation: Conversation) -> list[str]:
    return [f"{person} ({conversation.scope}) {cards.fact_line(f)}" for f in conversation.facts.by_key.values()]


async def _view_person(context: Context, person: Person) -> list[str]:
    lines: list[str] = []
    for scope in await context.store.scopes(person):
        chat = ChatKey(person.platform, person.user) if scope == PRIVATE else ChatKey.parse(scope)
        lines += _facts_of(person, await context.store.load(chat, person, private=scope == PRIVATE))
        notes = await context.store.notes(person, scope)
        lines += [f"{person} ({scope}) {note.memory} {note.key}: {note.text}" for note in notes]
    return lines


@command(admin=True, private=True, arguments="[all]")
async def admin_compact(context: Context, which: str = "") -> str:
    """Compact this chat now, or with `all` every chat over its low-water mark."""
    if which.casefold() not in ("", "all"):
        raise CommandError(spoken("Please say it as {usage}", usage="/admin compact [all]"))
    compactor = context.engine.compactor
    try:
        if which:
            chats = await compactor.compact_quiet(everything=True)
            return counted("Compacted: {count} chat.", "Compacted: {count} chats.", chats)
        shrank = await compactor.compact(context.message.chat, low=True)
    except KeepmindError as error:
        raise CommandError(spoken("That did not work now, and nothing has changed: {error}", error=error)) from error
    return spoken("This chat is compacted.") if shrank else spoken("There was nothing to compact here.")


@command(admin=True, at_once=True, private=True)
async def admin_stats(context: Context) -> str:
    """Count what is stored and what was delivered."""
    rows = stored(await context.store.stats())
    rows += daily(await context.store.days(context.now, count=DAYS))
    if seconds := sorted(context.engine.shared.seconds):
        middle, longest = f"{median(seconds):.1f}", f"{seconds[-1]:.1f}"
        rows.append(spoken(PACE, middle=middle, longest=longest, count=len(seconds)))
    for platform, delivery in context.engine.shared.deliveries.items():
        rows.append(spoken(DELIVERED, platform=platform, **vars(delivery.counts)))
    failed = spoken("failed jobs since the start: {count}", count=context.engine.compactor.failures)
    return "\n".join([*rows, failed])


@command(admin=True, at_once=True, private=True, arguments="[CHAT|PERSON]")
async def admin_usage(context: Context, whom: str = "") -> str:
    """Tell how many tokens everybody has used, or a chat or a person (platform:id)."""
    ledger = context.engine.shared.ledger
    found = await overview_of(ledger, _key(whom)) if whom.strip() else await overview(ledger)
    lines = told(found, ledger.prices, ledger.zone)
    return "\n".join(lines) or spoken("No tokens were used of late.")


@command(admin=True, at_once=True, private=True, arguments="CODE|PERSON|CHAT")
async def admin_allow(context: Context, whom: str) -> str:
    """Let a person in by the code they were given, or a person or a chat by its id (platform:id)."""
    engine = context.engine
    if ":" in whom:
        entry = _entry(whom)
        await context.store.allow(entry, str(context.person), context.now)
        if (language := engine.pairing.asked_in(Person.parse(entry))) is not None:
            engine.welcome(Person.parse(entry), language)
        return spoken(ALLOWED, whom=entry)
    person = await engine.pairing.admit(whom, context.person)
    await _note(context, f"/admin allow {person}")
    engine.welcome(person, engine.pairing.asked_in(person) or "")
    return spoken(ALLOWED, whom=person)


@command(admin=True, at_once=True, private=True, arguments="PERSON|CHAT")
async def admin_block(context: Context, whom: str) -> str:
    """Let a person or a chat (platform:id) no longer talk to me; I won't answer them at all."""
    entry = _entry(whom)
    if context.engine.access.is_admin(Person.parse(entry)):
        raise CommandError(spoken("{whom} is an admin, by the configuration.", whom=entry))
    await context.engine.access.block(entry, str(context.person), context.now)
    return spoken("{whom} is blocked.", whom=entry)


@command(admin=True, at_once=True, private=True, arguments="PERSON|CHAT")
async def admin_unblock(context: Context, whom: str) -> str:
    """Take a block back."""
    entry = _entry(whom)
    unblocked = await context.engine.access.unblock(entry)
    told = marked("{whom} is blocked no more.") if unblocked else marked("{whom} was not blocked.")
    return spoken(told, whom=entry)


def _entry(whom: str) -> str:
    """Read a person or a chat by its id; names can be taken by others, so they let nobody in."""
    key = _key(whom)
    if key.topic is not None or key.chat.startswith(("@", "*")):
        raise CommandError(spoken("{whom!r} is no person or chat; write its id as platform:id", whom=whom.strip()[:80]))
    return str(key)


async def _note(context: Context, what: str) -> None:
    entry = AuditEntry(str(context.person), what, str(context.message.chat), context.now)
    await context.store.audit(entry)


ADMIN_COMMANDS: tuple[Command, ...] = (
    admin_memory_view,
    admin_memory_clear,
    admin_compact,
    admin_stats,
    admin_usage,
    admin_allow,
    admin_block,
    admin_unblock,
)
