"""Who may do what where: https://docs.discord.com/developers/topics/permissions."""

from __future__ import annotations

from collections.abc import Iterable

BITS = {
    "administrator": 3,
    "manage_channels": 4,
    "manage_guild": 5,
    "add_reactions": 6,
    "view_channel": 10,
    "send_messages": 11,
    "manage_messages": 13,
    "embed_links": 14,
    "attach_files": 15,
    "read_message_history": 16,
    "mention_everyone": 17,
    "use_external_emojis": 18,
    "change_nickname": 26,
    "manage_roles": 28,
    "manage_webhooks": 29,
    "use_application_commands": 31,
    "manage_threads": 34,
    "create_public_threads": 35,
    "create_private_threads": 36,
    "send_messages_in_threads": 38,
}
ALL = (1 << 52) - 1


def bits(names: Iterable[str]) -> int:
    """Write permissions as Discord's bit field. Raises KeyError."""
    return sum(1 << BITS[name] for name in set(names))


USUAL = bits(
    [
        "add_reactions",
        "view_channel",
        "send_messages",
        "embed_links",
        "attach_files",
        "read_message_history",
        "use_external_emojis",
        "change_nickname",
        "use_application_commands",
        "create_public_threads",
        "create_private_threads",
        "send_messages_in_threads",
    ]
)
