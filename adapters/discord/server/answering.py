"""The calls that answer a command, a button, a select or a form."""

from __future__ import annotations

from adapters.discord.server.api import Api, Route
from adapters.discord.server.components import check_modal
from adapters.discord.server.content import content_of, fill
from adapters.discord.server.journal import Call
from adapters.discord.server.refusals import Json, Refusal, bad_choice, bad_length, unknown
from adapters.discord.server.sending import change, drop
from adapters.discord.server.shapes import user_shape
from adapters.discord.server.using import AUTOCOMPLETE, COMMAND, COMPONENT, MODAL, Using
from adapters.discord.server.world import EPHEMERAL, LOADING, Message, Reference

SAY, DEFER, DEFER_UPDATE, UPDATE, CHOICES, FORM = 4, 5, 6, 7, 8, 9
_FITTING = {
    COMMAND: (SAY, DEFER, FORM),
    COMPONENT: (SAY, DEFER, DEFER_UPDATE, UPDATE, FORM),
    AUTOCOMPLETE: (CHOICES,),
    MODAL: (SAY, DEFER, DEFER_UPDATE, UPDATE),
}


def respond(api: Api, call: Call) -> Json | None:
    """Take the first response: once, and within three seconds."""
    using, body = _use(api, call), call.fields()
    if using.is_late(api.world.clock()):
        raise unknown("interaction", 10062)
    if using.answer is not None:
        raise Refusal(400, 40060, "Interaction has already been acknowledged.")
    kind, data = body.get("type"), body.get("data") or {}
    if not isinstance(kind, int) or kind not in _FITTING[using.type] or _lacks_message(using, kind):
        raise bad_choice("type", ", ".join(map(str, _FITTING[using.type])))
    _take(api, call, using, kind, data)
    using.answer, using.is_done = kind, kind not in (DEFER, DEFER_UPDATE)  # which show nothing yet
    api.world.changed.ring()
    return _told(api, using, kind) if call.query.get("with_response") in ("1", "true") else None


def _use(api: Api, call: Call) -> Using:
    using = api.uses.get(call.ids["token"])
    if using is None or using.id != call.number("interaction"):
        raise unknown("interaction", 10062)
    return using


def _lacks_message(using: Using, kind: int) -> bool:
    """Tell whether it would change the message that the button is under, where there is none."""
    return kind in (DEFER_UPDATE, UPDATE) and using.message is None


def _take(api: Api, call: Call, using: Using, kind: int, data: Json) -> None:
    if kind == SAY:
        using.response = _say(api, call, using, data)
    elif kind == DEFER:
        using.response = _think(api, using, int(data.get("flags") or 0))
    elif kind == DEFER_UPDATE:
        using.response = using.message
    elif kind == UPDATE:
        assert using.message is not None
        using.response = change(api, using.message, content_of(call, data, using.message.flags))
    elif kind == CHOICES:
        using.choices = _choices(data)
    elif kind == FORM:
        using.modal = check_modal(data)


def _choices(data: Json) -> list[Json]:
    choices: list[Json] = data.get("choices") or []
    if len(choices) > 25:
        raise bad_length("data.choices", 0, 25)
    for index, choice in enumerate(choices):
        if not 1 <= len(str(choice.get("name", ""))) <= 100:
            raise bad_length(f"data.choices.{index}.name", 1, 100)
    return choices


def _new(api: Api, using: Using, flags: int) -> Message:
    world = api.world
    message = Message(using.channel, world.snowflake(), world.bot, world.clock(), by_bot=True)
    message.flags = flags
    message.seen_by = using.user if flags & EPHEMERAL else None
    message.interaction = _metadata(using)
    message.type = {COMMAND: 23 if "target_id" in using.data else 20, COMPONENT: 19}.get(using.type, 20)
    if using.message is not None and using.type == COMPONENT:
        guild = using.channel.guild
        message.reference = Reference(using.channel.id, using.message.id, guild.id if guild else None)
    return message


