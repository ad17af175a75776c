"""The calls that declare commands, and what Discord checks in them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from adapters.discord.server.api import Api, Route
from adapters.discord.server.journal import Call
from adapters.discord.server.refusals import Json, bad_choice, bad_length, form, required, unknown

SLASH, USER_MENU, MESSAGE_MENU = 1, 2, 3
SUB, GROUP = 1, 2
MOST = {SLASH: 100, USER_MENU: 15, MESSAGE_MENU: 15}
MOST_LETTERS = 8000
_LOCALES = """id da de en-GB en-US es-ES es-419 fr hr it lt hu nl no pl pt-BR ro fi sv-SE vi tr cs el bg ru uk hi th
zh-CN ja zh-TW ko"""
LOCALES = frozenset(_LOCALES.split())
_NAME = re.compile(r"[-_'\w\u0900-\u097f\u0e00-\u0e7f]{1,32}")
_NUMBERED = {"3": "STRING", "4": "INTEGER", "10": "NUMBER"}


def put_commands(api: Api, call: Call) -> list[Json]:
    """Declare all commands anew; those of the same name keep their ids."""
    place, old = _place(api, call), _declared(api, call)
    given = call.body
    if not isinstance(given, list):
        raise form("", "BASE_TYPE_LIST", "Only iterables may be used in a ListType")
    checked = [_checked(command, str(index)) for index, command in enumerate(given)]
    _check_together(checked)
    known = {_key(command): command for command in old}
    api.commands[place] = [_command(api, place, command, known.get(_key(command))) for command in checked]
    api.world.changed.ring()
    return api.commands[place]


def add_command(api: Api, call: Call) -> Json:
    """Declare one command, in the place of another of its name."""
    place, old = _place(api, call), _declared(api, call)
    checked = _checked(call.fields(), "")
    same = next((command for command in old if _key(command) == _key(checked)), None)
    command = _command(api, place, checked, same)
    api.commands[place] = [one for one in old if one is not same] + [command]
    _check_together(api.commands[place])
    api.world.changed.ring()
    return command


def get_commands(api: Api, call: Call) -> list[Json]:
    """Give the commands there are."""
    _place(api, call)
    is_full = call.query.get("with_localizations") in ("1", "true")
    return [command if is_full else _without_localizations(command) for command in _declared(api, call)]


def delete_command(api: Api, call: Call) -> None:
    """Take a command away."""
    place, old = _place(api, call), _declared(api, call)
    kept = [command for command in old if command["id"] != call.ids["command"]]
    if len(kept) == len(old):
        raise unknown("application command", 10063)
    api.commands[place] = kept
    api.world.changed.ring()


def _place(api: Api, call: Call) -> int | None:
    if call.number("application") != api.world.bot.id:
        raise unknown("Application", 10002)
    return api.guild(call).id if "guild" in call.ids else None


def _declared(api: Api, call: Call) -> list[Json]:
    return api.commands.get(call.number("guild"), [])


def _key(command: Json) -> tuple[int, str]:
    return command.get("type", SLASH), command["name"]


def _command(api: Api, guild: int | None, given: Json, old: Json | None) -> Json:
    number = str(api.world.snowflake())
    body: Json = {
        "id": old["id"] if old else number,
        "application_id": str(api.world.bot.id),
        "version": number,
        "default_member_permissions": given.get("default_member_permissions"),
        "type": given.get("type", SLASH),
        "name": given["name"],
        "name_localizations": given.get("name_localizations"),
        "description": given.get("description", ""),
        "description_localizations": given.get("description_localizations"),
        "nsfw": given.get("nsfw", False),
        "contexts": given.get("contexts"),
        "integration_types": given.get("integration_types") or [0],
    }
    return (
        body
        | ({"guild_id": str(guild)} if guild else {})
        | ({"options": given["options"]} if given.get("options") else {})
    )


def _without_localizations(command: Json) -> Json:
    return {name: value for name, value in command.items() if not name.endswith("_localizations")}


def _check_together(commands: list[Json]) -> None:
    keys = [_key(command) for command in commands]
    for index, key in enumerate(keys):
        if key in keys[:index]:
            raise form(f"{index}", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
    for kind, most in MOST.items():
        if sum(key[0] == kind for key in keys) > most:
            raise form("", "APPLICATION_COMMAND_TOO_MANY", f"Maximum number of application commands reached ({most}).")


def _checked(command: Json, path: str) -> Json:
    kind = command.get("type", SLASH)
    if kind not in MOST:
        raise bad_choice(_at(path, "type"), "1, 2, 3")
    if kind == SLASH:
        _check_worded(command, path)
        _check_options(command.get("options") or [], _at(path, "options"), depth=0)
    else:
        _check_menu(command, path)
    if sum(map(len, _letters(command))) > MOST_LETTERS:
        raise form(path, "APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (8000)")
    permissions = command.get("default_member_permissions")
    if permissions is not None and not str(permissions).isdecimal():
        raise form(_at(path, "default_member_permissions"), "BASE_TYPE_CONVERT", "Not a permissions value")
    for name, values in (("contexts", {0, 1, 2}), ("integration_types", {0, 1})):
        if not set(command.get(name) or []) <= values:
            raise bad_choice(_at(path, name), ", ".join(map(str, sorted(values))))
    return command


def _at(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _check_menu(command: Json, path: str) -> None:
    for name, text in [("name", command.get("name", "")), *_localized(command, "name", path)]:
        if not 1 <= len(text) <= 32:
            raise bad_length(_at(path, name), 1, 32)
    if command.get("description"):
        raise form(
            _at(path, "description"),
            "APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION",
            "Context menu commands cannot have description",
        )
    if command.get("options"):
        raise form(
            _at(path, "options"),
            "APPLICATION_COMMAND_CONTEXT_MENU_OPTIONS",
            "Context menu commands cannot have options",
        )


def _check_worded(one: Json, path: str) -> None:
    for name in ("name", "description"):
        if not one.get(name):
            raise required(_at(path, name))
    for name, text in [("name", one["name"]), *_localized(one, "name", path)]:
        if not _NAME.fullmatch(text) or text != text.lower():
            raise form(_at(path, name), "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
    for name, text in [("description", one["description"]), *_localized(one, "description", path)]:
        if not 1 <= len(text) <= 100:
            raise bad_length(_at(path, name), 1, 100)


def _localized(one: Json, what: str, path: str) -> list[tuple[str, str]]:
    given = one.get(f"{what}_localizations") or {}
    for locale in given:
        if locale not in LOCALES:
            raise bad_choice(_at(path, f"{what}_localizations.{locale}"), ", ".join(sorted(LOCALES)))
    return [(f"{what}_localizations.{locale}", text) for locale, text in given.items() if text is not None]


def _check_options(options: list[Json], path: str, depth: int) -> None:
    if len(options) > 25:
        raise bad_length(path, 0, 25)
    names = [option.get("name") for option in options]
    for index, option in enumerate(options):
        if names[index] in names[:index]:
            raise form(
                f"{path}.{index}", "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS", "Option name already exists"
            )
        _check_option(option, f"{path}.{index}", depth)
    _check_order(options, path)


def _check_option(option: Json, path: str, depth: int) -> None:
    kind = option.get("type")
    if kind not in range(1, 12) or (kind == GROUP and depth > 0) or (kind == SUB and depth > 1):
        raise bad_choice(f"{path}.type", ", ".join(map(str, range(1 + min(depth, 2), 12))))
    _check_worded(option, path)
    if kind in (SUB, GROUP):
        inside = option.get("options") or []
        if kind == GROUP and not all(one.get("type") == SUB for one in inside):
            raise bad_choice(f"{path}.options.0.type", "1")
        _check_options(inside, f"{path}.options", 1 if kind == GROUP else 2)
    else:
        _check_choices(option, path)


def _check_order(options: list[Json], path: str) -> None:
    kinds = {option["type"] in (SUB, GROUP) for option in options}
    if len(kinds) > 1:
        raise form(
            path,
            "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID",
            "Sub-command and sub-command group option types are mutually exclusive to all other types",
        )
    needed = [bool(option.get("required")) for option in options]
    if needed != sorted(needed, reverse=True):
        raise form(
            path,
            "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
            "Required options must be placed before non-required options",
        )


def _check_choices(option: Json, path: str) -> None:
    choices = option.get("choices") or []
    if len(choices) > 25:
        raise bad_length(f"{path}.choices", 0, 25)
    if choices and (str(option["type"]) not in _NUMBERED or option.get("autocomplete")):
        raise form(f"{path}.choices", "APPLICATION_COMMAND_OPTIONS_CHOICES_INVALID", "Choices are not allowed here")
    for index, choice in enumerate(choices):
        if not 1 <= len(str(choice.get("name", ""))) <= 100:
            raise bad_length(f"{path}.choices.{index}.name", 1, 100)
        if not 1 <= len(str(choice.get("value", ""))) <= 100:
            raise bad_length(f"{path}.choices.{index}.value", 1, 100)


def _letters(one: Json) -> Iterator[str]:
    """Give what counts towards a command's size: the longest of each name and description in all languages."""
    for name in ("name", "description"):
        texts = [one.get(name) or "", *(one.get(f"{name}_localizations") or {}).values()]
        yield max(texts, key=len)
    for option in one.get("options") or []:
        yield from _letters(option)
    for choice in one.get("choices") or []:
        yield from (str(choice["name"]), str(choice["value"]))


_PLACES = [
    ("", "/applications/{application}/commands"),
    ("guild_", "/applications/{application}/guilds/{guild}/commands"),
]
ROUTES = [
    route
    for kind, path in _PLACES
    for route in (
        Route(f"put_{kind}commands", "PUT", path, put_commands),
        Route(f"get_{kind}commands", "GET", path, get_commands),
        Route(f"add_{kind}command", "POST", path, add_command),
        Route(f"delete_{kind}command", "DELETE", path + "/{command}", delete_command),
    )
]
