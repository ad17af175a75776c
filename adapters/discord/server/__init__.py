"""A strict Discord in this process: for tests, and to chat with a bot without a token."""

from adapters.discord.server.journal import Call
from adapters.discord.server.limits import Limits
from adapters.discord.server.refusals import Refusal
from adapters.discord.server.server import TOKEN, DiscordServer
from adapters.discord.server.sessions import Event
from adapters.discord.server.using import Using
from adapters.discord.server.world import Channel, File, Guild, Message, Role, User
from adapters.wire.faults import Fault

__all__ = [
    "TOKEN",
    "Call",
    "Channel",
    "DiscordServer",
    "Event",
    "Fault",
    "File",
    "Guild",
    "Limits",
    "Message",
    "Refusal",
    "Role",
    "User",
    "Using",
]
