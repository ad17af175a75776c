"""The calls that ask how the bot, its guilds and its channels are, and those on threads."""

from __future__ import annotations

from adapters.discord.server.api import Api, Route
from adapters.discord.server.intents import application_flags
from adapters.discord.server.journal import Call
from adapters.discord.server.refusals import Json, Refusal, bad_length, missing_permissions, required, unknown
from adapters.discord.server.sending import drafted
from adapters.discord.server.shapes import (
    channel_shape,
    guild_shape,
    member_shape,
    role_shape,
    thread_member,
    user_shape,
)
from adapters.discord.server.world import FORUM, HAS_THREAD, NEWS, NEWS_THREAD, PUBLIC_THREAD, Channel, Message, World


def get_me(api: Api, _: Call) -> Json:
    """Tell who the bot is."""
    more = {"verified": True, "mfa_enabled": True, "email": None, "flags": 0, "locale": "en-US", "banner": None}
    return user_shape(api.world.bot) | more


def get_application(api: Api, _: Call) -> Json:
    """Tell what the developer portal says."""
    owner = next((user for user in api.world.users.values() if not user.is_bot), api.world.bot)
    return {
        "id": str(api.world.bot.id),
        "name": api.world.bot.name,
        "icon": None,
        "description": "",
        "summary": "",
        "type": None,
        "bot": user_shape(api.world.bot),
        "bot_public": True,
        "bot_require_code_grant": False,
        "verify_key": "0" * 64,
        "flags": application_flags(api.gateway.switched_on),
        "owner": user_shape(owner),
        "team": None,
        "interactions_endpoint_url": None,
        "role_connections_verification_url": None,
        "redirect_uris": [],
        "integration_types_config": {"0": {}},
        "approximate_guild_count": len(api.world.guilds),
        "approximate_user_install_count": 0,
    }


def get_gateway(api: Api, _: Call) -> Json:
    """Tell where the gateway is."""
    return {"url": api.gateway.address()}


def get_gateway_bot(api: Api, call: Call) -> Json:
    """Tell where the gateway is, and how many shards to open."""
    limit = {"total": 1000, "remaining": 999, "reset_after": 14_400_000, "max_concurrency": 1}
    return get_gateway(api, call) | {"shards": api.gateway.shards, "session_start_limit": limit}


def get_user(api: Api, call: Call) -> Json:
    """Tell who somebody is."""
    user = api.world.users.get(call.number("user") or 0)
    if user is None or user.is_webhook:
        raise unknown("User", 10013)
    return user_shape(user)


def get_guild(api: Api, call: Call) -> Json:
    """Tell of a guild."""
    return guild_shape(api.guild(call))


def get_guilds(api: Api, _: Call) -> list[Json]:
    """Tell which guilds the bot is in."""
    bot = api.world.bot
    return [
        {
            "id": str(guild.id),
            "name": guild.name,
            "icon": None,
            "banner": None,
            "owner": False,
            "permissions": str(guild.permissions(bot)),
            "features": guild.features,
        }
        for guild in api.world.guilds.values()
        if bot.id in guild.members
    ]


def get_member(api: Api, call: Call) -> Json:
    """Tell of somebody in a guild."""
    member = api.guild(call).members.get(call.number("user") or 0)
    if member is None:
        raise unknown("Member", 10007)
    return member_shape(member)


def get_roles(api: Api, call: Call) -> list[Json]:
    """Tell of a guild's roles."""
    return [role_shape(role) for role in api.guild(call).roles.values()]


def get_channels(api: Api, call: Call) -> list[Json]:
    """Tell of a guild's channels, without threads."""
    return [channel_shape(channel) for channel in api.guild(call).channels.values() if not channel.is_thread]


def get_active_threads(api: Api, call: Call) -> Json:
    """Tell of a guild's threads that are not archived."""
    seen = [one for one in api.guild(call).channels.values() if one.is_thread and not one.is_archived]
    mine = [one for one in seen if one.may(api.world.bot, "view_channel")]
    members = [thread_member(one, api.world.bot) for one in mine if api.world.bot.id in one.members]
    return {"threads": [channel_shape(one) for one in mine], "members": members}


def get_channel(api: Api, call: Call) -> Json:
    """Tell of a channel."""
    return channel_shape(api.channel(call), api.world.bot)


def edit_channel(api: Api, call: Call) -> Json:
    """Rename a thread, or archive or lock it."""
    channel, body = api.channel(call), call.fields()
    may_change = channel.owner is api.world.bot or channel.may(api.world.bot, "manage_threads")
    if not channel.is_thread or not may_change:
        raise missing_permissions()
    channel.name = body.get("name") or channel.name
    channel.is_archived = bool(body.get("archived", channel.is_archived))
    channel.is_locked = bool(body.get("locked", channel.is_locked))
    api.tell_channel(channel, "THREAD_UPDATE")
    api.world.changed.ring()
    return channel_shape(channel, api.world.bot)


