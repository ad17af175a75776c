"""The command by which people search what was said."""

from __future__ import annotations

from core.commands.command import Command, Context, command
from core.memory.excerpts import excerpt
from core.search.query import Query
from core.translation import spoken

RESULTS = 8


@command(at_once=True, private=True)
async def memory_search(context: Context, text: str) -> str:
    """Search what was said in this chat."""
    found = await context.store.search(context.message.chat, Query(text, RESULTS))
    zone = context.composer.zone_for(await context.here())
    words, bot = text.casefold().split(), spoken("I")
    lines = [excerpt(turn, words, zone, bot) for turn in sorted(found, key=lambda turn: turn.id)]
    return "\n".join(lines) or spoken("I found nothing about that here.")


SEARCH_COMMANDS: tuple[Command, ...] = (memory_search,)
