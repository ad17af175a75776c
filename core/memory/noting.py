"""How memories of an operator's own keep notes: held to the rules of facts, so that nothing gets in by another door."""

from __future__ import annotations

from collections.abc import Mapping

from core.conversation import Conversation
from core.draft import same
from core.errors import StoreError, ToolError
from core.kept import storable
from core.notes import LONGEST_KEY, MOST_NOTES, Note
from core.store import ConversationStore
from core.tools import ToolContext


async def noted(store: ConversationStore, memory: str, here: Conversation) -> Mapping[str, str]:
    """Give what a memory has noted about the person of a conversation; nothing where they want nothing remembered."""
    if here.person is None or here.settings.memory == "off":
        return {}
    notes = await store.notes(here.person, here.scope)
    return {note.key: note.text for note in notes if note.memory == memory}


async def note(store: ConversationStore, memory: str, context: ToolContext, key: str, text: str) -> str:
    """Keep a note, or take it away where the text is blank; say what was done. Raises ToolError."""
    context.facts.check_open()
    known = await noted(store, memory, context.conversation)
    key = storable(" ".join(key.split()))
    key = next((one for one in known if same(one) == same(key)), key)
    if not text.strip() and key not in known:
        return f"not found: {key}"
    if text.strip():
        _check(context, known, key, text)
    await _keep(store, context, Note(memory, key, text.strip(), str(context.turn.chat), context.turn.id))
    return f"saved: {key}" if text.strip() else f"taken away: {key}"


def _check(context: ToolContext, known: Mapping[str, str], key: str, text: str) -> None:
    if not 0 < len(key) <= LONGEST_KEY:
        raise ToolError(f"NOT saved: what it is kept under must have 1 to {LONGEST_KEY} characters")
    if key not in known and len(known) >= MOST_NOTES:
        raise ToolError(f"NOT saved: there are {len(known)} notes already; take one away first")
    for value in (key, text):
        context.facts.check_value(key, value)


async def _keep(store: ConversationStore, context: ToolContext, new: Note) -> None:
    here = context.conversation
    assert here.person is not None, "a draft for nobody is closed"
    try:
        await store.note(here.person, here.scope, new, turn=context.turn)
    except StoreError:
        raise ToolError("NOT saved: the memory could not be written") from None
