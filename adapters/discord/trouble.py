"""Discord's errors, as what delivery can do about them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import aiohttp
import discord

from core.errors import Ambiguous, DeliveryError, Refused, RetryLater, Unreachable

T = TypeVar("T")
NO_CONNECTION_SECONDS = 5.0
WAITS = (1, 4, 15)
"""How long is waited before something is tried again, in units of the adapter's pause."""
MAY_NOT_REPLY = 160002
THREAD_EXISTS = 160004
TROUBLES = (discord.DiscordException, aiohttp.ClientError, OSError, asyncio.TimeoutError, RuntimeError)
"""All that a call may raise; a RuntimeError while the connection is made anew."""
_ARCHIVED = 50083
_GONE = {
    10003,  # unknown channel
    10013,  # unknown user
    50001,  # missing access
    50007,  # takes no direct messages
    50013,  # missing permissions
    _ARCHIVED,
}
"""Codes of https://discord.com/developers/docs/topics/opcodes-and-status-codes#json."""


def trouble(error: BaseException, *, editing: bool = False) -> DeliveryError:
    """Say what an error of a call that shows something means for what was to be shown.

    In an archived thread nothing can be edited, but sending to it opens it again.
    """
    if isinstance(error, discord.RateLimited):
        return RetryLater(error.retry_after)
    if isinstance(error, aiohttp.ClientConnectorError | RuntimeError):
        return RetryLater(NO_CONNECTION_SECONDS)
    if not isinstance(error, discord.HTTPException) or error.status >= 500:
        return Ambiguous(type(error).__name__)
    if error.status == 429:
        return RetryLater(retry_seconds(error))
    if is_gone(error) and not (editing and error.code == _ARCHIVED):
        return Unreachable(said(error))
    return Refused(said(error))


def is_gone(error: discord.HTTPException) -> bool:
    """Tell whether nothing can be shown there any more."""
    return error.code in _GONE or (error.status == 403 and not error.code)


def is_about_the_reply(error: discord.HTTPException) -> bool:
    """Tell whether a message was refused for what it answers: that is gone, or may not be read."""
    return error.code == MAY_NOT_REPLY or "message_reference" in error.text


async def asked(call: Callable[[], Awaitable[T]], pause: float) -> T:
    """Ask Discord for something, and again after waits in units of `pause`. Raises what it met in the end."""
    for wait in WAITS:
        try:
            return await call()
        except TROUBLES as error:
            if is_lasting(error):
                raise
            more = error.retry_after if isinstance(error, discord.RateLimited) else 0
        await asyncio.sleep(max(wait * pause, more))
    return await call()


def is_lasting(error: BaseException) -> bool:
    """Tell whether asking again would be in vain."""
    if isinstance(error, discord.HTTPException):
        return 400 <= error.status < 500 and error.status != 429
    return isinstance(error, discord.InvalidData)


def said(error: discord.HTTPException) -> str:
    """Give what Discord said, on one line."""
    return f"{error.status} {error.code}: {' '.join(error.text.split())}"


def retry_seconds(error: discord.HTTPException) -> float:
    """Give the wait that was asked for; half a minute where none was."""
    try:
        return float(error.response.headers.get("Retry-After", ""))
    except ValueError:
        return 30.0
