"""Slash commands: declared to Discord from the bot's own, each made into a message that the engine takes."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Iterable, Mapping
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import discord
from discord import app_commands
from discord.app_commands import locale_str

from adapters.discord import sentences
from adapters.discord.buttons import Buttons
from adapters.discord.calls import Calls, tell
from adapters.discord.interactions import Interactions
from adapters.discord.languages import code_of
from adapters.discord.suggestions import Suggestions
from adapters.discord.syncing import declare
from adapters.discord.translator import Catalogues
from adapters.discord.trouble import TROUBLES
from core.commands.command import Command, FactKey, Parameter
from core.engine import Engine
from core.sentences import APOLOGY_COMMAND
from core.translation import marked, speaking

logger = logging.getLogger("keepmind.discord")
MOST_NAME, MOST_TEXT, MOST_IN_GROUP = 32, 100, 25
BARE = ("view", "show", "all")
"""What a command is called beside others that begin with its name, as `/memory view`: a group has no bare command."""
FORGET_THIS = marked("Forget this message")
_EVERYWHERE = app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=True)
_ADMINS = discord.Permissions(manage_guild=True)
_PLAIN = (int, float, bool)
Path = tuple[str, ...]


async def set_commands(
    tree: app_commands.CommandTree[Any],
    engine: Engine,
    interactions: Interactions,
    buttons: Buttons,
    guild: int | None = None,
) -> None:
    """Declare every command of the engine, to one guild in development; called once, before the gateway is joined.

    Whatever goes wrong is logged, since the bot can be talked to without them.
    """
    buttons.keeper = engine.shared.store
    calls = Calls(engine, interactions, buttons)
    Declaring(tree, calls, Suggestions(engine)).add(engine.commands)
    if engine.commands.find("/forget"):
        tree.add_command(_forget_this(calls))
    tree.error(failed)
    await tree.set_translator(Catalogues())

    async def on_interaction(interaction: discord.Interaction) -> None:
        if interaction.type in (discord.InteractionType.component, discord.InteractionType.modal_submit):
            await calls.pressed(interaction)

    tree.client.event(on_interaction)
    await declare(tree, guild)


async def failed(interaction: discord.Interaction, error: app_commands.AppCommandError) -> None:
    """Tell who called a command what is wrong with it; nothing they said is logged."""
    cause = error.original if isinstance(error, app_commands.CommandInvokeError) else error
    if isinstance(cause, (app_commands.CommandNotFound, app_commands.CommandSignatureMismatch)):
        await tell(interaction, sentences.NO_COMMAND)
    elif isinstance(cause, TROUBLES) and not interaction.response.is_done():
        logger.warning("a command could not be acknowledged: %s", type(cause).__name__)
    else:
        logger.error("a command was not taken: %s", type(cause).__name__)
        logger.debug("its traceback", exc_info=cause)
        await tell(interaction, APOLOGY_COMMAND)


def paths(commands: Iterable[Command]) -> Mapping[Path, Command]:
    """Give each command its place: a name of one word, or of two or three that are a group's and its own."""
    named = {_path(command.name): command for command in commands}
    groups = {path[:depth] for path in named for depth in range(1, len(path))}
    return {(*p, next(w for w in BARE if (*p, w) not in named)) if p in groups else p: c for p, c in named.items()}


def _path(name: str) -> Path:
    words = [re.sub(r"[^\w-]", "_", word) for word in name.casefold().split()]
    return tuple(word[:MOST_NAME] for word in [*words[:2], "_".join(words[2:])] if word)


