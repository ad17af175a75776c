"""The commands of whoever runs a bot. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bots.output import as_json
from core.errors import KeepmindError

if TYPE_CHECKING:
    from bots.doctor import Finding
    from config.settings import Settings
    from core.commands.spending import Overview
    from core.records import Day, Stats


@click.command(short_help="Ask for what a bot needs, and write it down.")
@click.option("--telegram-token", metavar="TOKEN", help="Token from @BotFather.")
@click.option("--discord-token", metavar="TOKEN", help="Token from the developer portal.")
@click.option("--openai-key", metavar="KEY", help="Key of the model server.")
@click.option("--base-url", metavar="URL", help="Address of another model server than OpenAI's.")
@click.option("--model", metavar="NAME", help="Model to ask.")
@click.option("--database-url", metavar="URL", help="Another database than a SQLite file in the folder of data.")
@click.option("--admin", "admins", metavar="PLATFORM:ID", multiple=True, help="An admin; may be repeated.")
@click.option("--allow", "allowed", metavar="PLATFORM:ID", multiple=True, help="Who may talk; may be repeated.")
@click.option("--yes", "-y", is_flag=True, help="Ask nothing, and change what is there.")
@click.option("--unchecked", is_flag=True, help="Take tokens and addresses without trying them.")
def init(**wishes: Any) -> None:
    """Ask for what a bot needs, try each answer, and write .env and keepmind.toml in this folder."""
    import logging

    from bots.setup import Wishes, set_up

    logging.disable()  # what is wrong is said as a question's answer
    for line in set_up(Path.cwd(), os.environ, Wishes(**wishes)):
        click.echo(line)


@click.command(short_help="Check all that a bot needs, and tell the fixes.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
@click.option("--strict", is_flag=True, help="Exit with 1 for what is only to look at, too.")
def doctor(as_data: bool, strict: bool) -> int:
    """Check all that a bot needs, and tell the fix of what is wrong; exit 1 when something is broken."""
    from bots.doctor.finding import worst
    from bots.doctor.page import data, page

    findings = _examined()
    click.echo(as_json(data(findings)) if as_data else page(findings), color=_coloured())
    return int(worst(findings) in (("broken", "warning") if strict else ("broken",)))


@click.command()
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def stats(as_data: bool) -> None:
    """Tell how much is stored, and what went on in the last two weeks."""
    import asyncio

    from bots.logging import set_up_logging
    from config.settings import load_settings
    from core.commands.figures import daily, stored

    settings = load_settings()
    set_up_logging(settings, "WARNING")
    all_in_all, days = asyncio.run(_counted(settings))
    if as_data:
        told = [{name: str(value) if name == "date" else value for name, value in asdict(day).items()} for day in days]
        click.echo(as_json({"stored": asdict(all_in_all), "days": told}))
    else:
        click.echo("\n".join([*stored(all_in_all), *daily(days)]))


async def _counted(settings: Settings) -> tuple[Stats, Sequence[Day]]:
    from datetime import UTC, datetime

    from bots.app import open_database
    from core.commands.figures import DAYS

    async with open_database(settings) as store:
        return await store.stats(), await store.days(datetime.now(UTC), count=DAYS)


@click.command(short_help="Tell how many tokens were used, and what they cost.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def usage(as_data: bool) -> None:
    """Tell how many tokens the model took, by day, model, person and chat, and what they cost."""
    import asyncio
    from zoneinfo import ZoneInfo

    from pydantic_core import to_jsonable_python

    from bots.budgets import prices
    from bots.logging import set_up_logging
    from config.settings import load_settings
    from core.commands.spending import told

    settings = load_settings()
    set_up_logging(settings, "WARNING")
    found = asyncio.run(_spent(settings))
    if as_data:
        click.echo(as_json(to_jsonable_python(asdict(found) | {"cost": prices(settings).cost(found.spent)})))
    else:
        zone = ZoneInfo(settings.engine.time_zone)
        click.echo("\n".join(told(found, prices(settings), zone) or ["No tokens were used of late."]))


async def _spent(settings: Settings) -> Overview:
    from zoneinfo import ZoneInfo

    from bots.app import open_database
    from bots.budgets import budget
    from core.clock import SystemClock
    from core.commands.spending import overview
    from core.spending.budget import Ledger

    async with open_database(settings) as store:
        zone = ZoneInfo(settings.engine.time_zone)
        return await overview(Ledger(store, SystemClock(), budget(settings), zone))


def _examined() -> Sequence[Finding]:
    import asyncio

    from bots.doctor.finding import refused
    from bots.logging import set_up_logging
    from config.settings import load_settings

    try:
        settings = load_settings()
    except KeepmindError as error:
        return [refused("settings", "files", error)]
    set_up_logging(settings, "CRITICAL")  # what is found stands on the page
    return asyncio.run(_examination(settings))


async def _examination(settings: Settings) -> Sequence[Finding]:
    import asyncio

    from bots.doctor import examine
    from bots.doctor.threads import Leaving

    asyncio.get_running_loop().set_default_executor(Leaving())
    return await examine(settings)


def _coloured() -> bool | None:
    """Say whether to print colours; None leaves it to whether a terminal is written to."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stdout.isatty()
    return False if plain else None
