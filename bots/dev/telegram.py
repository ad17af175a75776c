"""The bot on the Telegram test server, talked to in the terminal."""

from __future__ import annotations

import time

from adapters.telegram.server import TelegramServer
from bots import garbage
from bots.app import open_app
from bots.dev.scene import Scene, to_settings
from bots.dev.telegram_eyes import Eyes
from bots.dev.telegram_hands import Hands
from bots.dev.terminal import Terminal, until_either
from bots.telegram import open_telegram
from config.settings import Settings
from core.bot import Bot


async def talk(settings: Settings, who: str = "Ann", *, group: bool = False, bot: Bot | None = None) -> None:
    """Hold a conversation with the bot that the settings describe, or another, until the input ends.

    It remembers from one time to the next, in a database of its own.
    """
    async with TelegramServer(first_message=time.time_ns() // 1_000_000) as server:
        eyes = Eyes(server)
        hands = Hands(server, eyes, who, group=group)
        settings = to_settings(settings, "telegram", server, hands.me.id, api_url=server.url, webhook_url=None)
        async with open_telegram(settings) as adapter, open_app(settings, adapters=[adapter], bot=bot) as app:
            garbage.resume()
            hands.join()
            api = server.api
            scene = Scene(server, api.world.changed, app.store, lambda: bool(api.updates.pending))
            await until_either(adapter.run(app.engine), Terminal(scene, eyes, hands).run())
