"""Telegram as a platform: what is said there comes in, replies go out."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from telegram import Bot, User
from telegram.error import InvalidToken, TelegramError

from adapters.telegram.buttons import Buttons
from adapters.telegram.commands import set_menus
from adapters.telegram.conversion import PLATFORM
from adapters.telegram.delivery import Sender
from adapters.telegram.formatting import LIMIT, measure
from adapters.telegram.groups import Groups
from adapters.telegram.intake import Intake
from adapters.telegram.media import Files
from adapters.telegram.moves import Moves
from adapters.telegram.polling import Polling
from adapters.telegram.receiving import KINDS, Receiver
from adapters.telegram.request import Asking, Requests
from adapters.telegram.webhook import Address, Webhook
from core.adapter import Outgoing
from core.engine import Engine
from core.errors import ConfigError
from core.messages import ChatKey
from core.reading import Readers
from core.text.splitting import split

logger = logging.getLogger("keepmind.telegram")
API_URL = "https://api.telegram.org"
PRIVACY = (
    "groups are to be heard, but privacy mode is on, so that Telegram gives only what is addressed to the bot; "
    "@BotFather, /setprivacy, Disable turns it off, and then the bot has to be added to each group again"
)
_LONGEST_PAUSE = 30.0


@dataclass(frozen=True)
class Options:
    """How the bot runs. `admins` see their commands in the menu; `pause` is the first wait after a failure, in seconds.

    One question of polling waits `poll_seconds`; `rivalry` seconds after another process was found to ask as well, one
    that has just begun gives way. `now` is the clock of paces, `http` what httpx is given besides.

    `private_pace` and `group_pace` are the least seconds between two changes of a preview: Telegram allows about one
    message a second in a chat and 20 a minute in a group, changes included
    (https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this).
    """

    api_url: str = API_URL
    webhook: Address | None = None
    groups: Groups = field(default_factory=Groups)
    admins: Sequence[int] = ()
    quiet: float = 0.6
    private_pace: float = 1.0
    group_pace: float = 4.0
    pause: float = 1.0
    poll_seconds: int = 30
    rivalry: float = 10
    now: Callable[[], float] = time.monotonic
    http: dict[str, Any] = field(default_factory=dict)


class TelegramAdapter:
    """One bot of Telegram. It can send from the moment it is made until `aclose`, and receives while `run` runs."""

    platform = PLATFORM

    def __init__(self, token: str, options: Options | None = None, readers: Readers | None = None) -> None:
        os.environ.setdefault("PTB_TIMEDELTA", "true")  # else the library warns whenever it is told to wait
        self._options = options = options or Options()
        self.quiet = options.quiet
        self.pace: float | None = options.private_pace
        self._requests = Requests(options.http), Asking(options.http)
        base, (request, asking) = options.api_url.rstrip("/"), self._requests
        self.bot = Bot(token, f"{base}/bot", f"{base}/file/bot", request, asking)
        self._moves = Moves(options.groups)
        self._files = Files(self.bot, readers or Readers())
        self._buttons = Buttons()
        self._sender = Sender(self.bot, self._moves, self._buttons, options.group_pace, options.now)

    @property
    def posted(self) -> bool:
        """Say whether Telegram posts what is said, so that several processes may listen."""
        return self._options.webhook is not None

    def serves(self, chat: ChatKey) -> bool:
        """Say whether a chat is one of Telegram's."""
        return chat.platform == PLATFORM

    def split(self, text: str) -> Sequence[str]:
        """Cut an answer so that each part, formatted, fits a message."""
        return split(text, LIMIT, measure)

    async def typing(self, chat: ChatKey) -> None:
        """Show that an answer is being made."""
        await self._sender.typing(chat)

    async def send(self, out: Outgoing) -> str:
        """Send a message; give its id. Raises DeliveryError of the kind that tells what to do."""
        return await self._sender.send(out)

    async def edit(self, message_id: str, out: Outgoing) -> None:
        """Put a message in the place of one sent before; raises as `send` does."""
        await self._sender.edit(message_id, out)

    async def run(self, engine: Engine) -> None:
        """Take what is said until cancelled. Raises ConfigError when the operator has to do something."""
        me = await self._identify()
        self._sender.username = me.username or ""
        self._buttons.keeper = engine.shared.store
        self._moves.attach(engine, await engine.shared.store.moves())
        receiver = Receiver(self.bot, me, engine, self._options.groups, self._files, self._moves, self._buttons)
        menus = asyncio.create_task(set_menus(self.bot, engine.commands, self._options.admins, engine.language))
        try:
            await self._source(Intake(receiver.take)).run()
        finally:
            menus.cancel()
            await receiver.aclose()

    def _source(self, intake: Intake) -> Polling | Webhook:
        options = self._options
        if options.webhook is not None:
            return Webhook(self.bot, intake, KINDS, options.webhook)
        return Polling(self.bot, intake, KINDS, options.poll_seconds, options.pause, options.rivalry)

    async def _identify(self) -> User:
        """Ask who the bot is, until Telegram can be reached; polling needs no webhook to be set."""
        pause = self._options.pause
        while True:
            try:
                me = await self.bot.get_me()
                if self._options.webhook is None:
                    await self.bot.delete_webhook(drop_pending_updates=False)
                logger.info("serving Telegram as bot %s", me.id)
                if self._options.groups.hear_all and not me.can_read_all_group_messages:
                    logger.warning(PRIVACY)
                return me
            except InvalidToken:
                raise ConfigError(unknown_token(self._options.api_url)) from None
            except TelegramError as error:
                logger.warning("Telegram can't be reached, it is tried again: %s", type(error).__name__)
                await asyncio.sleep(pause)
                pause = min(pause * 1.5, _LONGEST_PAUSE)

    async def aclose(self) -> None:
        """Let go of the network."""
        for request in self._requests:
            await request.shutdown()

    async def __aenter__(self) -> TelegramAdapter:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def unknown_token(api_url: str) -> str:
    """Say that a token is nobody's at a Bot API server."""
    where = "" if api_url == API_URL else " (or TELEGRAM_API_URL leads to no Bot API server)"
    return f"Telegram does not know the token in TELEGRAM_BOT_TOKEN{where}; @BotFather gives the right one"
