"""Asking Discord how it is with a bot: whose token it is, which switches are on, what it may do. It changes nothing."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import discord

from adapters.discord.client import API_URL
from adapters.discord.starting import NO_SERVER, UNKNOWN
from core.errors import ConfigError, KeepmindError

NEEDED = (
    "view_channel",
    "send_messages",
    "send_messages_in_threads",
    "attach_files",
    "read_message_history",
)
FOR_THREADS = "create_public_threads"
_CONTENT = (1 << 18) | (1 << 19)
"""https://docs.discord.com/developers/resources/application#application-object-application-flags"""
_SECONDS = 8.0
_MOST_GUILDS = 200


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the bot is, and whether the text of all messages may be asked for."""

    id: int
    name: str
    content: bool


@dataclass(frozen=True, slots=True)
class Guild:
    """A server the bot is in, and what it may not do there."""

    id: int
    name: str
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gateway:
    """How often the bot may still begin a session, of how often in a day."""

    remaining: int
    total: int


class Health:
    """Looks at one bot. `skew` is how many seconds this machine's clock is ahead of Discord's, once asked anything."""

    def __init__(
        self, token: str, api_url: str = API_URL, gateway_url: str = "", now: Callable[[], float] = time.time
    ) -> None:
        self._token, self._api_url, self._gateway_url, self._now = token, api_url.rstrip("/"), gateway_url, now
        self._own = self._api_url != API_URL
        self._session: aiohttp.ClientSession | None = None
        self.skew: float | None = None

    async def identity(self) -> Identity:
        """Ask who the bot is. Raises ConfigError for a token of nobody, KeepmindError when Discord does not answer."""
        async with _spoken("API", self._api_url):
            me, application = await self._get("users/@me"), await self._get("applications/@me")
            return Identity(int(application["id"]), str(me["username"]), bool(application.get("flags", 0) & _CONTENT))

    async def guilds(self, *, threads: bool) -> tuple[Guild, ...]:
        """Ask which servers it is in, at most 200, and what it lacks there. Raises as `identity` does."""
        needed = needs(threads=threads)
        async with _spoken("API", self._api_url):
            return tuple(_guild(guild, needed) for guild in await self._get(f"users/@me/guilds?limit={_MOST_GUILDS}"))

    async def gateway(self) -> Gateway:
        """Ask how many sessions may begin, and shake hands with the gateway. Raises as `identity` does."""
        async with _spoken("API", self._api_url):
            told = await self._get("gateway/bot")
            url, limit = str(told["url"]), told["session_start_limit"]
            gateway = Gateway(int(limit["remaining"]), int(limit["total"]))
        await self._greeted(self._gateway_url or url)
        return gateway

    async def _greeted(self, url: str) -> None:
        """Connect and hear the gateway's greeting, beginning no session."""
        session = await self._opened()
        async with (
            _spoken("gateway", url),
            session.ws_connect(f"{url.rstrip('/')}/?v=10&encoding=json", timeout=_greeting()) as socket,
        ):
            hello = await socket.receive_json(timeout=_SECONDS)
            if hello.get("op") != 10:
                raise ValueError

    async def _get(self, path: str) -> Any:
        session = await self._opened()
        headers = {"Authorization": f"Bot {self._token}"}
        async with (
            _spoken("API", self._api_url),
            session.get(f"{self._api_url}/{path}", headers=headers, raise_for_status=False) as response,
        ):
            self._compare(response.headers.get("Date"))
            self._check(response.status)
            return await response.json(content_type=None)

    def _check(self, status: int) -> None:
        if status == 401:
            raise ConfigError(UNKNOWN)
        if status in (404, 405) and self._own:
            raise ConfigError(NO_SERVER)
        if status == 429:
            raise KeepmindError("Discord asks this bot to wait (429); try again in a minute")
        if status >= 400:
            raise KeepmindError(f"Discord does not answer as it should ({status}); try again later")

    def _compare(self, told: str | None) -> None:
        if told and self.skew is None:
            self.skew = self._now() - parsedate_to_datetime(told).timestamp()

    async def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            limit = aiohttp.ClientTimeout(total=_SECONDS)
            self._session = aiohttp.ClientSession(timeout=limit, trust_env=True)
        return self._session

    async def __aenter__(self) -> Health:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()


def needs(*, threads: bool) -> tuple[str, ...]:
    """Name the permissions a bot needs in a server."""
    return (*NEEDED, FOR_THREADS) if threads else NEEDED


def invite(application: int) -> str:
    """Give the link by which a bot is invited to a server, or given what it lacks there."""
    permissions = discord.Permissions(**dict.fromkeys(needs(threads=True), True))
    scopes = ("bot", "applications.commands")
    return discord.utils.oauth_url(application, permissions=permissions, scopes=scopes)


def _guild(told: dict[str, Any], needed: Iterable[str]) -> Guild:
    may = discord.Permissions(int(told["permissions"]))
    missing = () if may.administrator else tuple(name for name in needed if not getattr(may, name))
    return Guild(int(told["id"]), str(told["name"]), missing)


def _greeting() -> aiohttp.ClientWSTimeout:
    return aiohttp.ClientWSTimeout(ws_receive=_SECONDS, ws_close=1)


@asynccontextmanager
async def _spoken(what: str, url: str) -> AsyncIterator[None]:
    """Put what hinders a talk with Discord into a sentence. Raises KeepmindError."""
    try:
        yield
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        told = f"Discord's {what} can't be reached at {urlsplit(url).hostname} ({type(error).__name__})"
        raise KeepmindError(f"{told}; check the network and a proxy (HTTPS_PROXY)") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ConfigError(f"What answers at {urlsplit(url).hostname} does not speak as Discord's {what} does") from None
