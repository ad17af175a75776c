"""A strict Telegram in this process: for tests, and to chat with a bot without a token."""

from adapters.telegram.server.journal import Call
from adapters.telegram.server.limits import Limits
from adapters.telegram.server.refusals import Refusal
from adapters.telegram.server.server import TOKEN, TelegramServer
from adapters.telegram.server.world import Chat, Draft, Message, User
from adapters.wire.faults import Fault

__all__ = ["TOKEN", "Call", "Chat", "Draft", "Fault", "Limits", "Message", "Refusal", "TelegramServer", "User"]