class Declaring:
    """Adds commands to a tree, with the groups that they need."""

    def __init__(self, tree: app_commands.CommandTree[Any], calls: Calls, suggestions: Suggestions) -> None:
        self._tree, self._calls, self._suggestions = tree, calls, suggestions
        self._groups: dict[Path, app_commands.Group] = {}
        self._open: set[str] = set()

    def add(self, commands: Iterable[Command]) -> None:
        """Add all commands; one that Discord would not take is left out, and logged."""
        placed = paths(commands)
        self._open = {path[0] for path, command in placed.items() if not command.admin}
        for path, command in sorted(placed.items()):
            try:
                self._add(path, command)
            except (ValueError, TypeError, app_commands.AppCommandError) as error:
                logger.warning("the command /%s is left out on Discord: %s", command.name, error)

    def _add(self, path: Path, command: Command) -> None:
        made: app_commands.Command[Any, Any, None] = app_commands.Command(
            name=locale_str(path[-1]),
            description=text(command.summary or command.name),
            callback=self._callback(command),
        )
        if len(path) == 1:
            self._place(made)
        else:
            _put(self._group(path[:-1], command), made)

    def _group(self, path: Path, command: Command) -> app_commands.Group:
        if path not in self._groups:
            about = " ".join(path)
            group = app_commands.Group(name=locale_str(path[-1]), description=text(f"/{about} …"))
            if len(path) == 1:
                self._place(group)
            else:
                _put(self._group(path[:-1], command), group)
            self._groups[path] = group
        return self._groups[path]

    def _place(self, made: app_commands.Command[Any, Any, None] | app_commands.Group) -> None:
        made.allowed_contexts = _EVERYWHERE
        if made.name not in self._open:
            made.default_permissions = _ADMINS
        self._tree.add_command(made)

    def _callback(self, command: Command) -> Any:
        offered = () if command.arguments == "" else command.parameters

        async def call(interaction: discord.Interaction, **given: Any) -> None:
            said = written(command, {name: value for name, value in given.items() if value is not None})
            if said is None:
                with speaking(code_of(interaction.locale)):
                    await tell(interaction, sentences.GAP, usage=command.usage)
                return
            files = [value for value in given.values() if isinstance(value, discord.Attachment)]
            await self._calls.call(interaction, command, said, files)

        kind = inspect.Parameter.KEYWORD_ONLY
        options = [inspect.Parameter(p.name, kind, default=_default(p), annotation=option(p)) for p in offered]
        first = inspect.Parameter(
            "interaction", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=discord.Interaction
        )
        call.__signature__ = inspect.Signature([first, *options])  # type: ignore[attr-defined]
        named = {p.name: locale_str(p.name) for p in offered}
        described = {p.name: text(command.arguments or p.name.upper()) for p in offered}
        suggested = {p.name: self._suggestions.of(command) for p in offered if p.type is FactKey}
        return app_commands.autocomplete(**suggested)(
            app_commands.rename(**named)(app_commands.describe(**described)(call))
        )


def _put(group: app_commands.Group, made: app_commands.Command[Any, Any, None] | app_commands.Group) -> None:
    if len(group.commands) == MOST_IN_GROUP:  # the library notices only once it is in
        raise ValueError(f"a group holds at most {MOST_IN_GROUP} commands")
    group.add_command(made)


def written(command: Command, given: Mapping[str, Any]) -> str | None:
    """Write a command with its arguments as a person would; None when one is left out before one that is given."""
    words = [p for p in command.parameters if not p.is_file]
    values = [_word(p, given[p.name]) for p in words if p.name in given]
    if any(p.name not in given for p in words[: len(values)]):
        return None
    return " ".join([f"/{command.name}", *values])


def _word(parameter: Parameter, value: Any) -> str:
    """Write a value; one that is not the last is a single word."""
    return str(value) if parameter.rest else "_".join(str(value).split()) or "_"


def option(parameter: Parameter) -> Any:
    """Give the type of a parameter as Discord knows it: what it does not know is text."""
    if parameter.is_file:
        return discord.Attachment
    named = parameter.type
    if get_origin(named) in (Union, UnionType):
        named = next((one for one in get_args(named) if one is not type(None)), str)
    if get_origin(named) is Literal and all(isinstance(one, str) for one in get_args(named)):
        return named
    return named if named in _PLAIN else str


def _default(parameter: Parameter) -> Any:
    return inspect.Parameter.empty if parameter.required else None


def text(words: str) -> locale_str:
    """Give words of the bot's own as a description, which can be translated."""
    return locale_str(words if len(words) <= MOST_TEXT else words[: MOST_TEXT - 1] + "…")


def _forget_this(calls: Calls) -> app_commands.ContextMenu:
    async def forget(interaction: discord.Interaction, message: discord.Message) -> None:
        await calls.forget(interaction, message)

    # the library reads the types of the parameters from the function itself
    forget.__annotations__ = {"interaction": discord.Interaction, "message": discord.Message}
    menu = app_commands.ContextMenu(name=locale_str(FORGET_THIS), callback=forget)
    menu.allowed_contexts = _EVERYWHERE
    return menu
