"""The command that tells people how many tokens went into their answers, and what is left."""

from __future__ import annotations

from core.commands.command import Command, Context, command
from core.commands.spending import since, stands, summary


@command(at_once=True, private=True)
async def usage(context: Context) -> str:
    """Tell how many tokens I have used for you, and what is left."""
    ledger = context.engine.shared.ledger
    spent = await context.store.spent(since(ledger.today), person=context.person)
    zone = context.composer.zone_for(await context.here())
    limits = [one for one in await ledger.standings(context.message) if one.whose != "bot"]
    stand = [stands(one, one.until(ledger.zone).astimezone(zone)) for one in limits]
    return "\n".join([*summary(ledger.today, spent, ledger.prices), *stand])


USAGE_COMMANDS: tuple[Command, ...] = (usage,)
