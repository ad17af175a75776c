"""The commands of the bot's admins; every use is written to the audit table."""

from __future__ import annotations

from core.commands import Command, Context, command
from core.conversation import Conversation
from core.errors import CommandError, KeepmindError
from core.messages import PRIVATE, ChatKey, Person
from core.person_commands import _card_line, _receipt


@command(admin=True, at_once=True, private=True)
async def admin_memory_view(context: Context, whom: str = "") -> str:
    """Show what is stored of a chat or a person (platform:id), or of this chat."""
    return await _view_chat(context, whom) or await _view_person(context, Person.parse(_named(context, whom)))


@command(admin=True, at_once=True, private=True)
async def admin_memory_clear(context: Context, whom: str, sure: str = "") -> str:
    """Erase all of a chat or a person (platform:id); `yes` after it confirms."""
    name = _named(context, whom)
    if sure.casefold() != "yes":
        return f"This erases all that is kept of {name}. To confirm, send: /admin memory clear {name} yes"
    store, chats = context.engine.shared.store, {str(i.chat): i.chat for i in await context.engine.shared.store.chats()}
    if name in chats:
        await context.engine.interrupt(chats[name], drop=True)
        return _receipt([await store.erase_chat(chats[name])])
    return _receipt([await store.erase_person(Person.parse(name))])


def _named(context: Context, whom: str) -> str:
    name = whom.strip() or str(context.message.chat)
    try:
        ChatKey.parse(name)
    except ValueError as error:
        raise CommandError(f"{error}.") from None
    return name


async def _view_chat(context: Context, whom: str) -> str:
    chat = ChatKey.parse(_named(context, whom))
    store = context.engine.shared.store
    info = next((i for i in await store.chats() if i.chat == chat), None)
    if info is None:
        return ""
    lines = [f"{chat}: {info.turns} turns, {info.segments} segments, last active {info.active_at:%Y-%m-%d %H:%M} UTC"]
    for person in await store.people(chat):
        lines += _facts_of(person, await store.load(chat, person, private=info.private))
    here = await store.load(chat, private=info.private)
    lines += [f"summary of {s.turns} turns: {s.text}" for s in here.segments]
    return "\n".join(lines)


def _facts_of(person: Person, conversation: Conversation) -> list[str]:
    return [f"{person} ({conversation.scope}) {_card_line(f)}" for f in conversation.facts.by_key.values()]


async def _view_person(context: Context, person: Person) -> str:
    store = context.engine.shared.store
    lines: list[str] = []
    for scope in await store.scopes(person):
        chat = ChatKey(person.platform, person.user) if scope == PRIVATE else ChatKey.parse(scope)
        lines += _facts_of(person, await store.load(chat, person, private=scope == PRIVATE))
    return "\n".join(lines) or f"Nothing is stored of {person}."


@command(admin=True, private=True)
async def admin_compact(context: Context, which: str = "") -> str:
    """Compact this chat now, or with `all` every chat over its low-water mark."""
    compactor = context.engine.compactor
    try:
        if which.casefold() == "all":
            return f"Compacted: {await compactor.compact_quiet(everything=True)} chats."
        shrank = await compactor.compact(context.message.chat, low=True)
    except KeepmindError as error:
        raise CommandError(f"That did not work now, and nothing has changed: {error}") from error
    return "This chat is compacted." if shrank else "There was nothing to compact here."


@command(admin=True, at_once=True, private=True)
async def admin_stats(context: Context) -> str:
    """Count what is stored and what was delivered."""
    stats = await context.engine.shared.store.stats()
    rows = [f"{name.replace('_', ' ')}: {getattr(stats, name)}" for name in stats.__dataclass_fields__]
    for platform, delivery in context.engine.shared.deliveries.items():
        c = delivery.counts
        rows.append(f"{platform}: {c.sent} chunks sent, {c.ambiguous} ambiguous, {c.refused} refused, {c.waits} waits")
    return "\n".join([*rows, f"failed jobs since the start: {context.engine.compactor.failures}"])


ADMIN_COMMANDS: tuple[Command, ...] = (admin_memory_view, admin_memory_clear, admin_compact, admin_stats)
