"""The memory card: what is known about a person, page by page, each fact to be opened, pinned, changed or erased."""

from __future__ import annotations

from core.commands import cards
from core.commands.command import Command, Context, FactKey, command
from core.commands.memory import card_of, check_may_write, draft_of, fact_in, key_of, known_fact
from core.errors import CommandError, ToolError
from core.facts import Fact
from core.messages import Attachment, Choice, Reply
from core.sentences import NO_SUCH_COMMAND
from core.translation import spoken

WHOLE = 1500
"""Most characters of the values of a fact that is opened; longer ones are sent as a file as well."""


@command(at_once=True, private=True, arguments="")
async def memory(context: Context, more: str = "") -> Reply:
    """Show what I know about you here."""
    if more.casefold() not in ("", "view"):  # as it is called where a name must go on
        raise CommandError(spoken(NO_SUCH_COMMAND, name="memory " + more.split()[0][:40]))
    return await card_of(context)


@command(at_once=True, private=True)
async def memory_page(context: Context, number: int) -> Reply:
    """Show a page of it."""
    return await card_of(context, number)


@command(at_once=True, private=True)
async def memory_fact(context: Context, key: FactKey) -> Reply:
    """Show one fact, and what you can do about it."""
    return _opened(await known_fact(context, key))


def _opened(fact: Fact) -> Reply:
    pin = (spoken("Unpin"), f"/memory unpin {fact.key}") if fact.pinned else (spoken("Pin"), f"/memory pin {fact.key}")
    choices = (
        Choice(spoken("Forget this"), f"/forget {fact.key}"),
        Choice(*pin),
        Choice(spoken("Edit"), f"/memory set {fact.key}", asks=True),
        Choice(spoken("Why"), f"/memory why {fact.key}"),
        Choice(spoken("All facts"), "/memory", minor=True),
    )
    return Reply(cards.fact_whole(fact, WHOLE), choices, file=_values_of(fact), replaces=True)


def _values_of(fact: Fact) -> Attachment | None:
    """Give the values of a fact as a file, where they are too long to be shown."""
    values = cards.values(fact)
    if len(values) <= WHOLE:
        return None
    return Attachment(
        "file", f"{fact.key}.txt", "text/plain", data="\n".join(i.value for i in fact.items).encode("utf-8", "replace")
    )


@command(private=True)
async def memory_set(context: Context, key: FactKey, value: str = "") -> Reply | str:
    """Set a fact yourself; items of a list stand between commas, or on lines of their own."""
    if not value:
        return spoken("Send me /memory set {key} and the new value behind it.", key=key)
    await check_may_write(context)
    here, draft = await draft_of(context)
    known = draft.facts.by_key.get(key_of(key))
    values = _items(value, known) if known and known.many else [value]
    try:
        draft.change(_call(context), key, values)
    except ToolError as error:
        raise CommandError(spoken("I can't keep that: {reason}.", reason=error.told())) from None
    await context.store.apply(context.person, context.scope, draft.changes, seen=here)
    fact = draft.facts.by_key[key_of(key)]
    return _opened(fact) if context.message.pressed else spoken("Saved. {fact}", fact=cards.fact_line(fact))


def _items(value: str, known: Fact) -> list[str]:
    """Read the items of a list; one that is there already may hold commas."""
    there = {item.value for item in known.items}
    lines = [line.strip() for line in value.splitlines()]
    items = lines if len(lines) > 1 or value in there else value.split(",")
    return [item for item in items if item.strip()]


@command(private=True)
async def memory_pin(context: Context, key: FactKey) -> Reply:
    """Pin a fact: when there is little room, it is the last to be left out."""
    return await _pin(context, key, True)


@command(private=True)
async def memory_unpin(context: Context, key: FactKey) -> Reply:
    """Let a pinned fact loose."""
    return await _pin(context, key, False)


async def _pin(context: Context, key: str, pinned: bool) -> Reply:
    here, draft = await draft_of(context)
    fact = fact_in(here, key)
    draft.pin(_call(context), fact.key, pinned)
    await context.store.apply(context.person, context.scope, draft.changes, seen=here)
    return _opened(draft.facts.by_key[fact.key])


def _call(context: Context) -> str:
    """Name a change after the message that made it, so that a repeat makes none."""
    return f"person/{context.message.chat}/{context.message.id}"


CARD_COMMANDS: tuple[Command, ...] = (memory, memory_page, memory_fact, memory_set, memory_pin, memory_unpin)