def _metadata(using: Using) -> Json:
    kind = using.type
    body: Json = {
        "id": str(using.id),
        "type": kind,
        "user": user_shape(using.user),
        "authorizing_integration_owners": {"0": str(using.channel.guild.id) if using.channel.guild else "0"},
    }
    if kind == COMMAND:
        body["name"] = using.name
    if kind == COMPONENT and using.message is not None:
        body["interacted_message_id"] = str(using.message.id)
    if kind == MODAL and using.came_from is not None:
        body["triggering_interaction_metadata"] = _metadata(using.came_from)
    return body


def _say(api: Api, call: Call, using: Using, data: Json) -> Message:
    content = content_of(call, data)
    message = _new(api, using, (content.flags or 0) & EPHEMERAL)
    fill(message, content, api.world)
    return _shown(using, api.tell(api.world.write(message)))


def _think(api: Api, using: Using, flags: int) -> Message:
    return api.tell(api.world.write(_new(api, using, flags & EPHEMERAL | LOADING)))


def _told(api: Api, using: Using, kind: int) -> Json:
    about: Json = {"id": str(using.id), "type": using.type}
    resource: Json = {"type": kind}
    if using.response is not None and kind != DEFER_UPDATE:
        about |= {
            "response_message_id": str(using.response.id),
            "response_message_loading": using.response.is_loading,
            "response_message_ephemeral": using.response.is_ephemeral,
            "channel_id": str(using.channel.id),
        }
        resource["message"] = api.shape(using.response)
    if using.channel.guild:
        about["guild_id"] = str(using.channel.guild.id)
    return {"interaction": about, "resource": resource}


def _webhook(api: Api, call: Call) -> Using:
    """Find the use whose token a call brings, answered and not over. Raises Refusal."""
    using = api.uses.get(call.ids["token"])
    if call.number("webhook") != api.world.bot.id or using is None:
        raise unknown("Webhook", 10015)
    if using.is_over(api.world.clock()):
        raise Refusal(401, 50027, "Invalid Webhook Token")
    if using.answer is None:
        raise unknown("Webhook", 10015)
    return using


def followup(api: Api, call: Call) -> Json:
    """Say more; the first thing said after a deferral takes its place."""
    using = _webhook(api, call)
    content = content_of(call, call.fields())
    if using.response is not None and using.response.is_loading:
        if using.response.id not in using.channel.by_id:
            raise unknown("Message", 10008)
        change(api, using.response, content)
        return api.shape(_shown(using, using.response))
    message = _new(api, using, (content.flags or 0) & EPHEMERAL)
    if using.response is not None and using.type != COMPONENT:
        guild = using.channel.guild
        message.type = 19
        message.reference = Reference(using.channel.id, using.response.id, guild.id if guild else None)
    fill(message, content, api.world)
    return api.shape(_shown(using, api.tell(api.world.write(message))))


def _shown(using: Using, message: Message) -> Message:
    using.is_done = True
    if message is not using.message and message not in using.messages:
        using.messages.append(message)
    return message


def _answer(api: Api, call: Call) -> Message:
    """Find the message that a call on a use is about. Raises Refusal."""
    using, name = _webhook(api, call), call.ids["message"]
    mine = [*using.messages, *([using.response] if using.response else [])]
    message = using.response if name == "@original" else next((one for one in mine if str(one.id) == name), None)
    if message is None or message.id not in using.channel.by_id:
        raise unknown("Message", 10008)
    return message


def get_response(api: Api, call: Call) -> Json:
    """Give what was answered."""
    return api.shape(_answer(api, call))


def edit_response(api: Api, call: Call) -> Json:
    """Put other content into what was answered."""
    message, using = _answer(api, call), api.uses[call.ids["token"]]
    change(api, message, content_of(call, call.fields(), message.flags))
    return api.shape(_shown(using, message))


def delete_response(api: Api, call: Call) -> None:
    """Take what was answered away."""
    drop(api, _answer(api, call))


_ANSWER = "/webhooks/{webhook}/{token}/messages/{message}"
ROUTES = [
    Route("respond", "POST", "/interactions/{interaction}/{token}/callback", respond, is_open=True),
    Route("followup", "POST", "/webhooks/{webhook}/{token}", followup, is_open=True),
    Route("get_response", "GET", _ANSWER, get_response, is_open=True),
    Route("edit_response", "PATCH", _ANSWER, edit_response, is_open=True),
    Route("delete_response", "DELETE", _ANSWER, delete_response, is_open=True),
]
