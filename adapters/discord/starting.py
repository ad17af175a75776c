"""What keeps a bot from starting that waiting does not cure, in a sentence for its operator."""

from __future__ import annotations

import discord

UNKNOWN = "Discord does not know the token in DISCORD_BOT_TOKEN; the Bot page of the developer portal gives a new one"
NO_INTENT = (
    "Discord keeps the text of messages from this bot: turn on MESSAGE CONTENT INTENT on the Bot page of the developer "
    "portal, or set discord.message_content to false, to be heard in direct messages and mentions alone"
)
NO_SERVER = "DISCORD_API_URL leads to no server that speaks as Discord's does"
CLOSED = "Discord closed the connection and takes no other (code {code}: {reason})"
_REASONS = {
    4010: "wrong shard",
    4011: "it has to be sharded",
    4012: "its API version is too old",
    4013: "wrong intents",
}
"""Of https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes."""
_REVOKED = 4004


def hopeless(error: BaseException, *, own: bool) -> str:
    """Say what has to be done about an error; empty when it may pass by itself. `own`: the API's address is set."""
    if isinstance(error, discord.LoginFailure):
        return UNKNOWN
    if isinstance(error, discord.PrivilegedIntentsRequired):
        return NO_INTENT
    if isinstance(error, discord.ConnectionClosed):
        return _closed(error.code or 0)
    if isinstance(error, discord.HTTPException) and error.status in (404, 405) and own:
        return NO_SERVER
    return ""


def _closed(code: int) -> str:
    if code == _REVOKED:
        return UNKNOWN
    return CLOSED.format(code=code, reason=_REASONS[code]) if code in _REASONS else ""
