"""Telegram's errors, as what delivery can do about them."""

from __future__ import annotations

from datetime import timedelta

from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, RetryAfter, TelegramError

from core.errors import Ambiguous, DeliveryError, Refused, RetryLater, Unreachable

UNSENT = {"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol"}
"""What httpx raises before anything was sent."""
NO_CONNECTION_SECONDS = 5.0
_GONE = (
    "chat not found",
    "user not found",
    "peer_id_invalid",
    "message thread not found",
    "topic_closed",
    "topic_deleted",
    "not enough rights to send",
    "have no rights to send",
    "need administrator rights in the channel",
    "chat_write_forbidden",
    "chat was deleted",
    "group chat was deactivated",
    "bot is not a member",
    "user is deactivated",
)


def trouble(error: TelegramError) -> DeliveryError:
    """Say what an error of a call that shows something means for what was to be shown."""
    if isinstance(error, RetryAfter):
        return RetryLater(retry_seconds(error))
    if isinstance(error, Forbidden) or (isinstance(error, BadRequest) and says(error, *_GONE)):
        return Unreachable(error.message)
    if isinstance(error, BadRequest | InvalidToken | ChatMigrated) or says(error, "entity too large"):
        return Refused(error.message)
    if type(error.__cause__).__name__ in UNSENT:
        return RetryLater(NO_CONNECTION_SECONDS)
    return Ambiguous(type(error).__name__)


def says(error: TelegramError, *words: str) -> bool:
    """Tell whether Telegram's description holds any of these words."""
    message = error.message.lower()
    return any(word in message for word in words)


def retry_seconds(error: RetryAfter) -> float:
    """Give the wait that Telegram asked for."""
    wait = error.retry_after
    return wait.total_seconds() if isinstance(wait, timedelta) else float(wait)
