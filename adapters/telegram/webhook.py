"""Being told of updates: an address that only Telegram, which knows the secret, can post to."""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web
from telegram import Bot, Update
from telegram.error import InvalidToken, TelegramError

from adapters.telegram.intake import Intake
from adapters.telegram.polling import REVOKED
from adapters.telegram.updates import is_update, readable
from core.errors import ConfigError, StoreError

logger = logging.getLogger("keepmind.telegram")
HEADER = "X-Telegram-Bot-Api-Secret-Token"
MOST_BODY = 2**20
CONNECTIONS = 100
_BODY_SECONDS = 30.0
_PAUSE = 5.0


@dataclass(frozen=True, slots=True)
class Address:
    """Where updates come in: `url` as Telegram sees it, behind a proxy that ends TLS; `port` where we listen."""

    url: str
    secret: str = field(repr=False)
    port: int = 8080
    host: str = "0.0.0.0"

    @property
    def path(self) -> str:
        """The path that the proxy hands on."""
        return urlsplit(self.url).path or "/"


class Webhook:
    """Answers 200 once an update is stored, and 503 when it can't be, so that Telegram posts it again."""

    def __init__(self, bot: Bot, intake: Intake, kinds: Sequence[str], address: Address) -> None:
        self._bot, self._intake, self._kinds, self._address = bot, intake, kinds, address

    async def run(self) -> None:
        """Listen until cancelled; the address stays set, so that Telegram keeps what comes while nobody listens."""
        application = web.Application(client_max_size=MOST_BODY)
        application.router.add_post(self._address.path, self._receive)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=5)
        await runner.setup()
        try:
            await self._listen(runner)
            await self._register()
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()
            await self._intake.aclose()

    async def _listen(self, runner: web.AppRunner) -> None:
        try:
            await web.TCPSite(runner, self._address.host, self._address.port).start()
        except OSError as error:
            reason = f"can't listen on port {self._address.port}: {error.strerror}"
            raise ConfigError(f"{reason}; set TELEGRAM_WEBHOOK_PORT to a free one") from None

    async def _register(self) -> None:
        while True:
            try:
                await self._bot.set_webhook(
                    self._address.url,
                    secret_token=self._address.secret,
                    allowed_updates=self._kinds,
                    max_connections=CONNECTIONS,
                )
                return
            except InvalidToken:
                raise ConfigError(REVOKED) from None
            except TelegramError as error:
                logger.warning("the webhook could not be set, it is tried again: %s", error.message)
                await asyncio.sleep(_PAUSE)

    async def _receive(self, request: web.Request) -> web.Response:
        if not self._is_telegrams(request):
            return web.Response(status=403)
        body = await _body(request)
        if not is_update(body):
            return web.Response(status=400)
        try:
            await asyncio.shield(self._intake.put(Update.de_json(readable(body), self._bot)))
        except StoreError:
            return web.Response(status=503)
        return web.Response()

    def _is_telegrams(self, request: web.Request) -> bool:
        said = request.headers.get(HEADER, "").encode("utf-8", "surrogateescape")
        return hmac.compare_digest(said, self._address.secret.encode())


async def _body(request: web.Request) -> Any:
    """Give the JSON that was posted; None when it is none."""
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            return await request.json()
    except (ValueError, LookupError, RecursionError, TimeoutError, web.HTTPException, web.RequestPayloadError) as error:
        logger.warning("something that is no update was posted: %s", type(error).__name__)
        return None
