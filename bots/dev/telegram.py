"""The bot on the Telegram test server, talked to in the terminal."""

from __future__ import annotations

import time

from pydantic import SecretStr

from adapters.telegram.server import TelegramServer
from bots.app import open_app
from bots.dev.telegram_eyes import Eyes
from bots.dev.telegram_hands import Hands
from bots.dev.terminal import Terminal, until_either
from bots.telegram import open_telegram
from config.settings import Settings
from core.bot import Bot
from core.store import ConversationStore

DATABASE = "dev-telegram.db"


async def talk(settings: Settings, who: str = "Ann", *, group: bool = False, bot: Bot | None = None) -> None:
    """Hold a conversation with the bot that the settings describe, or another, until the input ends.

    It remembers from one time to the next, in a database of its own.
    """
    async with TelegramServer(first_message=time.time_ns() // 1_000_000) as server:
        eyes = Eyes(server)
        hands = Hands(server, eyes, who, group=group)
        settings = to_settings(settings, server, hands)
        async with open_telegram(settings) as adapter, open_app(settings, adapters=[adapter], bot=bot) as app:
            hands.join()
            terminal = Terminal(Scene(server, app.store), eyes, hands)
            await until_either(adapter.run(app.engine), terminal.run())


def to_settings(settings: Settings, server: TelegramServer, hands: Hands) -> Settings:
    """Put the test server in the place of Telegram; who speaks first is an admin, and everybody is served."""
    folder = settings.storage.data_dir
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    access = {"admins": (*settings.access.admins, f"telegram:{hands.me.id}"), "allowed": ("telegram:*",)}
    platform = {"token": SecretStr(server.token), "api_url": server.url, "webhook_url": None}
    return settings.model_copy(
        update={
            "telegram": settings.telegram.model_copy(update=platform),
            "access": settings.access.model_copy(update=access),
            "storage": settings.storage.model_copy(
                update={"database_url": SecretStr(f"sqlite:///{folder / DATABASE}")}
            ),
        }
    )


class Scene:
    """What goes on on the test server and in the bot."""

    def __init__(self, server: TelegramServer, store: ConversationStore) -> None:
        self._server, self._store = server, store

    async def changes(self) -> None:
        """Wait until something is seen anew."""
        await self._server.api.world.changed.wait()

    async def quiet(self, seconds: float) -> None:
        """Wait until nothing has changed for so long. Raises TimeoutError."""
        await self._server.quiet(seconds)

    async def is_busy(self) -> bool:
        """Tell whether the bot has something to take or to answer."""
        pending = self._server.api.updates.pending
        return bool(pending or await self._store.waiting() or await self._store.open_turns())
