"""The commands by which a person's accounts become one to the bot, as a view."""

from __future__ import annotations

from core.commands import cards
from core.commands.command import Command, Context, command
from core.errors import CommandError
from core.linking import Linking
from core.messages import Reply
from core.translation import marked, spoken

OFFERED = marked(
    "To link another account of yours with this one, send me there, within ten minutes:\n/link {code}\n"
    "In private I then know, in either, what I know of both. Give the code to nobody else."
)
SURE = marked(
    "This links this account with {account}: in private, who talks to me from either gets to know what I know of "
    "both. Please go on only if both are yours."
)
LINKED = marked(
    "Linked: in private, this account and {account} are one person to me now. Each keeps its own memory; /memory shows "
    "where a fact is kept, and /unlink ends it."
)
TOLD = marked(
    "Your account {account} is linked with this one now: in private I know in either what I know of both. If that was "
    "not you, send /unlink."
)


@command(private=True, arguments="[CODE]")
async def link(context: Context, code: str = "", sure: str = "") -> Reply | str:
    """Link another account of yours with this one."""
    if not context.message.private:
        raise CommandError(spoken("Please do that in our private talk."))
    linking = context.engine.linking
    if not code:
        return await _offer(context, linking)
    if sure.casefold() == "yes":
        return await _join(context, linking, code)
    what = spoken(SURE, account=await linking.owner(code, context.person))
    return cards.confirmation(what, spoken("Link them"), f"/link {code} yes")


async def _offer(context: Context, linking: Linking) -> str:
    linked = ", ".join(map(str, await context.store.linked(context.person)))
    told = [spoken("Linked with this account: {accounts}", accounts=linked)] if linked else []
    return "\n".join([*told, spoken(OFFERED, code=await linking.offer(context.person))])


async def _join(context: Context, linking: Linking, code: str) -> str:
    owner = await linking.join(code, context.person)
    context.engine.tell(owner, spoken(TOLD, account=context.person))
    return spoken(LINKED, account=owner)


@command(private=True)
async def unlink(context: Context) -> str:
    """Unlink this account from your others; each keeps what it knows."""
    linked = await context.store.linked(context.person)
    if not await context.store.unlink(context.person):
        raise CommandError(spoken("This account is linked with no other."))
    for other in linked:
        context.engine.tell(other, spoken("Your account {account} is not linked any more.", account=context.person))
    return spoken("Unlinked. Each account keeps what it knew, and knows no more of the others.")


LINK_COMMANDS: tuple[Command, ...] = (link, unlink)
