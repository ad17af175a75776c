"""The commands of the bot's admins; every use is written to the audit table."""

from __future__ import annotations

from core import cards
from core.commands import Command, Context, command
from core.conversation import Conversation
from core.errors import CommandError, KeepmindError
from core.messages import PRIVATE, ChatKey, Person, Reply
from core.store import AuditEntry, ChatInfo


@command(admin=True, at_once=True, private=True, arguments="[CHAT|PERSON]")
async def admin_memory_view(context: Context, whom: str = "") -> str:
    """Show what is stored of a chat or a person (platform:id), or of this chat."""
    key = _key(whom.strip() or str(context.message.chat))
    lines = [line for info in await _chats(context, key) for line in await _view_chat(context, info)]
    lines += await _view_person(context, Person(key.platform, key.chat)) if key.topic is None else []
    return "\n".join(dict.fromkeys(lines)) or f"Nothing is stored of {key}."


@command(admin=True, at_once=True, private=True, arguments="CHAT|PERSON")
async def admin_memory_clear(context: Context, whom: str) -> Reply:
    """Erase all of a chat or a person (platform:id); `yes` after it confirms."""
    words = whom.split(" ")
    sure = words[-1].casefold() == "yes"
    key = _key(" ".join(words[:-1] if sure else words))
    if not sure:
        what = f"This erases all that is kept of {key}."
        return cards.confirmation(what, "Erase it", f"/admin memory clear {key} yes")
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
    except ValueError as error:
        raise CommandError(f"{error}.") from None


async def _chats(context: Context, key: ChatKey) -> list[ChatInfo]:
    """The chat of that name that is known, with its topics."""
    topics = key.topic is None
    return [i for i in await context.store.chats() if i.chat == key or (topics and i.chat.scope == key.scope)]


async def _view_chat(context: Context, info: ChatInfo) -> list[str]:
    turns, segments = cards.counted(info.turns, "turn"), cards.counted(info.segments, "segment")
    lines = [f"{info.chat}: {turns}, {segments}, last active {info.active_at:%Y-%m-%d %H:%M} UTC"]
    for person in await context.store.people(info.chat):
        lines += _facts_of(person, await context.store.load(info.chat, person, private=info.private))
    here = await context.store.load(info.chat, private=info.private)
    return [*lines, *(f"summary of {cards.counted(s.turns, 'turn')}: {s.text}" for s in here.segments)]


def _facts_of(person: Person, conversation: Conversation) -> list[str]:
    return [f"{person} ({conversation.scope}) {cards.fact_line(f)}" for f in conversation.facts.by_key.values()]


async def _view_person(context: Context, person: Person) -> list[str]:
    lines: list[str] = []
    for scope in await context.store.scopes(person):
        chat = ChatKey(person.platform, person.user) if scope == PRIVATE else ChatKey.parse(scope)
        lines += _facts_of(person, await context.store.load(chat, person, private=scope == PRIVATE))
    return lines


@command(admin=True, private=True, arguments="[all]")
async def admin_compact(context: Context, which: str = "") -> str:
    """Compact this chat now, or with `all` every chat over its low-water mark."""
    if which.casefold() not in ("", "all"):
        raise CommandError("Please say it as /admin compact or /admin compact all")
    compactor = context.engine.compactor
    try:
        if which:
            return f"Compacted: {cards.counted(await compactor.compact_quiet(everything=True), 'chat')}."
        shrank = await compactor.compact(context.message.chat, low=True)
    except KeepmindError as error:
        raise CommandError(f"That did not work now, and nothing has changed: {error}") from error
    return "This chat is compacted." if shrank else "There was nothing to compact here."


@command(admin=True, at_once=True, private=True)
async def admin_stats(context: Context) -> str:
    """Count what is stored and what was delivered."""
    stats = await context.store.stats()
    rows = [f"{name.replace('_', ' ')}: {getattr(stats, name)}" for name in stats.__dataclass_fields__]
    for platform, delivery in context.engine.shared.deliveries.items():
        c = delivery.counts
        rows.append(f"{platform}: {c.sent} chunks sent, {c.ambiguous} ambiguous, {c.refused} refused, {c.waits} waits")
    return "\n".join([*rows, f"failed jobs since the start: {context.engine.compactor.failures}"])


@command(admin=True, at_once=True, private=True, arguments="CODE|PERSON|CHAT")
async def admin_allow(context: Context, whom: str) -> str:
    """Let a person in by the code they were given, or a person or a chat by its id (platform:id)."""
    if ":" in whom:
        entry = _entry(whom)
        await context.store.allow(entry, str(context.person), context.now)
        return f"{entry} may talk to me now."
    person = await context.engine.pairing.admit(whom, context.person)
    await _note(context, f"/admin allow {person}")
    return f"{person} may talk to me now."


@command(admin=True, at_once=True, private=True, arguments="PERSON|CHAT")
async def admin_block(context: Context, whom: str) -> str:
    """Let a person or a chat (platform:id) no longer talk to me; I won't answer them at all."""
    entry = _entry(whom)
    if context.engine.access.is_admin(Person.parse(entry)):
        raise CommandError(f"{entry} is an admin, by the configuration.")
    await context.engine.access.block(entry, str(context.person), context.now)
    return f"{entry} is blocked."


@command(admin=True, at_once=True, private=True, arguments="PERSON|CHAT")
async def admin_unblock(context: Context, whom: str) -> str:
    """Take a block back."""
    entry = _entry(whom)
    return f"{entry} is blocked no more." if await context.engine.access.unblock(entry) else f"{entry} was not blocked."


def _entry(whom: str) -> str:
    """Read a person or a chat by its id; names can be taken by others, so they let nobody in."""
    key = _key(whom)
    if key.topic is not None or key.chat.startswith(("@", "*")):
        raise CommandError(f"{whom.strip()[:80]!r} is no person or chat; write its id as platform:id")
    return str(key)


async def _note(context: Context, what: str) -> None:
    entry = AuditEntry(str(context.person), what, str(context.message.chat), context.now)
    await context.store.audit(entry)


ADMIN_COMMANDS: tuple[Command, ...] = (
    admin_memory_view,
    admin_memory_clear,
    admin_compact,
    admin_stats,
    admin_allow,
    admin_block,
    admin_unblock,
)
