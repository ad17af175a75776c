"""How Discord writes people, guilds, channels and messages."""

from __future__ import annotations

from datetime import UTC, datetime

from adapters.discord.server.permissions import ALL
from adapters.discord.server.refusals import Json
from adapters.discord.server.world import (
    DM,
    FORUM,
    Channel,
    File,
    Guild,
    Member,
    Message,
    Role,
    User,
    World,
)


def moment(at: float) -> str:
    """Write a time."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")


def user_shape(user: User) -> Json:
    """Write somebody."""
    body: Json = {
        "id": str(user.id),
        "username": user.name,
        "discriminator": "0000" if user.is_bot else "0",
        "global_name": (user.display_name or None) if not user.is_bot else None,
        "avatar": None,
        "avatar_decoration_data": None,
        "public_flags": 0,
    }
    return body | ({"bot": True} if user.is_bot else {})


def member_shape(member: Member, with_user: bool = True) -> Json:
    """Write somebody in a guild."""
    body: Json = {
        "nick": member.nick or None,
        "avatar": None,
        "roles": [str(role.id) for role in member.roles],
        "joined_at": moment(member.joined_at),
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "flags": 0,
        "pending": False,
        "communication_disabled_until": None,
    }
    return body | ({"user": user_shape(member.user)} if with_user else {})


def role_shape(role: Role) -> Json:
    """Write a role."""
    body: Json = {
        "id": str(role.id),
        "name": role.name,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "icon": None,
        "unicode_emoji": None,
        "position": role.position,
        "permissions": str(role.permissions),
        "managed": role.bot is not None,
        "mentionable": role.is_mentionable,
        "flags": 0,
    }
    return body | ({"tags": {"bot_id": str(role.bot.id)}} if role.bot else {})


def guild_shape(guild: Guild) -> Json:
    """Write a guild as REST does."""
    nothing = dict.fromkeys(
        [
            "icon",
            "splash",
            "discovery_splash",
            "afk_channel_id",
            "application_id",
            "rules_channel_id",
            "public_updates_channel_id",
            "safety_alerts_channel_id",
            "vanity_url_code",
            "description",
            "banner",
            "widget_channel_id",
        ]
    )
    return nothing | {
        "id": str(guild.id),
        "name": guild.name,
        "owner_id": str(guild.owner.id),
        "afk_timeout": 300,
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "roles": [role_shape(role) for role in guild.roles.values()],
        "emojis": [],
        "stickers": [],
        "features": guild.features,
        "mfa_level": 0,
        "system_channel_id": str(guild.system_channel.id) if guild.system_channel else None,
        "system_channel_flags": 0,
        "max_members": 500_000,
        "premium_tier": 0,
        "premium_subscription_count": 0,
        "preferred_locale": guild.locale,
        "nsfw_level": 0,
        "premium_progress_bar_enabled": False,
    }


def guild_event(guild: Guild, world: World) -> Json:
    """Write a guild as GUILD_CREATE does; without presences only the bot is among its members."""
    seen = [channel for channel in guild.channels.values() if channel.may(world.bot, "view_channel")]
    own = guild.members[world.bot.id]
    return guild_shape(guild) | {
        "joined_at": moment(own.joined_at),
        "large": False,
        "unavailable": False,
        "member_count": len(guild.members),
        "members": [member_shape(own)],
        "channels": [channel_shape(channel) for channel in seen if not channel.is_thread],
        "threads": [
            channel_shape(channel, world.bot) for channel in seen if channel.is_thread and not channel.is_archived
        ],
        "voice_states": [],
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }


def channel_shape(channel: Channel, viewer: User | None = None) -> Json:
    """Write a channel; a thread says whether the viewer is in it."""
    body: Json = {"id": str(channel.id), "type": channel.type, "flags": 0}
    body["last_message_id"] = str(channel.last_message) if channel.last_message else None
    if channel.type == DM:
        assert channel.recipient is not None
        return body | {"recipients": [user_shape(channel.recipient)]}
    assert channel.guild is not None
    body |= {
        "guild_id": str(channel.guild.id),
        "name": channel.name,
        "parent_id": str(channel.parent.id) if channel.parent else None,
        "rate_limit_per_user": 0,
    }
    return body | (_thread_part(channel, viewer) if channel.is_thread else _place_part(channel))


def _place_part(channel: Channel) -> Json:
    assert channel.guild is not None
    body: Json = {
        "position": 0,
        "nsfw": False,
        "topic": None,
        "permission_overwrites": [
            {
                "id": str(number),
                "type": 0 if number in (channel.guild.roles) else 1,
                "deny": str(denied),
                "allow": str(granted),
            }
            for number, (denied, granted) in channel.overwrites.items()
        ],
    }
    forum = {"available_tags": channel.tags, "default_reaction_emoji": None, "default_sort_order": None}
    return body | (forum | {"default_forum_layout": 0} if channel.type == FORUM else {})


def _thread_part(channel: Channel, viewer: User | None) -> Json:
    assert channel.owner is not None
    count = len(channel.messages)
    body: Json = {
        "owner_id": str(channel.owner.id),
        "message_count": count,
        "member_count": len(channel.members),
        "total_message_sent": count,
        "thread_metadata": {
            "archived": channel.is_archived,
            "archive_timestamp": moment(channel.created_at),
            "auto_archive_duration": 1440,
            "locked": channel.is_locked,
            "create_timestamp": moment(channel.created_at),
        }
        | ({"invitable": True} if channel.type == 12 else {}),
    }
    if channel.parent is not None and channel.parent.type == FORUM:
        body["applied_tags"] = []
    joined = channel.members.get(viewer.id) if viewer else None
    return body | ({"member": thread_member(channel, viewer)} if viewer and joined is not None else {})


def thread_member(channel: Channel, user: User) -> Json:
    """Write that somebody is in a thread."""
    since = channel.members[user.id]
    return {"id": str(channel.id), "user_id": str(user.id), "join_timestamp": moment(since), "flags": 0}


def file_shape(file: File, cdn: str) -> Json:
    """Write a file in a message."""
    url = f"{cdn}/{file.path}?ex=7fffffff&is=0&hm=0&"
    body: Json = {"id": str(file.id), "filename": file.name, "size": file.size, "url": url, "proxy_url": url}
    if file.media_type:
        body["content_type"] = file.media_type
    if file.description:
        body["description"] = file.description
    if file.media_type.startswith("image/"):
        body |= {"width": 1, "height": 1}
    if file.seconds:
        body |= {"duration_secs": file.seconds, "waveform": "AAAA"}
    return body


def message_shape(message: Message, world: World, cdn: str, *, nested: bool = False) -> Json:
    """Write a message as REST does; what it refers to is written with it, as far as it is still there."""
    body: Json = {
        "id": str(message.id),
        "channel_id": str(message.channel.id),
        "author": user_shape(message.author),
        "content": message.text,
        "timestamp": moment(message.at),
        "edited_timestamp": moment(message.edited_at) if message.edited_at else None,
        "tts": False,
        "mention_everyone": message.mention_everyone,
        "mentions": [user_shape(user) for user in message.mentions],
        "mention_roles": [str(role.id) for role in message.mention_roles],
        "attachments": [file_shape(file, cdn) for file in message.files],
        "embeds": message.embeds,
        "pinned": False,
        "type": message.type,
        "flags": message.flags,
        "components": message.components,
        "sticker_items": message.stickers,
    }
    return body | _extras(message, world) | ({} if nested else _references(message, world, cdn))


def _extras(message: Message, world: World) -> Json:
    body: Json = {}
    if message.nonce is not None:
        body["nonce"] = message.nonce
    if message.author.is_webhook:
        body["webhook_id"] = str(message.author.id)
    if message.by_bot and message.interaction:
        number = str(world.bot.id)
        body |= {"application_id": number, "webhook_id": number, "interaction_metadata": message.interaction}
    if message.thread is not None:
        body["thread"] = channel_shape(message.thread, world.bot)
    if message.reactions:
        body["reactions"] = [
            {
                "emoji": {"id": None, "name": emoji},
                "count": len(users),
                "count_details": {"burst": 0, "normal": len(users)},
                "burst_colors": [],
                "me": world.bot in users,
                "me_burst": False,
            }
            for emoji, users in message.reactions.items()
        ]
    return body


def _references(message: Message, world: World, cdn: str) -> Json:
    told = message.reference
    if told is None:
        return {}
    reference: Json = {"type": told.type, "message_id": str(told.message), "channel_id": str(told.channel)}
    if told.guild:
        reference["guild_id"] = str(told.guild)
    body: Json = {"message_reference": reference}
    if told.type == 1:
        return body | {"message_snapshots": message.snapshots}
    channel = world.channels.get(told.channel)
    found = channel.by_id.get(told.message) if channel else None
    return body | {"referenced_message": message_shape(found, world, cdn, nested=True) if found else None}


def permissions_text(channel: Channel, user: User) -> str:
    """Write what somebody may do in a channel."""
    return str(channel.permissions(user) & ALL)
