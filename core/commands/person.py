"""The commands everyone may call."""

from __future__ import annotations

import json

from core.commands.asking import ASKING_COMMANDS
from core.commands.branch import BRANCH_COMMANDS
from core.commands.card import CARD_COMMANDS
from core.commands.command import Command, Context, command
from core.commands.forget import FORGET_COMMANDS
from core.commands.importing import IMPORT_COMMANDS
from core.commands.incognito import INCOGNITO_COMMANDS
from core.commands.link import LINK_COMMANDS
from core.commands.memory import MEMORY_COMMANDS
from core.commands.search import SEARCH_COMMANDS
from core.commands.usage import USAGE_COMMANDS
from core.errors import CommandError
from core.messages import Attachment, Reply
from core.sentences import NOTHING_TO_STOP, STOPPED, STOPPED_INCOGNITO
from core.translation import spoken


@command(at_once=True, arguments="")
async def start(context: Context, link: str = "") -> str:  # noqa: ARG001 -- platforms add where a person came from
    """Say hello."""
    return spoken(
        "Hello! I remember what you tell me, so that you need not repeat it.\n"
        "/memory shows what I know of you, and you can correct or erase it there.\n"
        "/privacy says what is kept and for how long."
    )


@command(name="help", at_once=True)
async def help_(context: Context) -> str:
    """List the commands."""
    admin = context.admin and context.message.private
    return "\n".join(f"{c.usage} – {spoken(c.summary)}" for c in context.engine.commands if admin or not c.admin)


@command(at_once=True)
async def privacy(context: Context) -> str:  # noqa: ARG001 -- every command is given its context
    """Say what is kept, and what you can do about it."""
    return spoken(
        "I keep what is said in this chat, summaries of it, and facts you tell me about yourself, until you erase "
        "them. "
        "What you say in private is never used in a group unless you want it (/memory share on), and one person's "
        "facts never reach another. "
        "Your words go to the language model that writes my answers. Passwords, keys and card numbers are not "
        "kept as facts.\n"
        "/memory shows what I know, /memory off stops it, /memory ask makes me ask first, /incognito lets you talk "
        "without anything being kept once I have answered, /export gives you a copy, /forget me erases it all."
    )


@command(at_once=True)
async def stop(context: Context) -> str:
    """Stop the answer in progress; what you said is kept."""
    asker = await context.engine.asker(context.message.chat)
    if asker not in (None, context.person) and not context.message.private and not context.admin:
        raise CommandError(spoken("That answer is for somebody else; they or an admin can stop it."))
    if not await context.engine.interrupt(context.message.chat):
        return spoken(NOTHING_TO_STOP)
    return spoken(STOPPED_INCOGNITO if asker and (await context.store.settings(asker)).incognito else STOPPED)


@command(at_once=True, private=True)
async def export(context: Context) -> Reply:
    """Give you a file with everything I keep of you."""
    linked = [await context.store.export(person) for person in await context.store.linked(context.person)]
    kept = await context.store.export(context.person) | {"linked": linked}
    text = json.dumps(kept, ensure_ascii=False, indent=2)
    name = f"keepmind-export-{context.now:%Y%m%d-%H%M%S}.json"
    file = Attachment("file", name, "application/json", data=text.encode("utf-8", "replace"))
    return Reply(spoken("Here is everything I keep of you."), file=file)


PERSON_COMMANDS: tuple[Command, ...] = (
    start,
    help_,
    privacy,
    stop,
    export,
    *BRANCH_COMMANDS,
    *CARD_COMMANDS,
    *MEMORY_COMMANDS,
    *ASKING_COMMANDS,
    *FORGET_COMMANDS,
    *SEARCH_COMMANDS,
    *IMPORT_COMMANDS,
    *INCOGNITO_COMMANDS,
    *LINK_COMMANDS,
    *USAGE_COMMANDS,
)
