"""The command `keepmind`. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bots import garbage
from bots.operating import doctor, init, stats, usage
from bots.output import as_json, as_sentence, as_text, tell
from core.errors import KeepmindError

if TYPE_CHECKING:
    from config.settings import Settings
    from core.messages import ChatKey, Person
    from core.store import ConversationStore

T = TypeVar("T")
as_data = click.option("--json", "as_data", is_flag=True, help="Print JSON.")
of_chat = click.option("--chat", metavar="PLATFORM:ID", default="", help="Of this chat.")
of_person = click.option("--person", metavar="PLATFORM:ID", default="", help="Of this person.")


def main() -> None:
    """Run the command line; every error is one sentence on standard error."""
    garbage.defer()
    _any_text()
    code = _run()
    _close_output()
    gc.freeze()  # else Python looks through all that is left, a second or more after the bot has ended
    sys.exit(code)


def _run() -> int:
    try:
        code = keepmind(prog_name="keepmind", standalone_mode=False)
    except click.ClickException as error:
        tell(error.format_message())
        return error.exit_code
    except KeepmindError as error:
        tell(f"keepmind: {error}")
        return 1
    except (click.Abort, KeyboardInterrupt):
        tell("")
        return 130
    except Exception:  # a bug is one sentence too
        _report_bug()
        return 1
    return code if isinstance(code, int) else 0


@click.group()
@click.version_option(package_name="keepmind", message="%(prog)s %(version)s")
def keepmind() -> None:
    """Run a bot that remembers the people it talks to."""


for command in (init, doctor, stats, usage):
    keepmind.add_command(command)


@keepmind.group()
def dev() -> None:
    """Try the bot on a platform's test server, without a token."""


@keepmind.group()
def memory() -> None:
    """See, erase, take out and check what is remembered."""


@keepmind.group()
def model() -> None:
    """Look after the small local model."""


@keepmind.group()
def db() -> None:
    """Look after the database."""


@keepmind.command()
@click.option("--chat", metavar="KEY", default="", help="Which chat to go on with.")
@click.option("--as", "who", metavar="NAME", default="", help="Who is talking.")
@click.option("--group", is_flag=True, help="Make the chat a group of several people.")
def chat(chat: str, who: str, group: bool) -> int:
    """Talk in the terminal; with piped input, a line is a message."""
    from adapters.console import place
    from bots.terminal import console, talk

    at = _parsed(lambda text: place(text, who), chat, "--chat")
    settings = _settings("ERROR")
    return _await(talk(settings, console(settings, at, private=not group)))


@keepmind.command()
@click.argument("platforms", nargs=-1, type=click.Choice(["telegram", "discord"]))
def run(platforms: tuple[str, ...]) -> None:
    """Serve Telegram and Discord; by default every one with a token."""
    from bots.platforms import chosen, serve

    settings = _settings("INFO")
    _await(serve(chosen(settings, platforms), settings))


@dev.command("telegram", short_help="Talk to the bot on a Telegram of this machine.")
@click.option("--as", "who", metavar="NAME", default="Ann", help="Who is talking.")
@click.option("--group", is_flag=True, help="Talk in a group that the bot is in.")
def dev_telegram(who: str, group: bool) -> None:
    """Talk to the bot on a Telegram of this machine; :help there lists what can be done."""
    from bots.dev.telegram import talk

    _await(talk(_settings("ERROR"), who, group=group))


@dev.command("discord", short_help="Talk to the bot on a Discord of this machine.")
@click.option("--as", "who", metavar="NAME", default="Ann", help="Who is talking.")
@click.option("--group", is_flag=True, help="Talk in a server that the bot is in.")
def dev_discord(who: str, group: bool) -> None:
    """Talk to the bot on a Discord of this machine; :help there lists what can be done."""
    from bots.dev.discord import talk

    _await(talk(_settings("ERROR"), who, group=group))


@memory.command()
@of_chat
@of_person
@as_data
def view(chat: str, person: str, as_data: bool) -> None:
    """Show what is remembered of a chat or a person."""
    from bots.memory import view as look

    whom = _whom(chat, person)
    seen = _with_store(lambda store: look(store, whom))
    click.echo(as_json(seen) if as_data else as_text(seen))


@memory.command()
@of_chat
@of_person
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@as_data
def clear(chat: str, person: str, yes: bool, as_data: bool) -> None:
    """Erase all of a chat or a person, and print what went."""
    from bots.memory import clear as erase

    whom = _whom(chat, person)
    if not yes:
        click.confirm(f"Erase all that is kept of {whom}?", abort=True, err=True)
    receipt = _with_store(lambda store: erase(store, whom))
    _forget_lines(_settings())
    click.echo(as_json({"erased": dict(receipt.counts), "total": receipt.total}) if as_data else as_sentence(receipt))


@memory.command()
@click.option("--person", metavar="PLATFORM:ID", required=True, help="Of this person.")
@click.option("--output", "-o", metavar="FILE", type=click.Path(path_type=Path), help="Write to a file.")
def export(person: str, output: Path | None) -> None:
    """Give everything kept of a person, as JSON."""
    whom = _person(person)
    text = as_json(_with_store(lambda store: store.export(whom)))
    if output is None:
        click.echo(text)
    else:
        _write(output, text)


