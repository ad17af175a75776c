"""The command by which people talk without anything being kept."""

from __future__ import annotations

from core.commands.command import Command, Context, command
from core.errors import CommandError
from core.messages import Choice, Reply
from core.translation import marked, spoken

BEGUN = marked(
    "🕶 You are incognito now, wherever you talk to me from this account. Once I have answered, nothing of what you "
    "say is kept; I use nothing that I remember of you, and learn nothing. I can follow this talk until you end it "
    "or I am restarted. /incognito off ends it."
)
ENDED = marked("You are no longer incognito. What was said meanwhile is gone; from now on I remember again.")
IS_ON = marked("🕶 You are incognito: nothing of what you say is kept once I have answered. /incognito off ends it.")
IS_OFF = marked("You are not incognito. /incognito on lets you talk without anything being kept.")


@command(private=True, arguments="[on|off|status]")
async def incognito(context: Context, how: str = "") -> Reply:
    """Talk without anything being kept: on, off or status."""
    is_on = (await context.store.settings(context.person)).incognito
    wanted = {"": True, "on": True, "off": False, "status": is_on}.get(how.casefold())
    if wanted is None:
        raise CommandError(spoken("Please say it as {usage}", usage=incognito.usage))
    if wanted == is_on:
        return _sign(IS_ON if is_on else IS_OFF, is_on)
    if not wanted:
        context.engine.shared.stretches.end(context.person)
    await context.choose(incognito=wanted)
    return _sign(BEGUN if wanted else ENDED, wanted)


def _sign(sentence: str, is_on: bool) -> Reply:
    ending = (Choice(spoken("End incognito"), "/incognito off"),) if is_on else ()
    return Reply(spoken(sentence), ending)


INCOGNITO_COMMANDS: tuple[Command, ...] = (incognito,)
