"""What a test or the terminal lets people use: commands, buttons, selects and forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.discord.server.menus import Menus
from adapters.discord.server.refusals import Json
from adapters.discord.server.sessions import Event
from adapters.discord.server.shapes import channel_shape, member_shape, message_shape, permissions_text, user_shape
from adapters.discord.server.talk import Talk
from adapters.discord.server.using import AUTOCOMPLETE, COMMAND, COMPONENT, MODAL, Using
from adapters.discord.server.world import Channel, Message, User


class Clicks(Talk, Menus):
    """People using what the bot offers. Each use can be waited for with `answered`."""

    def use(self, by: User, place: Channel | User, command: str, **options: Any) -> Using:
        """Use a slash command, named with its group and subcommand: `memory view`.

        Options are given by name: words, numbers, people, roles, channels or files. Raises LookupError when the person
        is not shown such a command, ValueError when their app would not send it so.
        """
        channel = self.channel(place)
        data = self.command_data(by, channel, command, options)
        return self._start(COMMAND, by, channel, data, name=command)

    def complete(self, by: User, place: Channel | User, command: str, option: str, typed: str = "") -> Using:
        """Type in an option that proposes what to choose."""
        channel = self.channel(place)
        data = self.command_data(by, channel, command, {option: typed}, focused=option)
        return self._start(AUTOCOMPLETE, by, channel, data, name=command)

    def use_on(self, by: User, target: Message | User, command: str, place: Channel | None = None) -> Using:
        """Use a command from the menu of a message or a person."""
        is_message = isinstance(target, Message)
        channel = target.channel if isinstance(target, Message) else place or self.private(by)
        declared = self.declared(by, channel, command, 3 if is_message else 2)
        data = {"id": declared["id"], "name": declared["name"], "type": declared["type"], "target_id": str(target.id)}
        data |= {"resolved": self._resolved(target)} | self._scope(declared)
        return self._start(COMMAND, by, channel, data, name=command)

    def _resolved(self, target: Message | User) -> Json:
        if isinstance(target, User):
            return {"users": {str(target.id): user_shape(target)}}
        return {"messages": {str(target.id): message_shape(target, self.api.world, self.api.cdn())}}

    def press(self, by: User, message: Message, button: str) -> Using:
        """Press a button, named by its label or its custom id. Raises LookupError."""
        self._check_seen(by, message)
        found = [one for one in message.buttons if button in (one.get("label"), one.get("custom_id"))]
        if not found:
            raise LookupError(f"there is no button {button!r} in {[one.get('label') for one in message.buttons]}")
        if found[0].get("disabled") or "custom_id" not in found[0]:
            raise ValueError(f"{button!r} can't be pressed")
        return self.press_id(by, message, found[0]["custom_id"], found[0].get("id", 1))

    def press_id(self, by: User, message: Message, custom_id: str, number: int = 1) -> Using:
        """Press a button that may be gone by now."""
        data = {"custom_id": custom_id, "component_type": 2, "id": number}
        return self._start(COMPONENT, by, message.channel, data, message)

    def choose(self, by: User, message: Message, *values: str, select: str = "") -> Using:
        """Choose in a select, by the labels or values of its options. Raises LookupError, ValueError."""
        self._check_seen(by, message)
        found = [one for one in message.selects if select in ("", one["custom_id"], one.get("placeholder"))]
        if not found or found[0].get("disabled"):
            raise LookupError(f"there is no select {select!r} to choose from")
        if not found[0].get("min_values", 1) <= len(values) <= found[0].get("max_values", 1):
            raise ValueError("so many can't be chosen")
        chosen = [_value(found[0], value) for value in values]
        data: Json = {"custom_id": found[0]["custom_id"], "component_type": found[0]["type"], "values": chosen}
        return self._start(COMPONENT, by, message.channel, data | {"id": found[0].get("id", 1)}, message)

    def _check_seen(self, by: User, message: Message) -> None:
        if message.seen_by not in (None, by) or message.id not in message.channel.by_id:
            raise LookupError(f"{by.name} does not see this message")

    def submit(self, opened: Using, answers: Mapping[str, str | Sequence[str]] | None = None) -> Using:
        """Send a form off; answers are by the labels or custom ids of its fields, what isn't given stays as it was.

        Raises LookupError for a field that isn't there, ValueError for what their app would not send.
        """
        if opened.modal is None:
            raise LookupError("no form was opened")
        left = dict(answers or {})
        parts = [_filled(part, left) for part in opened.modal["components"]]
        if left:
            raise LookupError(f"there is no field {next(iter(left))!r}")
        data: Json = {"custom_id": opened.modal["custom_id"], "components": parts}
        return self._start(MODAL, opened.user, opened.channel, data, opened.message, came_from=opened)

    def _start(
        self,
        kind: int,
        by: User,
        channel: Channel,
        data: Json,
        message: Message | None = None,
        name: str = "",
        came_from: Using | None = None,
    ) -> Using:
        number = self.api.world.snowflake()
        using = Using(number, f"aW50ZXJhY3Rpb246{number}", kind, by, channel, self.api.world.clock(), data, message)
        using.name, using.came_from = name, came_from
        self.api.uses[using.token] = using
        self.api.gateway.put(
            Event("INTERACTION_CREATE", self._event(using), channel.guild.id if channel.guild else None)
        )
        return using

    def _event(self, using: Using) -> Json:
        bot, channel = self.api.world.bot, using.channel
        place = channel_shape(channel) | (
            {"permissions": permissions_text(channel, using.user)} if channel.guild else {}
        )
        body: Json = {
            "id": str(using.id),
            "application_id": str(bot.id),
            "type": using.type,
            "data": using.data,
            "token": using.token,
            "version": 1,
            "channel_id": str(channel.id),
            "channel": place,
            "app_permissions": permissions_text(channel, bot),
            "locale": using.user.locale,
            "entitlements": [],
            "attachment_size_limit": 10 * 2**20,
        }
        if using.message is not None:
            body["message"] = message_shape(using.message, self.api.world, self.api.cdn())
        return body | self._where(using)

    def _where(self, using: Using) -> Json:
        guild = using.channel.guild
        if guild is None:
            owners = {"0": "0"}
            return {"user": user_shape(using.user), "context": 1, "authorizing_integration_owners": owners}
        member = member_shape(guild.members[using.user.id])
        return {
            "guild_id": str(guild.id),
            "guild": {"id": str(guild.id), "locale": guild.locale, "features": guild.features},
            "guild_locale": guild.locale,
            "member": member | {"permissions": permissions_text(using.channel, using.user)},
            "context": 0,
            "authorizing_integration_owners": {"0": str(guild.id)},
        }


def _value(select: Json, wanted: str) -> str:
    if select["type"] != 3:
        return wanted
    for option in select["options"]:
        if wanted in (option["label"], option["value"]):
            return str(option["value"])
    raise LookupError(f"there is no {wanted!r} in {[option['label'] for option in select['options']]}")


def _filled(part: Json, left: dict[str, str | Sequence[str]]) -> Json:
    if part["type"] == 1:
        inside = [_field(one, one.get("label", ""), left) for one in part["components"]]
        return {"type": 1, "id": part["id"], "components": inside}
    if part["type"] == 18:
        return {"type": 18, "id": part["id"], "component": _field(part["component"], part["label"], left)}
    return {"type": part["type"], "id": part["id"]}


def _field(one: Json, label: str, left: dict[str, str | Sequence[str]]) -> Json:
    given = left.pop(one["custom_id"], None)
    given = left.pop(label, None) if given is None else given
    body: Json = {"type": one["type"], "id": one["id"], "custom_id": one["custom_id"]}
    if one["type"] != 4:
        values = [given] if isinstance(given, str) else list(given or [])
        return body | {"values": [_value(one, value) for value in values]}
    text = one.get("value") or "" if given is None else str(given)
    least, most = one.get("min_length") or 0, one.get("max_length") or 4000
    if len(text) > most or ((text or one.get("required", True)) and len(text) < max(least, 1)):
        raise ValueError(f"{label!r} takes from {least} to {most} characters")
    return body | {"value": text}
