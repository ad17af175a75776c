"""Asking Telegram how it is with a bot: whose token it is, what it hears, where its updates go. It changes nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urlsplit

from telegram import Bot
from telegram.error import Conflict, InvalidToken, RetryAfter, TelegramError

from adapters.telegram.adapter import API_URL, unknown_token
from adapters.telegram.request import Requests
from adapters.telegram.trouble import retry_seconds
from core.errors import ConfigError, KeepmindError

T = TypeVar("T")
_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the bot is; whether it hears all that is said in groups, and can be added to them."""

    id: int
    username: str
    hears_groups: bool
    joins_groups: bool


@dataclass(frozen=True, slots=True)
class Posting:
    """Where Telegram posts updates (empty: it is asked for them), how many wait, and what hindered the last post."""

    url: str
    waiting: int
    error: str
    seconds_ago: float


class Health:
    """Looks at one bot. `skew` is how many seconds this machine's clock is ahead of Telegram's, once asked anything."""

    def __init__(self, token: str, api_url: str = API_URL, now: Callable[[], float] = time.time) -> None:
        base, self._api_url, self._now = api_url.rstrip("/"), api_url, now
        self._requests = Requests({"event_hooks": {"response": [self._compare]}}), Requests({})
        self._bot = Bot(token, f"{base}/bot", f"{base}/file/bot", *self._requests)
        self.skew: float | None = None

    async def identity(self) -> Identity:
        """Ask who the bot is. Raises ConfigError for a token of nobody, KeepmindError when Telegram does not answer."""
        me = await self._asked(self._bot.get_me(read_timeout=_SECONDS, connect_timeout=_SECONDS))
        hears, joins = bool(me.can_read_all_group_messages), bool(me.can_join_groups)
        return Identity(me.id, me.username or "", hears, joins)

    async def posting(self) -> Posting:
        """Ask where updates go. Raises as `identity` does."""
        info = await self._asked(self._bot.get_webhook_info(read_timeout=_SECONDS, connect_timeout=_SECONDS))
        at = info.last_error_date
        ago = self._now() - at.timestamp() if at else 0.0
        return Posting(info.url, info.pending_update_count, info.last_error_message or "", ago)

    async def rival(self, seconds: int = 4) -> bool:
        """Ask for updates for so long, acknowledging none, and say whether another process asks for them too.

        Telegram lets one ask at a time, and ends the question of whoever asked before: with 409.
        """
        ends, first = time.monotonic() + seconds, None
        while (rest := ends - time.monotonic()) > 0:
            try:
                updates = await self._asked(self._bot.get_updates(limit=1, timeout=0 if first else max(1, int(rest))))
            except _Rival:
                return True
            found = updates[0].update_id if updates else None
            if first is not None and found != first:
                return True  # somebody has taken what was waiting
            if found is None:
                continue
            first = found
            await asyncio.sleep(min(1.0, max(rest, 0.1)))
        return False

    async def _asked(self, call: Coroutine[Any, Any, T]) -> T:
        try:
            return await call
        except InvalidToken:
            raise ConfigError(unknown_token(self._api_url)) from None
        except Conflict:
            raise _Rival from None
        except RetryAfter as error:
            wait = f"{retry_seconds(error):.0f} seconds"
            raise KeepmindError(f"Telegram asks this bot to wait {wait}; try again after that") from None
        except TelegramError as error:
            raise KeepmindError(_unreachable(self._api_url, error)) from None
        except (TypeError, KeyError, ValueError, AttributeError):  # the library trusts what answers
            raise ConfigError(_foreign(self._api_url)) from None

    async def _compare(self, response: Any) -> None:
        told = response.headers.get("date")
        if told and self.skew is None:
            self.skew = self._now() - parsedate_to_datetime(told).timestamp()

    async def __aenter__(self) -> Health:
        return self

    async def __aexit__(self, *_: object) -> None:
        for request in self._requests:
            await request.shutdown()


class _Rival(KeepmindError):
    """Another process asks for this bot's updates."""


def _unreachable(api_url: str, error: TelegramError) -> str:
    what = f"Telegram can't be reached at {urlsplit(api_url).hostname} ({type(error.__cause__ or error).__name__})"
    return f"{what}; check the network, a proxy (HTTPS_PROXY), and TELEGRAM_API_URL where it is set"


def _foreign(api_url: str) -> str:
    return f"What answers at {urlsplit(api_url).hostname} is no Bot API server; see TELEGRAM_API_URL"
