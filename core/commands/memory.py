"""The commands by which people see where what is known about them comes from, take it back, and turn it off."""

from __future__ import annotations

from collections.abc import Sequence

from core.commands import cards
from core.commands.command import Command, Context, FactKey, command
from core.conversation import Conversation
from core.draft import FactDraft, Words, normal_key
from core.errors import CommandError, ToolError
from core.facts import Change, Fact
from core.importing import PAST
from core.messages import Reply
from core.prompt import Row
from core.translation import counted, spoken

CHANGES_SHOWN = 10


@command(at_once=True, private=True)
async def memory_why(context: Context, key: FactKey) -> str:
    """Tell where a fact comes from, in your own words."""
    fact = (await context.here()).profile.by_key.get(key_of(key)) or await known_fact(context, key)
    return "\n".join(cards.because(fact, item) for item in fact.items)


async def known_fact(context: Context, key: str) -> Fact:
    """Find a fact of the caller here. Raises CommandError naming those there are."""
    return fact_in(await context.here(), key)


def fact_in(here: Conversation, key: str) -> Fact:
    """Find a fact of the caller in what is seen here. Raises CommandError naming those there are."""
    facts, found = here.facts, here.facts.by_key.get(key_of(key))
    place = next((place for place in here.elsewhere if key_of(key) in place.facts), None)
    if found is None and place is not None:
        where = cards.place_name(place, here)
        raise CommandError(spoken("I know {key!r} from {place}; please tell me there.", key=key[:80], place=where))
    if found is None:
        known = spoken("I know: {keys}.", keys=", ".join(sorted(facts))) if facts else spoken(cards.NO_FACTS)
        raise CommandError(spoken("I know nothing called {key!r}. {known}", key=key[:80], known=known))
    return found


def key_of(words: str) -> str:
    """Give the key that words name, empty when they can't name one."""
    try:
        return normal_key(words)
    except ToolError:
        return ""


@command(at_once=True, private=True)
async def memory_history(context: Context) -> str:
    """List the latest changes of what I know about you."""
    changes = await context.store.changes(context.person, context.scope, limit=CHANGES_SHOWN)
    return "\n".join(map(cards.change_line, changes)) or spoken("Nothing has changed yet.")


@command(private=True)
async def memory_undo(context: Context) -> Reply:
    """Take back the latest change of what I know about you; again for the one before it."""
    here, draft = await draft_of(context)  # first, or it would not be seen that what is brought back was erased
    change = await _latest_change(context)
    draft.restore(_undoing(change), change)
    await context.store.apply(context.person, context.scope, draft.changes, seen=here)
    await context.choose(since=context.now)
    value = cards.clipped(cards.values(change.before), 300)
    return await changed(context, spoken("Taken back. {key} is now: {value}", key=change.key, value=value), change.key)


async def changed(context: Context, notice: str, key: str = "") -> Reply:
    """Tell what has changed; where a card's button did it, above the page where the fact is, in place of the card."""
    if not context.message.pressed:
        return Reply(notice)
    return await card_of(context, cards.page_of(await context.here(), key), notice)


async def card_of(context: Context, number: int = 1, notice: str = "") -> Reply:
    """Show a page of what is known of the caller here."""
    here = await context.here()
    notes = await context.store.notes(here.person, here.scope) if here.person else ()
    return cards.card(here, notes, number, notice)


async def check_may_write(context: Context) -> None:
    """Raise CommandError where nothing may be kept of the caller now."""
    settings = await context.store.settings(context.person)
    if settings.memory == "off":
        raise CommandError(spoken("Memory is off, so I keep no facts about you. /memory on lets me."))
    if settings.incognito:
        raise CommandError(spoken("You are incognito, so I keep nothing about you. /incognito off lets me."))


async def draft_of(context: Context) -> tuple[Conversation, FactDraft]:
    """Give what is seen here, and a working copy of the caller's facts in it, which they write themselves."""
    here, words = await context.here(), Words(str(context.message.chat), None, "")
    day = f"{context.now.astimezone(context.composer.zone_for(here)):%Y-%m-%d}"
    return here, FactDraft(here.facts, context.engine.shared.rules, words, context.now, "person", day)


async def _latest_change(context: Context) -> Change:
    """The newest change not taken back yet; a change is undone at most once, and an undo never."""
    changes = await context.store.changes(context.person, context.scope, limit=1000)
    undone = {c.call for c in changes if c.action == "undo"}
    own = [c for c in changes if not c.call.startswith(PAST)]
    last = next((c for c in own if c.action != "undo" and _undoing(c) not in undone), None)
    if last is None:
        raise CommandError(spoken("There is nothing to take back."))
    return last


def _undoing(change: Change) -> str:
    return f"undo/{change.id}"


@command(at_once=True, private=True)
async def memory_explain(context: Context) -> str:
    """Show what the last prompt was made of: its parts, where they came from, what they cost."""
    report = context.engine.last_report(context.message) or await _report_anew(context)
    rows = [_row(spoken(label), spoken(origin), tokens) for label, origin, tokens in report if tokens]
    total = _tokens(sum(tokens for _, _, tokens in report))
    return "\n".join([*rows, spoken("in all {tokens}", tokens=total)])


def _row(label: str, origin: str, tokens: int) -> str:
    return " – ".join(dict.fromkeys([label, origin, _tokens(tokens)]))


def _tokens(count: int) -> str:
    return counted("{count} token", "{count} tokens", count)


async def _report_anew(context: Context) -> Sequence[Row]:
    """Tell what the last turn's prompt is made of as things are now: what was sent is known to its process alone."""
    here = await context.here()
    if not here.turns:
        raise CommandError(spoken("I have not been asked anything here yet."))
    return await context.composer.outline(here, here.turns[-1])


@command(private=True)
async def memory_on(context: Context) -> str:
    """Let me learn facts about you again."""
    if (await context.store.settings(context.person)).memory != "on":
        await context.choose(memory="on", since=context.now)
    return spoken("Memory is on: I learn facts you tell me about yourself from now on.")


@command(private=True)
async def memory_off(context: Context) -> str:
    """Neither learn nor use facts about you; what is stored stays until you forget it."""
    await context.choose(memory="off")
    return spoken("Memory is off: I neither learn nor use facts about you. /forget me erases what is stored.")


MEMORY_COMMANDS: tuple[Command, ...] = (
    memory_why,
    memory_history,
    memory_undo,
    memory_explain,
    memory_on,
    memory_off,
)