@memory.command()
@click.option("--absent", metavar="TEXT", multiple=True, help="Also check that this is nowhere.")
@as_data
def verify(absent: tuple[str, ...], as_data: bool) -> int:
    """Check that what is stored is whole; exit 1 when it is not."""
    from bots.memory import verify as check

    faults = _with_store(lambda store: check(store, absent))
    click.echo(as_json({"faults": faults}) if as_data else "\n".join(faults) or "No fault found.")
    return 1 if faults else 0


@model.command()
@as_data
def fetch(as_data: bool) -> None:
    """Fetch the small local model, so that the bot talks without a key."""
    from adapters.llamacpp import fetch as fetch_model

    path = str(fetch_model(_settings().storage.data_dir, tell))
    click.echo(as_json({"path": path}) if as_data else path)


@db.command()
@as_data
def upgrade(as_data: bool) -> None:
    """Bring the database to this version's schema."""
    _with_store(_nothing)
    click.echo(as_json({"up_to_date": True}) if as_data else "The database is up to date.")


@db.command(short_help="Copy the database to a new FILE.")
@click.argument("file", type=click.Path(path_type=Path))
@as_data
def backup(file: Path, as_data: bool) -> None:
    """Copy the database to a new FILE while the bot runs; of PostgreSQL, print the command that does."""
    from adapters.sql import back_up

    command = _await(back_up(_settings().storage.url, file))
    told = command or f"The database was copied to {file}."
    click.echo(as_json({"command": command} if command else {"copied": str(file)}) if as_data else told)


@db.command(short_help="Let another bot go on with what is kept.")
@click.argument("platform", type=click.Choice(["telegram", "discord"]))
@as_data
def dismiss(platform: str, as_data: bool) -> None:
    """Let another bot of a platform go on with what is kept, at the next start."""

    async def dismissed(store: ConversationStore) -> bool:
        return await store.dismiss(platform)

    done = _with_store(dismissed)
    told = f"The next {platform} bot that starts goes on with what is kept." if done else "No bot has been noted yet."
    click.echo(as_json({"dismissed": done}) if as_data else told)


@keepmind.command()
@click.option("--all", "everything", is_flag=True, help="Every chat over its low-water mark, quiet or not.")
@as_data
def compact(everything: bool, as_data: bool) -> None:
    """Fold the older turns of quiet chats into their summaries, once."""
    count = _await(_compact(_settings(), everything))
    click.echo(as_json({"compacted": count}) if as_data else f"Compacted {count} chat{'' if count == 1 else 's'}.")


@keepmind.command()
@as_data
def version(as_data: bool) -> None:
    """Print the version."""
    from importlib.metadata import version as version_of

    number = version_of("keepmind")
    click.echo(as_json({"version": number}) if as_data else f"keepmind {number}")


async def _compact(settings: Settings, everything: bool) -> int:
    from bots.app import open_app

    async with open_app(settings) as opened:
        garbage.resume()
        return await opened.compactor.compact_quiet(everything=everything)


def _settings(level: str = "WARNING") -> Settings:
    from bots.logging import set_up_logging
    from config.settings import load_settings

    settings = load_settings()
    set_up_logging(settings, level)
    return settings


def _await(work: Coroutine[Any, Any, T]) -> T:
    import asyncio

    return asyncio.run(work)


def _with_store(work: Callable[[ConversationStore], Awaitable[T]]) -> T:
    return _await(_work(_settings(), work))


async def _work(settings: Settings, work: Callable[[ConversationStore], Awaitable[T]]) -> T:
    from bots.app import open_database

    async with open_database(settings) as store:
        garbage.resume()
        return await work(store)


async def _nothing(store: ConversationStore) -> None:
    """Do nothing: opening the database has upgraded it."""


def _whom(chat: str, person: str) -> ChatKey | Person:
    from core.messages import ChatKey

    if bool(chat) == bool(person):
        raise click.UsageError("Name one of --chat and --person.")
    return _person(person) if person else _parsed(ChatKey.parse, chat, "--chat")


def _person(text: str) -> Person:
    from core.messages import Person

    return _parsed(Person.parse, text, "--person")


def _parsed(parse: Callable[[str], T], text: str, option: str) -> T:
    try:
        return parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from None


def _forget_lines(settings: Settings) -> None:
    from adapters.console import HISTORY, forget_lines

    forget_lines(settings.storage.data_dir / HISTORY)


def _write(path: Path, text: str) -> None:
    try:
        no_link = getattr(os, "O_NOFOLLOW", 0)  # what it leads to may be another's, and read by others
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | no_link, 0o600)
        with open(descriptor, "w", encoding="utf-8", errors="replace") as stream:
            path.chmod(0o600)
            stream.write(text + "\n")
    except OSError as error:
        raise KeepmindError(f"{path} can't be written: {error.strerror}") from None


def _report_bug() -> None:
    import logging

    logger = logging.getLogger("keepmind")
    logger.debug("stopped by a bug", exc_info=True)
    tell(f"keepmind: stopped by a bug ({sys.exc_info()[0]}); KEEPMIND_LOG_LEVEL=DEBUG shows where")


def _any_text() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


def _close_output() -> None:
    """Let the reader of a pipe go first without a complaint of Python's at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
