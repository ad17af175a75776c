"""The command `keepmind`. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import asyncio
import io
import logging
import os
import sys
from collections.abc import Awaitable, Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from typer.exceptions import TyperException

from bots.output import as_json, as_sentence, as_text, tell
from core.errors import KeepmindError
from core.messages import ChatKey, Person

if TYPE_CHECKING:
    from config.settings import Settings
    from core.store import ConversationStore

T = TypeVar("T")


def _group(purpose: str) -> typer.Typer:
    return typer.Typer(
        help=purpose,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )


app = _group("A bot that remembers the people it talks to.")
memory = _group("See, erase, take out and check what is remembered.")
model = _group("The small local model.")
database = _group("The database.")
app.add_typer(memory, name="memory")
app.add_typer(model, name="model")
app.add_typer(database, name="db")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OfChat = Annotated[str, typer.Option("--chat", metavar="PLATFORM:ID", help="Of this chat.")]
OfPerson = Annotated[str, typer.Option("--person", metavar="PLATFORM:ID", help="Of this person.")]


class Platform(StrEnum):
    """A platform to serve."""

    TELEGRAM = "telegram"
    DISCORD = "discord"


def main() -> None:
    """Run the command line; every error is one sentence on standard error."""
    _any_text()
    code = _run()
    _close_output()
    sys.exit(code)


def _run() -> int:
    try:
        code = app(standalone_mode=False)
    except TyperException as error:
        tell(error.format_message())
        return error.exit_code
    except KeepmindError as error:
        tell(f"keepmind: {error}")
        return 1
    except typer.Abort:
        tell("keepmind: stopped, nothing was done")
        return 1
    except Exception:
        logging.getLogger("keepmind").exception("stopped by a bug")
        return 1
    return code if isinstance(code, int) else 0


@app.command()
def chat(
    chat: Annotated[str, typer.Option("--chat", metavar="KEY", help="Which chat to go on with.")] = "",
    who: Annotated[str, typer.Option("--as", metavar="NAME", help="Who is talking.")] = "",
    group: Annotated[bool, typer.Option("--group", help="Make the chat a group of several people.")] = False,
) -> None:
    """Talk in the terminal; with piped input, a line is a message."""
    from adapters.console import place
    from bots.terminal import console, talk

    at = _parsed(lambda text: place(text, who), chat, "--chat")
    settings = _settings("WARNING")
    asyncio.run(talk(settings, console(settings, at, private=not group)))


@app.command()
def run(
    platforms: Annotated[list[Platform] | None, typer.Argument(help="Which; all with a token by default.")] = None,
) -> None:
    """Serve Telegram and Discord."""
    from bots.platforms import chosen, serve

    settings = _settings("INFO")
    asyncio.run(serve(chosen(settings, platforms or [])))


@memory.command()
def view(chat: OfChat = "", person: OfPerson = "", as_data: AsJson = False) -> None:
    """Show what is remembered of a chat or a person."""
    from bots.memory import view_chat, view_person

    whom = _whom(chat, person)
    seen = _with_store(lambda store: view_chat(store, whom) if isinstance(whom, ChatKey) else view_person(store, whom))
    print(as_json(seen) if as_data else as_text(seen))


@memory.command()
def clear(
    chat: OfChat = "",
    person: OfPerson = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_data: AsJson = False,
) -> None:
    """Erase all of a chat or a person, and print what went."""
    from bots.memory import clear as erase

    whom = _whom(chat, person)
    if not yes:
        typer.confirm(f"Erase all that is kept of {whom}?", abort=True, err=True)
    receipt = _with_store(lambda store: erase(store, whom))
    _forget_lines(_settings())
    print(as_json({"erased": dict(receipt.counts), "total": receipt.total}) if as_data else as_sentence(receipt))


@memory.command()
def export(
    person: OfPerson,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file.")] = None,
) -> None:
    """Give everything kept of a person, as JSON."""
    whom = _person(person)
    text = as_json(_with_store(lambda store: store.export(whom)))
    if output is None:
        print(text)
    else:
        _write(output, text)


@memory.command()
def verify(
    absent: Annotated[list[str] | None, typer.Option(metavar="TEXT", help="Also check that this is nowhere.")] = None,
    as_data: AsJson = False,
) -> None:
    """Check that what is stored is whole; exit 1 when it is not."""
    from bots.memory import verify as check

    faults = _with_store(lambda store: check(store, absent or []))
    print(as_json({"faults": faults}) if as_data else "\n".join(faults) or "No fault found.")
    raise typer.Exit(1 if faults else 0)


@model.command()
def fetch() -> None:
    """Fetch the small local model, so that the bot talks without a key."""
    from adapters.llamacpp import fetch as fetch_model

    print(fetch_model(_settings().storage.data_dir, tell))


@database.command()
def upgrade() -> None:
    """Bring the database to this version's schema."""
    _with_store(_nothing)
    print("The database is up to date.")


@app.command()
def compact(
    everything: Annotated[bool, typer.Option("--all", help="Also chats that are not quiet.")] = False,
    as_data: AsJson = False,
) -> None:
    """Fold the older turns of quiet chats into their summaries, once."""
    count = asyncio.run(_compact(_settings(), everything))
    print(as_json({"compacted": count}) if as_data else f"Compacted {count} chat{'' if count == 1 else 's'}.")


@app.command()
def version(as_data: AsJson = False) -> None:
    """Print the version."""
    from importlib.metadata import version as version_of

    number = version_of("keepmind")
    print(as_json({"version": number}) if as_data else f"keepmind {number}")


async def _compact(settings: Settings, everything: bool) -> int:
    from bots.app import open_app

    async with open_app(settings) as opened:
        return await opened.compactor.compact_quiet(all=everything)


def _settings(level: str = "WARNING") -> Settings:
    from bots.logging import set_up_logging
    from config.settings import load_settings

    settings = load_settings()
    set_up_logging(settings, level)
    return settings


def _with_store(work: Callable[[ConversationStore], Awaitable[T]]) -> T:
    return asyncio.run(_work(_settings(), work))


async def _work(settings: Settings, work: Callable[[ConversationStore], Awaitable[T]]) -> T:
    from bots.app import open_database

    async with open_database(settings) as store:
        return await work(store)


async def _nothing(store: ConversationStore) -> None:
    """Opening the database has upgraded it."""


def _whom(chat: str, person: str) -> ChatKey | Person:
    if bool(chat) == bool(person):
        raise typer.BadParameter("name one of --chat and --person")
    return _person(person) if person else _parsed(ChatKey.parse, chat, "--chat")


def _person(text: str) -> Person:
    return _parsed(Person.parse, text, "--person")


def _parsed(parse: Callable[[str], T], text: str, option: str) -> T:
    try:
        return parse(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def _forget_lines(settings: Settings) -> None:
    from adapters.console import HISTORY, forget_lines

    forget_lines(settings.storage.data_dir / HISTORY)


def _write(path: Path, text: str) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8", errors="replace") as stream:
            stream.write(text + "\n")
    except OSError as error:
        raise KeepmindError(f"{path} can't be written: {error.strerror}") from None


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
