"""The commands every person has over their own memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from core.commands import Command, Context, command
from core.conversation import Conversation, PersonSettings
from core.draft import FactDraft, Words, normal_key
from core.errors import CommandError, ToolError
from core.facts import Change, Fact, Item
from core.messages import Attachment, Choice, Reply
from core.sentences import NOTHING_TO_STOP, STOPPED
from core.store import Receipt

CHANGES_SHOWN = 10


@command(at_once=True)
async def start(context: Context) -> str:  # noqa: ARG001 -- every command is given its context
    """Say hello."""
    return (
        "Hello! I remember what you tell me, so that you need not repeat it.\n"
        "/memory shows what I know of you, and you can correct or erase it there.\n"
        "/privacy says what is kept and for how long."
    )


@command(name="help", at_once=True)
async def help_(context: Context) -> str:
    """List the commands."""
    listed = [c for c in context.engine.commands if context.admin or not c.admin]
    return "\n".join(f"{c.usage} – {c.summary}" for c in listed)


@command(at_once=True)
async def privacy(context: Context) -> str:  # noqa: ARG001 -- every command is given its context
    """Say what is kept, and what you can do about it."""
    return (
        "I keep what is said in this chat, summaries of it, and facts you tell me about yourself. "
        "What you say in private is never used in a group, and one person's facts never reach another. "
        "Your words go to the language model that writes my answers. Passwords, keys and card numbers are not "
        "kept as facts.\n"
        "/memory shows what I know, /memory off stops it, /export gives you a copy, /forget me erases it all."
    )


@command(at_once=True)
async def stop(context: Context) -> str:
    """Stop the answer in progress; what you said is kept."""
    return STOPPED if await context.engine.interrupt(context.message.chat) else NOTHING_TO_STOP


@command(at_once=True, private=True)
async def memory(context: Context, more: str = "") -> str:
    """Show what I know about you here."""
    if more:
        raise CommandError(f"I don't know /memory {more.split()[0]}. /help lists what I understand.")
    here = await _here(context)
    lines = [_card_line(here.facts.by_key[key]) for key in sorted(here.facts)]
    turns = sum(step.turns for step in here.segments) + len(here.turns)
    facts = "\n".join(lines) or "I know no facts about you yet."
    state = "" if here.settings.memory == "on" else f"\nMemory is {here.settings.memory}."
    return f"{facts}\n\nIn this chat I remember {turns} turns, {len(here.segments)} of their parts as summaries.{state}"


def _card_line(fact: Fact) -> str:
    return f"{fact.key}: {_value(fact)}"


def _value(fact: Fact | None) -> str:
    return "nothing" if fact is None else ", ".join(item.value for item in fact.items)


async def _here(context: Context) -> Conversation:
    message = context.message
    person = None if message.anonymous else message.sender
    return await context.engine.shared.store.load(message.chat, person, private=message.private)


@command(at_once=True, private=True)
async def memory_why(context: Context, key: str) -> str:
    """Tell where a fact comes from, in your own words."""
    fact = await _fact(context, key)
    return "\n".join(_because(fact, item) for item in fact.items)


async def _fact(context: Context, key: str) -> Fact:
    facts = (await _here(context)).facts
    try:
        found = facts.by_key.get(normal_key(key))
    except ToolError:
        found = None
    if found is None:
        known = ", ".join(sorted(facts)) or "nothing"
        raise CommandError(f"I know nothing called {key!r}. I know: {known}.")
    return found


def _because(fact: Fact, item: Item) -> str:
    source = item.source
    said = f"you said: «{source.quote}»" if source.quote else "you entered it"
    return f"{fact.key} = {item.value}: on {source.day} {said} (written by: {source.by})"


@command(at_once=True, private=True)
async def memory_history(context: Context) -> str:
    """List the latest changes of what I know about you."""
    changes = await context.engine.shared.store.changes(context.person, context.scope, limit=CHANGES_SHOWN)
    return "\n".join(_history_line(c) for c in changes) or "Nothing has changed yet."


def _history_line(change: Change) -> str:
    return f"{change.at:%Y-%m-%d %H:%M} {change.action} {change.key}: {_value(change.before)} → {_value(change.after)}"


@command(private=True)
async def memory_undo(context: Context) -> str:
    """Take back the latest change of what I know about you."""
    changes = await context.engine.shared.store.changes(context.person, context.scope, limit=200)
    undone = {c.call for c in changes if c.action == "undo"}
    last = next((c for c in changes if c.action != "undo" and f"undo/{c.id}" not in undone), None)
    if last is None:
        raise CommandError("There is nothing to take back.")
    draft = await _draft(context)
    draft.restore(f"undo/{last.id}", last)
    await _apply(context, draft)
    return f"Taken back. {last.key}: {_value(last.before)}"


async def _draft(context: Context) -> FactDraft:
    shared = context.engine.shared
    here, now = await _here(context), shared.clock.now()
    words = Words(str(context.message.chat), None, "")
    return FactDraft(here.facts, shared.rules, words, now, "person", now.date().isoformat())


async def _apply(context: Context, draft: FactDraft) -> None:
    await context.engine.shared.store.apply(context.person, context.scope, draft.changes)


@command(at_once=True, private=True)
async def memory_explain(context: Context) -> str:
    """Show what the last prompt was made of: its parts, where they came from, what they cost."""
    prompt = context.engine.last_prompt(context.message)
    if prompt is None:
        raise CommandError("I have not been asked anything here since I started.")
    rows = [f"{label} – {origin} – {tokens} tokens" for label, origin, tokens in prompt.report() if tokens]
    return "\n".join([*rows, f"in all {prompt.tokens} tokens"])


@command(private=True)
async def memory_on(context: Context) -> str:
    """Let me learn facts about you again."""
    await _set_memory(context, PersonSettings(memory="on"))
    return "Memory is on: I learn facts you tell me about yourself."


@command(private=True)
async def memory_off(context: Context) -> str:
    """Neither learn nor use facts about you; what is stored stays until you forget it."""
    await _set_memory(context, PersonSettings(memory="off"))
    return "Memory is off: I neither learn nor use facts about you. /forget me erases what is stored."


async def _set_memory(context: Context, chosen: PersonSettings) -> None:
    store = context.engine.shared.store
    settings = await store.settings(context.person)
    await store.set_settings(context.person, replace(settings, memory=chosen.memory))


@command(private=True)
async def memory_clear(context: Context, sure: str = "") -> Reply:
    """Forget all facts about you here; the conversation stays."""
    if sure.casefold() != "yes":
        return _ask("This forgets every fact about you here.", "Forget all facts", "/memory clear yes")
    store = context.engine.shared.store
    facts = (await _here(context)).facts
    receipts = [await store.erase_fact(context.person, context.scope, key) for key in facts]
    return Reply(_receipt(receipts), private=True)


def _ask(what: str, label: str, confirmed: str) -> Reply:
    return Reply(f"{what} To confirm, send: {confirmed}", (Choice(label, confirmed),), private=True)


@command(at_once=True, private=True)
async def forget(context: Context, what: str, sure: str = "") -> Reply:
    """Erase the last turn (last), a fact (its key), this chat (chat) or everything of yours (me)."""
    kinds = {"last": _forget_last, "chat": _forget_chat, "me": _forget_me}
    chosen = kinds.get(what.casefold())
    if chosen is None:
        return await _forget_fact(context, f"{what} {sure}".strip())
    return await chosen(context, sure.casefold() == "yes")


async def _forget_fact(context: Context, key: str) -> Reply:
    fact = await _fact(context, key)
    receipt = await context.engine.shared.store.erase_fact(context.person, context.scope, fact.key)
    return Reply(_receipt([receipt]), private=True)


async def _forget_last(context: Context, sure: bool) -> Reply:  # noqa: ARG001 -- asks nothing
    message, engine = context.message, context.engine
    await engine.interrupt(message.chat)
    turns = [t for t in (await _here(context)).turns if t.sender == message.sender]
    if not turns:
        raise CommandError("There is no turn of yours that I remember word for word.")
    return Reply(_receipt([await engine.shared.store.erase_turn(message.chat, turns[-1].id)]), private=True)


async def _forget_chat(context: Context, sure: bool) -> Reply:
    message, engine = context.message, context.engine
    if not message.private:
        raise CommandError("A group's memory is cleared by an admin. /forget me erases what is yours, here as well.")
    if not sure:
        return _ask("This erases all of this conversation.", "Erase this chat", "/forget chat yes")
    await engine.interrupt(message.chat, drop=True)
    return Reply(_receipt([await engine.shared.store.erase_chat(message.chat)]), private=True)


async def _forget_me(context: Context, sure: bool) -> Reply:
    if not sure:
        return _ask("This erases everything I keep of you, everywhere.", "Erase everything", "/forget me yes")
    await context.engine.interrupt(context.message.chat, drop=context.message.private)
    return Reply(_receipt([await context.engine.shared.store.erase_person(context.person)]), private=True)


def _receipt(receipts: Sequence[Receipt]) -> str:
    counts: dict[str, int] = {}
    for receipt in receipts:
        for kind, count in receipt.counts.items():
            counts[kind] = counts.get(kind, 0) + count
    if not counts:
        return "There was nothing to erase."
    return "Erased: " + ", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items())) + "."


@command(at_once=True, private=True)
async def export(context: Context) -> Reply:
    """Give you a file with everything I keep of you."""
    data = await context.engine.shared.store.export(context.person)
    text = json.dumps(data, ensure_ascii=False, indent=2)
    name = f"keepmind-export-{context.engine.shared.clock.now():%Y%m%d-%H%M%S}.json"
    file = Attachment("file", name, "application/json", data=text.encode("utf-8", "replace"))
    return Reply("Here is everything I keep of you.", private=True, file=file)


PERSON_COMMANDS: tuple[Command, ...] = (
    start,
    help_,
    privacy,
    stop,
    memory,
    memory_why,
    memory_history,
    memory_undo,
    memory_explain,
    memory_on,
    memory_off,
    memory_clear,
    forget,
    export,
)
