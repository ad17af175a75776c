"""The commands by which people erase what is kept of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext

from core.commands import cards
from core.commands.command import Command, Context, FactKey, command
from core.commands.memory import changed, key_of, known_fact
from core.conversation import Segment, Turn
from core.errors import CommandError
from core.messages import Person, Reply
from core.records import AuditEntry, Receipt
from core.translation import spoken


@command(at_once=True, private=True, arguments="last|KEY|chat|me")
async def forget(context: Context, what: FactKey) -> Reply:
    """Erase your last turn (last), a fact (its key), this chat (chat) or everything of yours (me)."""
    kind, *sure = what.casefold().split()
    if kind == "message" and len(sure) == 1 and sure[0].isdecimal():
        return await _forget_message(context, sure[0])
    chosen = {"last": _forget_last, "chat": _forget_chat, "me": _forget_me}.get(kind)
    if chosen is None or sure not in ([], ["yes"]):
        return await _forget_fact(context, what)
    return await chosen(context, bool(sure))


async def _forget_fact(context: Context, words: str) -> Reply:
    key = key_of(words)
    if key not in await _keys(context):
        await known_fact(context, words)
    async with _interrupted(context):
        return await _erase_facts(context, [key])


def _interrupted(context: Context, *, drop: bool = False) -> AbstractAsyncContextManager[object]:
    """End the turn in progress (with `drop` what waits too) in a private chat; in a group it may be somebody else's."""
    chat = context.message.chat
    return context.engine.interrupted(chat, drop=drop) if context.message.private else nullcontext()


async def _keys(context: Context) -> list[str]:
    """The keys of the caller's facts here, and of those that only the history still knows."""
    changes = await context.store.changes(context.person, context.scope, limit=10_000)
    return sorted({*(await context.here()).facts, *(change.key for change in changes)})


async def _erase_facts(context: Context, keys: list[str], *more: Receipt) -> Reply:
    receipts = [*more, *[await context.store.erase_fact(context.person, context.scope, key) for key in keys]]
    await context.choose(since=context.now)  # or a second look would learn it again from the same words
    return await changed(context, cards.receipt(receipts), keys[0] if keys else "")


async def _forget_last(context: Context, sure: bool) -> Reply:  # noqa: ARG001 -- asks nothing
    async with _interrupted(context):
        if context.engine.shared.stretches.drop_last(context.message.chat, context.person):
            return Reply(cards.receipt([Receipt({"turns": 1})]))
        turn = await _last_turn(context)
        if turn is None:
            raise CommandError(spoken("There is no turn of yours that I remember."))
        return Reply(cards.receipt([await context.store.erase_turn(turn.chat, turn.id)]))


async def _last_turn(context: Context) -> Turn | None:
    for step in reversed((await context.here()).path):
        turns = await context.store.covered(step) if isinstance(step, Segment) else [step]
        own = [turn for turn in turns if turn.sender == context.person]
        if own:
            return own[-1]
    return None


async def _forget_message(context: Context, id: str) -> Reply:
    """Erase what was said in one message, for whoever wrote it; an admin may for others, which is noted."""
    said = await context.store.said(context.message.chat, id)
    if said is None:
        raise CommandError(spoken("I keep nothing of that message."))
    if said.anonymous or said.sender != context.person:
        if not context.admin:
            raise CommandError(spoken("Only who wrote a message, or an admin, can make me forget it."))
        await context.store.audit(AuditEntry(str(context.person), f"/forget message {id}", str(said.chat), context.now))
    async with _interrupted(context):
        return Reply(cards.receipt([await context.store.erase_message(said.chat, id)]))


async def _forget_chat(context: Context, sure: bool) -> Reply:
    message = context.message
    if not message.private:
        raise CommandError(
            spoken("A group's memory is cleared by an admin. /forget me erases what is yours, here as well.")
        )
    if not sure:
        what = spoken("This erases all of this conversation.")
        return cards.confirmation(what, spoken("Erase this chat"), "/forget chat yes")
    async with _interrupted(context, drop=True):
        context.engine.shared.stretches.end(context.person, message.chat)
        return Reply(cards.receipt([await context.store.erase_chat(message.chat)]))


async def _forget_me(context: Context, sure: bool) -> Reply:
    linked = await context.store.linked(context.person)
    if not sure:
        return cards.confirmation(_everything(linked), spoken("Erase everything"), "/forget me yes")
    async with _interrupted(context, drop=True):
        receipts = [await _erase_person(context, person) for person in (*linked, context.person)]
        reached = (
            [spoken("Your linked accounts are erased too: {accounts}.", accounts=_named(linked))] if linked else []
        )
        return Reply("\n".join([cards.receipt(receipts), *reached]))


def _everything(linked: Sequence[Person]) -> str:
    if not linked:
        return spoken("This erases everything I keep of you, everywhere.")
    return spoken(
        "This erases everything I keep of you, everywhere, and of your linked accounts too: {accounts}. "
        "To keep those, send /unlink first.",
        accounts=_named(linked),
    )


def _named(people: Sequence[Person]) -> str:
    return ", ".join(map(str, people))


async def _erase_person(context: Context, person: Person) -> Receipt:
    context.engine.shared.stretches.end(person)
    return await context.store.erase_person(person)


@command(private=True, arguments="[yes]")
async def memory_clear(context: Context, sure: str = "") -> Reply:
    """Forget all facts about you here; the conversation stays."""
    if sure.casefold() != "yes":
        what = spoken("This forgets every fact about you here.")
        return cards.confirmation(what, spoken("Forget all facts"), "/memory clear yes")
    notes = await context.store.erase_notes(context.person, context.scope)
    return await _erase_facts(context, await _keys(context), notes)


FORGET_COMMANDS: tuple[Command, ...] = (forget, memory_clear)
