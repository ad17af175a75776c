"""The commands that branch: taking the last turn back, answering it anew, leading aside and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import dropwhile

from core.commands.command import Command, Context, command
from core.conversation import Conversation, State, Turn
from core.errors import CommandError, LLMError, StaleBase
from core.memory import folding, summary
from core.prompt import MESSAGE_COST
from core.records import AuditEntry
from core.rendering import said
from core.sentences import WAITS, spent
from core.translation import marked, spoken
from core.usage import BilledLLM

UNDONE = marked("Taken back: I go on as if «{text}» had not been said. It is kept, and I no longer think of it.")
FACTS_STAY = marked("What I learned about you there stays; /memory undo takes it back.")
NOT_ASIDE = marked("We are not aside. /aside leads there.")
SPENT_ASIDE = marked(
    "Nothing is left to spend on such a line now, see /usage; we are still aside. /back leads back without it."
)
NOT_KEPT = marked("I could not put it in a line just now, so we are still aside. /back alone leads back without it.")
LONGEST = 60
"""How many characters of what was said are shown when it is taken back."""


@command(arguments="")
async def undo(context: Context) -> str:
    """Take the last turn back; we go on as if it had not been said."""
    if context.engine.shared.stretches.drop_last(context.message.chat, context.person):
        return spoken("Taken back.")
    await _refuse_incognito(context)
    here = await context.here()
    if _is_new_aside(here):
        await _go(context, here, here.head, here.asides[:-1])
        return spoken("We are no longer aside; nothing had been said there.")
    turn = await _last_turn(context, here)
    await _go(context, here, turn.parent, here.asides)
    learned = any(c.turn == turn.id for c in await context.store.changes(context.person, context.scope, limit=100))
    words = " ".join(turn.message.text.split())
    text = words if len(words) <= LONGEST else f"{words[:LONGEST]}…"
    return " ".join([spoken(UNDONE, text=text), *([spoken(FACTS_STAY)] if learned else [])])


@command(asks=True, arguments="")
async def retry(context: Context) -> str:
    """Answer your last message anew."""
    await _refuse_incognito(context)
    here = await context.here()
    turn = await _last_turn(context, here)
    if turn.waits:
        context.engine.answer(turn)
        return spoken(WAITS)
    ledger = context.engine.shared.ledger
    standing = await ledger.standing(turn.message)
    if standing.is_over:
        at = standing.until(ledger.zone).astimezone(context.composer.zone_for(here))
        raise CommandError(spent(standing.whose, at, kept=True))
    counter, now = context.engine.shared.counter, context.now
    tokens = sum(counter.count(said(message)) for message in turn.messages) + MESSAGE_COST
    with _unless_stale():
        context.engine.answer(await context.store.retry(here, turn, tokens=tokens, at=now))
    return spoken("I answer that anew.")


@command(arguments="")
async def aside(context: Context) -> str:
    """Lead aside: what is said from now on stays there once we are back."""
    await _refuse_incognito(context)
    here = await context.here()
    await _go(context, here, here.head, (*here.asides, here.head))
    return spoken("We are aside now. /back leads back to where we were, and /back keep takes one line of it along.")


@command(asks=True, arguments="[keep]")
async def back(context: Context, how: str = "") -> str:
    """Lead back to before the aside; with keep, one line of it comes along."""
    if how.casefold() not in ("", "keep"):
        raise CommandError(spoken("Please say it as {usage}", usage=back.usage))
    here = await context.here()
    if not here.asides:
        raise CommandError(spoken(NOT_ASIDE))
    if how and not _is_new_aside(here):
        return spoken("We are back. Of the aside I keep: {line}", line=await _keep(context, here))
    await _go(context, here, here.asides[-1], here.asides[:-1])
    return spoken("We are back where we were. What was said aside is kept, and I no longer think of it.")


async def _keep(context: Context, here: Conversation) -> str:
    """Let one line stand for the aside: a segment, so that we need not go back to leave it behind."""
    await _check_budget(context)
    work, bill = context.composer.work(), context.engine.shared.ledger.bill(here.person, here.chat)
    steps = list(dropwhile(lambda step: step.before != here.asides[-1], here.path))
    if not steps:  # a summary stands for turns on both sides of where it began
        raise CommandError(spoken(NOT_KEPT))
    try:
        llm = BilledLLM(work.llm, bill, work.counter)
        line = await summary.one_line(summary.transcript(steps), llm, work.counter)
        there = await folding.commit(here, steps, line, "aside", work)
    except (LLMError, StaleBase):
        raise CommandError(spoken(NOT_KEPT)) from None
    finally:
        await context.store.spend(bill.spent)
    await _go(context, there, there.head, there.asides[:-1])
    return line


async def _check_budget(context: Context) -> None:
    """Refuse to ask the model where nothing is left to spend on who calls."""
    ledger = context.engine.shared.ledger
    standing = await ledger.standing(context.message)
    if standing.is_over:
        raise CommandError(spoken(SPENT_ASIDE))


def _is_new_aside(here: Conversation) -> bool:
    """Say whether we are aside and nothing has been said there."""
    return here.asides[-1:] == (here.head,)


async def _last_turn(context: Context, here: Conversation) -> Turn:
    """Find the last turn that was for the bot; what was said since must be the caller's, unless an admin calls."""
    left: list[Turn] = []
    to = here.head
    while to is not None and to not in here.asides[-1:] and not (left and left[-1].state is not State.HEARD):
        turn = await context.store.turn(to)
        if turn is None:
            break
        left.append(turn)
        to = turn.parent
    if not left or left[-1].state is State.HEARD:
        raise CommandError(spoken("There is no turn here to go back to."))
    await _check_own(context, left)
    return left[-1]


async def _check_own(context: Context, left: Sequence[Turn]) -> None:
    if all(turn.sender == context.person and not turn.message.anonymous for turn in left):
        return
    if not context.admin:
        raise CommandError(spoken("Somebody else spoke last here; only they or an admin can do that."))
    note = AuditEntry(str(context.person), context.message.text[:40], str(context.message.chat), context.now)
    await context.store.audit(note)


async def _go(context: Context, here: Conversation, to: int | None, asides: Sequence[int | None]) -> None:
    with _unless_stale():
        await context.store.move_head(here, to, asides=asides)


@contextmanager
def _unless_stale() -> Iterator[None]:
    try:
        yield
    except StaleBase:
        raise CommandError(spoken("Something was said here meanwhile; please try again.")) from None


async def _refuse_incognito(context: Context) -> None:
    if not context.message.anonymous and (await context.store.settings(context.person)).incognito:
        raise CommandError(spoken("You are incognito, where there is one line of talk only. /incognito off ends that."))


BRANCH_COMMANDS: tuple[Command, ...] = (undo, retry, aside, back)
