"""The calls that show something in a channel."""

from __future__ import annotations

from typing import Any

from adapters.discord.server.api import Api, Route
from adapters.discord.server.content import Content, content_of, fill
from adapters.discord.server.journal import Call
from adapters.discord.server.refusals import Json, Refusal, bad_length, form, missing_permissions
from adapters.discord.server.shapes import channel_shape
from adapters.discord.server.world import EPHEMERAL, LOADING, Channel, Message, Reference

NONCE_LIFETIME = 300.0
MOST_NONCE = 25


def create_message(api: Api, call: Call) -> Json:
    """Show a message."""
    channel, body = writable(api, call), call.fields()
    if same := _same_nonce(api, channel, body):
        return api.shape(same)
    return api.shape(post(api, channel, call, body))


def writable(api: Api, call: Call) -> Channel:
    """Find the channel that a call writes to. Raises Refusal when the bot may not write there."""
    channel = api.channel(call)
    if channel.type not in (0, 1, 2, 5, 10, 11, 12):
        raise Refusal(400, 50008, "Cannot send messages in a non-text channel")
    if channel.recipient is not None and not channel.recipient.has_open_dms:
        raise Refusal(403, 50007, "Cannot send messages to this user")
    if channel.is_thread and channel.is_locked:
        raise Refusal(400, 50083, "Thread is archived")
    need = "send_messages_in_threads" if channel.is_thread else "send_messages"
    if not channel.may(api.world.bot, need) or (call.files and not channel.may(api.world.bot, "attach_files")):
        raise missing_permissions()
    return channel


def post(api: Api, channel: Channel, call: Call, body: Json) -> Message:
    """Write a message of the bot. Raises Refusal."""
    return api.tell(api.world.write(drafted(api, channel, call, body)))


def drafted(api: Api, channel: Channel, call: Call, body: Json) -> Message:
    """Make a message of the bot that nobody sees yet. Raises Refusal."""
    content = content_of(call, body)
    bot, world = api.world.bot, api.world
    message = Message(channel, world.snowflake(), bot, world.clock(), by_bot=True, nonce=_nonce(body))
    message.reference = _reference(api, channel, body)
    message.type = 19 if message.reply_to else 0
    if (content.flags or 0) & EPHEMERAL:
        content.flags = (content.flags or 0) & ~EPHEMERAL
    fill(message, content, world)
    return message


def _nonce(body: Json) -> str | int | None:
    nonce: str | int | None = body.get("nonce")
    if nonce is not None and len(str(nonce)) > MOST_NONCE:
        raise bad_length("nonce", 0, MOST_NONCE)
    return nonce


def _same_nonce(api: Api, channel: Channel, body: Json) -> Message | None:
    """Find what was sent with the same nonce in the last minutes."""
    nonce = _nonce(body)
    if nonce is None or not body.get("enforce_nonce"):
        return None
    since = api.world.clock() - NONCE_LIFETIME
    return next((one for one in channel.from_bot if str(one.nonce) == str(nonce) and one.at > since), None)