def start_thread(api: Api, call: Call) -> Json:
    """Open a thread in a channel, or a post in a forum."""
    parent, body = api.channel(call), call.fields()
    if parent.type not in (0, NEWS, FORUM):
        raise Refusal(400, 50024, "Cannot execute action on this channel type")
    if parent.type != FORUM:
        _check_may(api, parent, "create_public_threads")
        kind = int(body.get("type") or PUBLIC_THREAD)
        return channel_shape(opened(api, parent, _name(body), kind), api.world.bot)
    _check_may(api, parent, "send_messages")
    if not isinstance(body.get("message"), dict):
        raise required("message")
    return _post(api, parent, call, body)


def _post(api: Api, forum: Channel, call: Call, body: Json) -> Json:
    thread = _thread(api.world, forum, _name(body), PUBLIC_THREAD)
    message = drafted(api, thread, call, body["message"])
    thread.id = message.id
    api.world.add_channel(thread)
    api.tell_channel(thread, "THREAD_CREATE", newly_created=True)
    api.tell(api.world.write(message))
    return channel_shape(thread, api.world.bot) | {"message": api.shape(message)}


def start_thread_from(api: Api, call: Call) -> Json:
    """Open a thread from a message; it gets the message's id."""
    parent = api.channel(call)
    _check_may(api, parent, "create_public_threads")
    message = api.message(call, parent)
    if message.thread is not None:
        raise Refusal(400, 160004, "A thread has already been created for this message")
    if parent.is_thread or parent.is_private:
        raise Refusal(400, 50024, "Cannot execute action on this channel type")
    thread = opened(api, parent, _name(call.fields()), PUBLIC_THREAD, message)
    return channel_shape(thread, api.world.bot)


def opened(api: Api, parent: Channel, name: str, kind: int = PUBLIC_THREAD, of: Message | None = None) -> Channel:
    """Open a thread of the bot's, perhaps from a message, and let the bot know."""
    kind = NEWS_THREAD if parent.type == NEWS else kind
    thread = api.world.add_channel(_thread(api.world, parent, name, kind, of.id if of else 0))
    if of is not None:
        of.thread, of.flags = thread, of.flags | HAS_THREAD
        api.tell(of, "MESSAGE_UPDATE")
    api.tell_channel(thread, "THREAD_CREATE", newly_created=True)
    api.world.changed.ring()
    return thread


def _thread(world: World, parent: Channel, name: str, kind: int, number: int = 0) -> Channel:
    thread = Channel(number or world.snowflake(), kind, name, parent.guild, parent=parent, owner=world.bot)
    thread.created_at = thread.members[world.bot.id] = world.clock()
    return thread


def _check_may(api: Api, channel: Channel, *names: str) -> None:
    if not channel.may(api.world.bot, *names):
        raise missing_permissions()


def _name(body: Json) -> str:
    name = body.get("name")
    if not name:
        raise required("name")
    if len(name) > 100:
        raise bad_length("name", 1, 100)
    return str(name)


def join_thread(api: Api, call: Call) -> None:
    """Let the bot into a thread."""
    thread = api.channel(call)
    if not thread.is_thread:
        raise Refusal(400, 50024, "Cannot execute action on this channel type")
    thread.members.setdefault(api.world.bot.id, api.world.clock())
    api.world.changed.ring()


def leave_thread(api: Api, call: Call) -> None:
    """Let the bot out of a thread."""
    api.channel(call).members.pop(api.world.bot.id, None)
    api.world.changed.ring()


def leave_guild(api: Api, call: Call) -> None:
    """Let the bot out of a guild."""
    guild = api.guild(call)
    del guild.members[api.world.bot.id]
    api.world.changed.ring()


ROUTES = [
    Route("get_me", "GET", "/users/@me", get_me),
    Route("get_guilds", "GET", "/users/@me/guilds", get_guilds),
    Route("leave_guild", "DELETE", "/users/@me/guilds/{guild}", leave_guild),
    Route("get_user", "GET", "/users/{user}", get_user),
    Route("get_application", "GET", "/oauth2/applications/@me", get_application),
    Route("get_application", "GET", "/applications/@me", get_application),
    Route("get_gateway", "GET", "/gateway", get_gateway, is_open=True),
    Route("get_gateway_bot", "GET", "/gateway/bot", get_gateway_bot),
    Route("get_guild", "GET", "/guilds/{guild}", get_guild),
    Route("get_member", "GET", "/guilds/{guild}/members/{user}", get_member),
    Route("get_roles", "GET", "/guilds/{guild}/roles", get_roles),
    Route("get_channels", "GET", "/guilds/{guild}/channels", get_channels),
    Route("get_active_threads", "GET", "/guilds/{guild}/threads/active", get_active_threads),
    Route("get_channel", "GET", "/channels/{channel}", get_channel),
    Route("edit_channel", "PATCH", "/channels/{channel}", edit_channel),
    Route("start_thread", "POST", "/channels/{channel}/threads", start_thread),
    Route("start_thread_from", "POST", "/channels/{channel}/messages/{message}/threads", start_thread_from),
    Route("join_thread", "PUT", "/channels/{channel}/thread-members/@me", join_thread),
    Route("leave_thread", "DELETE", "/channels/{channel}/thread-members/@me", leave_thread),
]
