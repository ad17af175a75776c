"""What a session asked to hear of: https://docs.discord.com/developers/events/gateway#gateway-intents."""

from __future__ import annotations

from collections.abc import Collection

from adapters.discord.server.refusals import Json

GUILDS, GUILD_MEMBERS, GUILD_PRESENCES = 1 << 0, 1 << 1, 1 << 8
GUILD_MESSAGES, GUILD_REACTIONS, GUILD_TYPING = 1 << 9, 1 << 10, 1 << 11
DIRECT_MESSAGES, DIRECT_REACTIONS, DIRECT_TYPING = 1 << 12, 1 << 13, 1 << 14
MESSAGE_CONTENT = 1 << 15
KNOWN = ((1 << 26) - 1) & ~(0b111 << 17 | 0b11 << 22)
PRIVILEGED = {"members": GUILD_MEMBERS, "presences": GUILD_PRESENCES, "message_content": MESSAGE_CONTENT}
FLAGS = {"presences": 1 << 13, "members": 1 << 15, "message_content": 1 << 19}  # of an application in few guilds
BLANK: Json = {"content": "", "attachments": [], "embeds": [], "components": []}


def disallowed(intents: int, switched_on: Collection[str]) -> bool:
    """Tell whether a privileged intent is asked for that the developer portal has switched off."""
    return any(intents & bit for name, bit in PRIVILEGED.items() if name not in switched_on)


def application_flags(switched_on: Collection[str]) -> int:
    """Write what is switched on, as an application's flags."""
    return sum(FLAGS[name] for name in switched_on)
