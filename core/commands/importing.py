"""The command by which people bring back what they were given as an export."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.commands.command import Command, Context, command
from core.commands.memory import check_may_write
from core.conversation import PersonSettings, Segment, Turn
from core.draft import FactDraft, Words
from core.errors import CommandError
from core.facts import Change, Facts
from core.importing import Importing, Talk, chosen, read
from core.llm import TokenCounter
from core.messages import Attachment
from core.notes import Note
from core.prompt import segment_cost, turn_cost
from core.records import Brought
from core.translation import counted, spoken


@dataclass(frozen=True)
class Checked:
    """What a file holds that is brought along, and how much of it is about groups that are left out."""

    past: Mapping[str, Sequence[Change]]
    changes: Mapping[str, Sequence[Change]]
    notes: Mapping[str, Sequence[Note]]
    settings: PersonSettings
    talk: Talk
    left_out: int


@command(name="import", private=True)
async def import_(context: Context, file: Attachment) -> str:
    """Bring back what /export gave you, here or elsewhere; send me the file with it."""
    if not context.message.private:
        raise CommandError(spoken("Please do that in our private talk."))
    await check_may_write(context)
    checked = await _checked(context, file)
    is_new = (await context.here()).head is None
    talk = await _counted(checked.talk, context.engine.shared.counter) if is_new else Talk()
    here = await context.store.settings(context.person)
    settings = chosen(checked.settings, here)
    if talk.turns:
        settings = replace(settings, since=context.now)  # what was said before has had its second look
    chat, past, changes, notes = context.message.chat, checked.past, checked.changes, checked.notes
    brought = Brought(chat, past, changes, notes, settings, talk.turns, talk.segments, talk.head, talk.asides)
    await context.store.bring_in(context.person, brought)
    return _told(checked, talk)


async def _checked(context: Context, file: Attachment) -> Checked:
    """Check a file, aside, since a large one takes its time. Raises CommandError."""
    data = file.data or file.text.encode("utf-8", "replace")
    linked = await context.store.linked(context.person)
    export = await asyncio.to_thread(read, data)
    importing = Importing(context.person, context.message.chat, export, context.now)
    drafts = {scope: await _draft(context, scope) for scope in importing.scopes}
    call = f"import/{context.message.chat}/{context.message.id}"

    def check() -> Checked:
        accounts, past, notes = importing.accounts(linked), {}, {}
        for scope, draft in drafts.items():
            notes[scope] = importing.notes(accounts, scope, draft)
            past[scope] = importing.past(accounts, scope, draft)
            importing.add_facts(accounts, scope, draft, call)
        changes = {scope: draft.changes for scope, draft in drafts.items()}
        left_out = sum(len(facts) for scope, facts in export.facts.items() if scope not in drafts)
        return Checked(past, changes, notes, export.settings, importing.talk(), left_out)

    return await asyncio.to_thread(check)


async def _draft(context: Context, scope: str) -> FactDraft:
    known: Facts = await context.store.known(context.person, scope)
    words = Words(str(context.message.chat), None, "")
    return FactDraft(known, context.engine.shared.rules, words, context.now, "import")


async def _counted(talk: Talk, counter: TokenCounter) -> Talk:
    """Count what turns and segments cost here, letting others go on meanwhile."""
    turns: list[Turn] = []
    for turn in talk.turns:
        turns.append(turn.changed(tokens=turn_cost(turn, counter)))
        await asyncio.sleep(0)
    segments: list[Segment] = [replace(s, tokens=segment_cost(s.text, counter)) for s in talk.segments]
    return replace(talk, turns=turns, segments=segments)


def _told(checked: Checked, talk: Talk) -> str:
    """Tell what was brought along, and what was not."""
    facts, turns = sum(map(len, checked.changes.values())), len(checked.talk.turns)
    told = [counted("{count} fact is new or newer.", "{count} facts are new or newer.", facts)]
    if notes := sum(map(len, checked.notes.values())):
        told.append(counted("{count} note came along.", "{count} notes came along.", notes))
    if talk.turns:
        told.append(counted("I remember {count} turn of our talk.", "I remember {count} turns of our talk.", turns))
    elif turns:
        told.append(spoken("Our talk here has begun already, so the one in the file was left out."))
    if checked.left_out:
        told.append(spoken("What is known of you from groups elsewhere was left out."))
    return " ".join([spoken("Imported."), *told])


IMPORT_COMMANDS: tuple[Command, ...] = (import_,)
