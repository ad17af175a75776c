"""The bot on the Discord test server, talked to in the terminal."""

from __future__ import annotations

from adapters.discord.server import DiscordServer
from bots import garbage
from bots.app import open_app
from bots.dev.discord_eyes import Eyes
from bots.dev.discord_hands import Hands
from bots.dev.scene import Scene, to_settings
from bots.dev.terminal import Terminal, until_either
from bots.discord import open_discord
from config.settings import Settings
from core.bot import Bot

_START = 30.0


async def talk(settings: Settings, who: str = "Ann", *, group: bool = False, bot: Bot | None = None) -> None:
    """Hold a conversation with the bot that the settings describe, or another, until the input ends.

    It remembers from one time to the next, in a database of its own.
    """
    async with DiscordServer() as server:
        eyes = Eyes(server)
        hands = Hands(server, eyes, who, group=group)
        places = {"api_url": server.api_url, "gateway_url": server.gateway_url, "guild": None}
        settings = to_settings(settings, "discord", server, hands.me.id, **places)
        async with open_discord(settings) as adapter, open_app(settings, adapters=[adapter], bot=bot) as app:
            garbage.resume()
            scene = Scene(server, server.api.world.changed, app.store, lambda: _waits(server))
            await until_either(adapter.run(app.engine), _talk(server, hands, Terminal(scene, eyes, hands)))


async def _talk(server: DiscordServer, hands: Hands, terminal: Terminal) -> None:
    await server.connected(_START)
    hands.join()
    await terminal.run()


def _waits(server: DiscordServer) -> bool:
    now, uses = server.api.world.clock(), server.api.uses.values()
    return any(not (using.is_done or using.is_late(now) or using.answer == 6) for using in uses)
