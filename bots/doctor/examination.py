"""Runs every check side by side, each within its time; what goes wrong in one is a finding too."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from bots.doctor import access, costs, database, discord, machine, model, telegram
from bots.doctor.finding import Check, Finding, broken, refused
from bots.logging import Redaction, secrets
from config.settings import Settings
from core.errors import KeepmindError

logger = logging.getLogger("keepmind.doctor")
ROOMS = ("settings", "telegram", "discord", "model", "database", "access", "machine")
"""The rooms in the order of the page."""
_SLOW = "Try again; if it stays so, look at the network and at the load of this machine."


async def examine(
    settings: Settings, *, now: Callable[[], float] = time.time, seconds: float | None = None, listening: int = 4
) -> Sequence[Finding]:
    """Look at everything that the settings describe; changes nothing. Never raises, and never shows a secret.

    `now` is this machine's clock, `seconds` the limit of each check where it is not its own, `listening` how many
    seconds are waited for another process that asks for the same bot's messages.
    """
    checks = _checks(settings, now, listening)
    found = await asyncio.gather(*(_findings(check, seconds or check.seconds) for check in checks))
    clean = Redaction(secrets(settings)).clean
    ordered = sorted((finding for some in found for finding in some), key=lambda one: ROOMS.index(one.room))
    return [replace(one, says=clean(one.says), fix=clean(one.fix)) for one in ordered]


def _checks(settings: Settings, now: Callable[[], float], listening: int) -> Sequence[Check]:
    return [
        *machine.settings_checks(settings),
        *telegram.checks(settings, now, listening),
        *discord.checks(settings, now),
        *model.checks(settings),
        *costs.checks(settings),
        *database.checks(settings),
        *access.checks(settings),
        *machine.checks(settings, now),
    ]


async def _findings(check: Check, seconds: float) -> list[Finding]:
    """Do one check. Whatever it raises is found, and so is that it does not end."""
    found: list[Finding] = []
    try:
        async with asyncio.timeout(seconds):
            await _gather(check, found)
    except KeepmindError as error:
        found.append(refused(check.room, check.about, error))
    except TimeoutError:
        found.append(broken(check.room, check.about, f"It did not answer within {seconds:g} seconds.", _SLOW))
    except Exception as error:  # a bug in one check must not hide the others
        logger.debug("the check %s of %s met a bug", check.about, check.room, exc_info=True)
        says = f"The check itself met a bug ({type(error).__name__})."
        found.append(broken(check.room, check.about, says, "KEEPMIND_LOG_LEVEL=DEBUG shows where; please report it."))
    return found


async def _gather(check: Check, found: list[Finding]) -> None:
    async with aclosing(check.look()) as findings:
        async for finding in findings:
            found.append(finding)
