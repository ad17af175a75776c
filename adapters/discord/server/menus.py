"""Which commands a person is shown, and what their app sends when they use one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from adapters.discord.server.api import Api
from adapters.discord.server.commands import GROUP, SLASH, SUB
from adapters.discord.server.permissions import bits
from adapters.discord.server.refusals import Json
from adapters.discord.server.shapes import (
    channel_shape,
    file_shape,
    member_shape,
    permissions_text,
    role_shape,
    user_shape,
)
from adapters.discord.server.world import Channel, File, Role, User

TEXT, INTEGER, YES_NO, USER, CHANNEL, ROLE, MENTIONABLE, NUMBER, FILE = range(3, 12)
_KINDS: dict[int, tuple[type, ...]] = {
    TEXT: (str,),
    INTEGER: (int,),
    YES_NO: (bool,),
    USER: (User,),
    CHANNEL: (Channel,),
    ROLE: (Role,),
    MENTIONABLE: (User, Role),
    NUMBER: (int, float),
    FILE: (File,),
}
Options = Mapping[str, Any]


class Menus:
    """The commands that the bot has declared, as a person sees them."""

    api: Api

    def menu(self, user: User, place: Channel | User) -> list[Json]:
        """Give the commands that a person is shown somewhere."""
        channel = self.api.world.private(place) if isinstance(place, User) else place
        return [command for command in self._all(channel) if _is_shown(command, user, channel)]

    def menu_names(self, user: User, place: Channel | User) -> list[str]:
        """Give the slash commands that a person is shown, in their language, with their subcommands."""
        slash = [command for command in self.menu(user, place) if command["type"] == SLASH]
        return [name for command in slash for name in _names(command, user.locale)]

    def slash(self, user: User, place: Channel | User) -> dict[str, list[Json]]:
        """Give the slash commands that a person is shown, by their names with subcommands, each with its options."""
        shown = [command for command in self.menu(user, place) if command["type"] == SLASH]
        return {path: options for command in shown for path, options in _paths(command)}

    def _all(self, channel: Channel) -> list[Json]:
        """Give all commands there are somewhere, what is declared in both ways twice, as Discord shows it."""
        local = self.api.commands.get(channel.guild.id, []) if channel.guild else []
        return [*local, *self.api.commands.get(None, [])]

    def declared(self, by: User, channel: Channel, name: str, kind: int) -> Json:
        """Find a command that a person is shown. Raises LookupError."""
        shown = [command for command in self.menu(by, channel) if command["type"] == kind]
        found = [command for command in shown if command["name"] == name]
        if not found:
            raise LookupError(f"{by.name} is shown no {name!r} but {[command['name'] for command in shown]}")
        return found[0]

    def command_data(self, by: User, channel: Channel, command: str, options: Options, focused: str = "") -> Json:
        """Write what the app sends for a slash command. Raises LookupError, ValueError."""
        name, *path = command.removeprefix("/").split()
        declared = self.declared(by, channel, name, SLASH)
        told = _walked(declared, path, options, focused)
        data: Json = {"id": declared["id"], "name": declared["name"], "type": SLASH, "options": told}
        resolved = self._resolved_options(channel, options)
        return data | ({"resolved": resolved} if resolved else {}) | self._scope(declared)

    def _scope(self, declared: Json) -> Json:
        return {"guild_id": declared["guild_id"]} if "guild_id" in declared else {}

    def _resolved_options(self, channel: Channel, options: Options) -> Json:
        found: Json = {}
        for value in options.values():
            for kind, shape in self._shapes(channel, value):
                found.setdefault(kind, {})[str(value.id)] = shape
        return found

    def _shapes(self, channel: Channel, value: object) -> Iterator[tuple[str, Json]]:
        if isinstance(value, User):
            yield "users", user_shape(value)
            if channel.guild and value.id in channel.guild.members:
                member = member_shape(channel.guild.members[value.id], with_user=False)
                yield "members", member | {"permissions": permissions_text(channel, value)}
        elif isinstance(value, Role):
            yield "roles", role_shape(value)
        elif isinstance(value, Channel):
            yield "channels", channel_shape(value) | {"permissions": permissions_text(value, self.api.world.bot)}
        elif isinstance(value, File):
            yield "attachments", file_shape(value, self.api.cdn())


def _is_shown(command: Json, user: User, channel: Channel) -> bool:
    contexts = command["contexts"]
    if contexts is not None and (0 if channel.guild else 1) not in contexts:
        return False
    if channel.guild is None:
        return True
    if not channel.may(user, "use_application_commands"):
        return False
    needed = command["default_member_permissions"]
    allowed = channel.permissions(user)
    if allowed & bits(["administrator"]) or needed is None:
        return True
    return needed != "0" and allowed & int(needed) == int(needed)


def _names(command: Json, locale: str) -> Iterator[str]:
    name = (command.get("name_localizations") or {}).get(locale) or command["name"]
    inside = [option for option in command.get("options") or [] if option["type"] in (SUB, GROUP)]
    if not inside:
        yield name
    for option in inside:
        yield from (f"{name} {rest}" for rest in _names(option, locale))


def _paths(command: Json) -> Iterator[tuple[str, list[Json]]]:
    options = command.get("options") or []
    inside = [option for option in options if option["type"] in (SUB, GROUP)]
    if not inside:
        yield command["name"], options
    for option in inside:
        yield from ((f"{command['name']} {path}", below) for path, below in _paths(option))


def _walked(declared: Json, path: list[str], options: Options, focused: str) -> list[Json]:
    """Write the options below a command or one of its groups."""
    inside = declared.get("options") or []
    subs = [option for option in inside if option["type"] in (SUB, GROUP)]
    if not subs:
        if path:
            raise LookupError(f"{declared['name']!r} has no {path[0]!r}")
        return _filled(inside, options, focused)
    found = [option for option in subs if path and option["name"] == path[0]]
    if not found:
        raise LookupError(f"{declared['name']!r} takes one of {[option['name'] for option in subs]}")
    below = _walked(found[0], path[1:], options, focused)
    return [{"type": found[0]["type"], "name": found[0]["name"], "options": below}]


def _filled(declared: list[Json], options: Options, focused: str) -> list[Json]:
    known = {option["name"]: option for option in declared}
    for name in options:
        if name not in known:
            raise LookupError(f"there is no option {name!r} but {list(known)}")
    missing = [name for name, option in known.items() if option.get("required") and name not in options]
    if missing and not focused:
        raise ValueError(f"{missing[0]!r} must be given")
    return [_option(known[name], value, name == focused) for name, value in options.items()]


def _option(option: Json, value: Any, is_focused: bool) -> Json:
    body: Json = {"name": option["name"], "type": option["type"]}
    if is_focused:
        return body | {"value": str(value), "focused": True}
    _check_value(option, value)
    return body | {"value": value if isinstance(value, str | int | float) else str(value.id)}


def _check_value(option: Json, value: Any) -> None:
    kind, name = option["type"], option["name"]
    if not isinstance(value, _KINDS[kind]) or (isinstance(value, bool) and kind != YES_NO):
        raise ValueError(f"{name!r} takes something else than {value!r}")
    choices = [choice["value"] for choice in option.get("choices") or []]
    if choices and value not in choices:
        raise ValueError(f"{name!r} takes one of {choices}")
    size = len(str(value)) if kind == TEXT else value if kind in (INTEGER, NUMBER) else None
    least, most = ("min_length", "max_length") if kind == TEXT else ("min_value", "max_value")
    if size is not None and not option.get(least, size) <= size <= option.get(most, size):
        raise ValueError(f"{name!r} is out of its bounds")