def _reference(api: Api, channel: Channel, body: Json) -> Reference | None:
    given = body.get("message_reference")
    if not given:
        return None
    if not isinstance(given, dict) or not str(given.get("message_id", "")).isdecimal():
        raise form("message_reference.message_id", "BASE_TYPE_REQUIRED", "This field is required")
    if int(given.get("channel_id") or channel.id) != channel.id:
        raise form(
            "message_reference",
            "REPLIES_CANNOT_REFERENCE_OTHER_CHANNEL",
            "Cannot reply to a message in a different channel",
        )
    replied = channel.by_id.get(int(given["message_id"]))
    if replied is None or replied.seen_by is not None:
        if given.get("fail_if_not_exists", True):
            raise form("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
        return None
    if replied.type not in (0, 19, 20, 23):
        raise form("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", "Cannot reply to a system message")
    if not channel.may(api.world.bot, "read_message_history"):
        raise Refusal(403, 160002, "Cannot reply without permission to read message history")
    return Reference(channel.id, replied.id, channel.guild.id if channel.guild else None)


def get_message(api: Api, call: Call) -> Json:
    """Give one message."""
    return api.shape(api.message(call, api.channel(call)))


def history(api: Api, call: Call) -> list[Json]:
    """Give messages, the newest first; after an id, those that came next."""
    channel, query = api.channel(call), call.query
    if not channel.may(api.world.bot, "read_message_history"):
        return []
    limit = _limit(query.get("limit", "50"))
    messages = [message for message in channel.messages if message.seen_by is None]
    if after := query.get("after"):
        chosen = [message for message in messages if message.id > int(after)][:limit]
    elif around := query.get("around"):
        half = limit // 2
        before = [message for message in messages if message.id < int(around)][-half:]
        chosen = before + [message for message in messages if message.id >= int(around)][: limit - half]
    else:
        before_id = int(query.get("before", 1 << 63))
        chosen = [message for message in messages if message.id < before_id][-limit:]
    return [api.shape(message) for message in reversed(chosen)]


def _limit(text: str) -> int:
    limit = int(text) if text.isdecimal() else 0
    if not 1 <= limit <= 100:
        raise form("limit", "NUMBER_TYPE_MAX", "int value should be less than or equal to 100.")
    return limit


def edit_message(api: Api, call: Call) -> Json:
    """Put other content into the bot's own message."""
    message = api.message(call, api.channel(call))
    if not message.by_bot:
        raise Refusal(403, 50005, "Cannot edit a message authored by another user")
    if message.channel.is_thread and message.channel.is_archived:
        raise Refusal(400, 50083, "Thread is archived")
    return api.shape(change(api, message, content_of(call, call.fields(), message.flags)))


def change(api: Api, message: Message, content: Content) -> Message:
    """Put other content into a message, and let the bot know. Raises Refusal."""
    fill(message, content, api.world)
    was_loading = message.is_loading
    message.flags &= ~LOADING
    api.world.rewrite(message)
    if was_loading:
        message.edited_at = None
    return api.tell(message, "MESSAGE_UPDATE")


def delete_message(api: Api, call: Call) -> None:
    """Take a message away: the bot's own, or anybody's with the right to."""
    channel = api.channel(call)
    message = api.message(call, channel)
    if not message.by_bot and channel.is_private:
        raise Refusal(403, 50003, "Cannot execute action on a DM channel")
    if not message.by_bot and not channel.may(api.world.bot, "manage_messages"):
        raise missing_permissions()
    drop(api, message)


def drop(api: Api, message: Message) -> None:
    """Take a message away, and let the bot know."""
    api.world.remove(message)
    api.tell_gone(message)


def typing(api: Api, call: Call) -> None:
    """Show that the bot is typing."""
    channel = writable(api, call)
    api.world.typing.append((channel, api.world.clock()))
    api.world.changed.ring()


def add_reaction(api: Api, call: Call) -> None:
    """React to a message."""
    channel = api.channel(call, "read_message_history", "add_reactions")
    message = api.message(call, channel)
    users = message.reactions.setdefault(call.ids["emoji"], [])
    if api.world.bot not in users:
        users.append(api.world.bot)
    api.world.changed.ring()


def remove_reaction(api: Api, call: Call) -> None:
    """Take a reaction back."""
    message = api.message(call, api.channel(call))
    users = message.reactions.get(call.ids["emoji"], [])
    if api.world.bot not in users:
        raise Refusal(404, 10014, "Unknown Emoji")
    users.remove(api.world.bot)
    if not users:
        del message.reactions[call.ids["emoji"]]
    api.world.changed.ring()


def open_dm(api: Api, call: Call) -> Json:
    """Open somebody's direct messages."""

    number: Any = call.fields().get("recipient_id")
    user = api.world.users.get(int(number)) if str(number).isdecimal() else None
    if user is None or user.is_webhook:
        raise form("recipient_id", "USER_ID_INVALID", "Unknown User")
    if user.is_bot:
        raise Refusal(400, 50007, "Cannot send messages to this user")
    return channel_shape(api.world.private(user))


_PLACE = "/channels/{channel}/messages"
ROUTES = [
    Route("create_message", "POST", _PLACE, create_message),
    Route("history", "GET", _PLACE, history),
    Route("get_message", "GET", _PLACE + "/{message}", get_message),
    Route("edit_message", "PATCH", _PLACE + "/{message}", edit_message),
    Route("delete_message", "DELETE", _PLACE + "/{message}", delete_message),
    Route("typing", "POST", "/channels/{channel}/typing", typing),
    Route("add_reaction", "PUT", _PLACE + "/{message}/reactions/{emoji}/@me", add_reaction),
    Route("remove_reaction", "DELETE", _PLACE + "/{message}/reactions/{emoji}/@me", remove_reaction),
    Route("open_dm", "POST", "/users/@me/channels", open_dm),
]
