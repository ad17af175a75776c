"""What Discord checks in a message that a bot sends, and whom it pings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from adapters.discord.server.components import check_components
from adapters.discord.server.journal import Call, Upload
from adapters.discord.server.refusals import Json, Refusal, form, too_long
from adapters.discord.server.world import (
    COMPONENTS_V2,
    EPHEMERAL,
    SILENT,
    SUPPRESS_EMBEDS,
    VOICE_NOTE,
    Channel,
    File,
    Message,
    Role,
    User,
    World,
)

MOST_TEXT, MOST_FILES, MOST_UPLOAD, MOST_EMBEDS, MOST_EMBEDDED = 2000, 10, 10 * 2**20, 10, 6000
SETTABLE = SUPPRESS_EMBEDS | EPHEMERAL | SILENT | VOICE_NOTE | COMPONENTS_V2
_USER, _ROLE = re.compile(r"<@!?(\d+)>"), re.compile(r"<@&(\d+)>")
_EVERYONE = re.compile(r"@(everyone|here)\b")
_EMBED_LIMITS = {"title": 256, "description": 4096}


@dataclass(slots=True)
class Content:
    """What a call wants a message to hold; None leaves that as it was."""

    text: str | None = None
    embeds: list[Json] | None = None
    components: list[Json] | None = None
    kept: list[int] | None = None
    uploads: list[Upload] = field(default_factory=list)
    descriptions: list[str] = field(default_factory=list)
    flags: int | None = None
    allowed: Json | None = None


def content_of(call: Call, body: Json, old_flags: int = 0) -> Content:
    """Read what a message is to hold. Raises Refusal where Discord refuses."""
    content = Content()
    if "flags" in body and body["flags"] is not None:
        content.flags = int(body["flags"]) & SETTABLE
    newer = bool(((content.flags or 0) | old_flags) & COMPONENTS_V2)
    if "content" in body:
        content.text = _text(body["content"], newer)
    if "embeds" in body:
        content.embeds = _embeds(body["embeds"] or [])
    if "components" in body:
        content.components = check_components(body["components"] or [], newer=newer)
    _read_files(content, call, body)
    if "allowed_mentions" in body:
        content.allowed = _allowed(body["allowed_mentions"])
    return content


def _text(value: object, newer: bool) -> str:
    text = "" if value is None else str(value)
    if len(text) > MOST_TEXT:  # in code points; beyond twice as much it names the limit of those who pay
        raise too_long("content", MOST_TEXT if len(text) <= 2 * MOST_TEXT else 2 * MOST_TEXT)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Refusal(400, 50109, "The request body contains invalid JSON.") from None
    if newer and text:
        raise form(
            "content",
            "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
            "The 'content' field cannot be used when using MessageFlags.IS_COMPONENTS_V2",
        )
    return text.strip()


def _embeds(embeds: list[Json]) -> list[Json]:
    if len(embeds) > MOST_EMBEDS:
        raise too_long("embeds", MOST_EMBEDS)
    for index, embed in enumerate(embeds):
        _check_embed(embed, f"embeds.{index}")
    if sum(len(text) for embed in embeds for text in _embedded(embed)) > MOST_EMBEDDED:
        raise form("embeds", "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {MOST_EMBEDDED}")
    return [{"type": "rich", **embed} for embed in embeds]


def _check_embed(embed: Json, path: str) -> None:
    for name, most in _EMBED_LIMITS.items():
        if len(embed.get(name) or "") > most:
            raise too_long(f"{path}.{name}", most)
    if len(embed.get("fields") or []) > 25:
        raise too_long(f"{path}.fields", 25)
    for index, one in enumerate(embed.get("fields") or []):
        for name, most in (("name", 256), ("value", 1024)):
            if not one.get(name):
                raise form(f"{path}.fields.{index}.{name}", "BASE_TYPE_REQUIRED", "This field is required")
            if len(one[name]) > most:
                raise too_long(f"{path}.fields.{index}.{name}", most)


def _embedded(embed: Json) -> Iterable[str]:
    yield from (embed.get(name) or "" for name in _EMBED_LIMITS)
    yield (embed.get("footer") or {}).get("text", "")
    yield (embed.get("author") or {}).get("name", "")
    for one in embed.get("fields") or []:
        yield from (one["name"], one["value"])


def _read_files(content: Content, call: Call, body: Json) -> None:
    told = body.get("attachments")
    if len(call.files) > MOST_FILES or len(told or []) > MOST_FILES:
        raise too_long("attachments", MOST_FILES)
    if any(len(upload.data) > MOST_UPLOAD for upload in call.files.values()):
        raise Refusal(413, 40005, "Request entity too large")
    named = {int(one["id"]): one for one in told or []}
    if told is not None:
        content.kept = [number for number in named if number not in call.files]
    for number, upload in sorted(call.files.items()):
        about = named.get(number, {})
        content.uploads.append(Upload(about.get("filename") or upload.name, upload.media_type, upload.data))
        content.descriptions.append(about.get("description") or "")


def _allowed(given: object) -> Json | None:
    if given is None:
        return None
    if not isinstance(given, dict):
        raise form("allowed_mentions", "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType")
    parse = given.get("parse") or []
    if not set(parse) <= {"users", "roles", "everyone"}:
        raise form(
            "allowed_mentions.parse", "BASE_TYPE_CHOICES", "Value must be one of {'everyone', 'roles', 'users'}."
        )
    for name in ("users", "roles"):
        if len(given.get(name) or []) > 100:
            raise too_long(f"allowed_mentions.{name}", 100)
        if name in parse and given.get(name):
            raise form(
                "allowed_mentions",
                "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
                f'parse:["{name}"] and {name}: [ids...] are mutually exclusive.',
            )
    return given


def fill(message: Message, content: Content, world: World) -> None:
    """Put what a call wants into a message. Raises Refusal when it would be empty."""
    text = message.text if content.text is None else content.text
    embeds = message.embeds if content.embeds is None else content.embeds
    components = message.components if content.components is None else content.components
    files = [one for one in message.files if content.kept is None or one.id in content.kept]
    if not (text or embeds or files or content.uploads or components):
        raise Refusal(400, 50006, "Cannot send an empty message")
    message.text, message.embeds, message.components = text, embeds, components
    message.files = files + [
        _kept(world, message.channel, upload, description)
        for upload, description in zip(content.uploads, content.descriptions, strict=True)
    ]
    if content.flags is not None:
        message.flags = message.flags & ~SUPPRESS_EMBEDS | content.flags & ~EPHEMERAL
    ping(message, world, content.allowed)


def _kept(world: World, channel: Channel, upload: Upload, description: str) -> File:
    name = re.sub(r"[^\w.\-]", "_", upload.name) or "unknown"
    kind = _KINDS.get(name.rpartition(".")[2].lower(), "")
    file = world.add_file(channel, name, kind, upload.data)
    file.description = description
    return file


_KINDS = {
    "txt": "text/plain; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "json": "application/json; charset=utf-8",
    "py": "text/x-python; charset=utf-8",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "pdf": "application/pdf",
    "ogg": "audio/ogg",
    "mp3": "audio/mpeg",
}


def ping(message: Message, world: World, allowed: Json | None = None) -> None:
    """Find whom a message pings: those it names, as far as allowed, and whom it answers."""
    parse = {"users", "roles", "everyone"} if allowed is None else set(allowed.get("parse") or [])
    given = allowed or {}
    message.mentions = [
        user for user in _named(world, message.text) if "users" in parse or str(user.id) in _ids(given, "users")
    ]
    message.mention_roles = [
        role
        for role in _roles(message)
        if ("roles" in parse or str(role.id) in _ids(given, "roles")) and _may_ping(message, role)
    ]
    is_everyone = bool(_EVERYONE.search(message.text)) and "everyone" in parse
    message.mention_everyone = is_everyone and _may_ping(message)
    replied = _replied(message, world)
    wants = allowed is None or bool(allowed.get("replied_user"))
    if replied and wants and replied.author not in message.mentions and not replied.author.is_webhook:
        message.mentions.append(replied.author)


def _ids(given: Json, name: str) -> set[str]:
    return {str(number) for number in given.get(name) or []}


def _named(world: World, text: str) -> list[User]:
    found = [world.users.get(int(number)) for number in _USER.findall(text)]
    return list(dict.fromkeys(user for user in found if user is not None))


def _roles(message: Message) -> list[Role]:
    roles = message.channel.guild.roles if message.channel.guild else {}
    found = [roles.get(int(number)) for number in _ROLE.findall(message.text)]
    return list(dict.fromkeys(role for role in found if role is not None))


def _may_ping(message: Message, role: Role | None = None) -> bool:
    """Tell whether the author may ping a role, or everyone."""
    if message.channel.guild is None:
        return False
    is_free = role is not None and role.is_mentionable
    return is_free or message.author.is_webhook or message.channel.may(message.author, "mention_everyone")


def _replied(message: Message, world: World) -> Message | None:
    if message.reply_to is None or message.reference is None:
        return None
    channel = world.channels.get(message.reference.channel)
    return channel.by_id.get(message.reply_to) if channel else None
