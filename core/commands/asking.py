"""The commands by which people decide what is learned of them, and where it may be used."""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

from core.commands import cards
from core.commands.command import Command, Context, command
from core.commands.memory import check_may_write
from core.errors import CommandError, ToolError
from core.memory.profile import draft_for
from core.messages import Reply
from core.proposals import Proposal
from core.translation import marked, spoken

SHARED = marked(
    "Shared: what I know of you from our private talk I may use when I answer you in a group, where others read it, "
    "and what I know from groups in private. /memory share off ends it."
)
NOT_SHARED = marked(
    "What I know of you from our private talk stays there, and what I know from a group in that group. "
    "/memory share on lets me use it in either."
)


@command(private=True)
async def memory_ask(context: Context) -> str:
    """Ask you before I keep a fact about you."""
    before = await context.store.settings(context.person)
    since = context.now if before.memory == "off" else before.since
    await context.choose(memory="ask", since=since)
    return spoken("I ask you from now on before I keep a fact about you. /memory on lets me keep facts unasked.")


@command(private=True, arguments="")
async def memory_save(context: Context, turn: int, proposal: str) -> Reply:
    """Keep a fact I asked you about."""
    await check_may_write(context)
    wanted, said = Proposal.read(proposal), await context.store.turn(turn)
    if said is None or said.message.asker != context.person:
        raise CommandError(spoken("You have had me forget what this was taken from, so I can't keep it."))
    known = await context.store.load(said.chat, context.person, private=said.message.private)
    draft = replace(
        draft_for(known, said, context.engine.shared.rules, context.now, wanted.by, context.composer.zone_for(known)),
        asking=False,
    )
    try:
        wanted.make(draft, f"save/{crc32(wanted.written.encode('utf-8', 'replace')):x}")
    except ToolError as error:
        raise CommandError(spoken("I can't keep that: {reason}.", reason=error.told())) from None
    await context.store.apply(context.person, known.scope, draft.changes, turn=replace(said, epoch=known.epoch))
    fact = draft.facts.by_key.get(wanted.key)
    told = spoken("Saved. {fact}", fact=cards.fact_line(fact)) if fact else spoken("Forgotten: {key}", key=wanted.key)
    return Reply(told, replaces=True)


@command(private=True, at_once=True)
async def memory_discard(context: Context) -> Reply:  # noqa: ARG001 -- every command is given its context
    """Do not keep a fact I asked you about."""
    return Reply(spoken("All right, I leave it as it is."), replaces=True)


@command(private=True, arguments="[on|off]")
async def memory_share(context: Context, how: str = "") -> str:
    """Let me use facts from private in groups and the other way round: on or off."""
    share = {"on": True, "off": False, "": (await context.store.settings(context.person)).share}.get(how.casefold())
    if share is None:
        raise CommandError(spoken("Please say it as {usage}", usage=memory_share.usage))
    if how:
        await context.choose(share=share)
    return spoken(SHARED if share else NOT_SHARED)


ASKING_COMMANDS: tuple[Command, ...] = (memory_ask, memory_save, memory_discard, memory_share)
