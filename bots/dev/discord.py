"""The bot on the Discord test server, talked to in the terminal."""

from __future__ import annotations

from pydantic import SecretStr

from adapters.discord.server import DiscordServer
from bots.app import open_app
from bots.dev.discord_eyes import Eyes
from bots.dev.discord_hands import Hands
from bots.dev.terminal import Terminal, until_either
from bots.discord import open_discord
from config.settings import Settings
from core.bot import Bot
from core.store import ConversationStore

DATABASE = "dev-discord.db"
_START = 30.0


async def talk(settings: Settings, who: str = "Ann", *, group: bool = False, bot: Bot | None = None) -> None:
    """Hold a conversation with the bot that the settings describe, or another, until the input ends.

    It remembers from one time to the next, in a database of its own.
    """
    async with DiscordServer() as server:
        eyes = Eyes(server)
        hands = Hands(server, eyes, who, group=group)
        settings = to_settings(settings, server, hands)
        async with open_discord(settings) as adapter, open_app(settings, adapters=[adapter], bot=bot) as app:
            terminal = Terminal(Scene(server, app.store), eyes, hands)
            await until_either(adapter.run(app.engine), _talk(server, hands, terminal))


async def _talk(server: DiscordServer, hands: Hands, terminal: Terminal) -> None:
    await server.connected(_START)
    hands.join()
    await terminal.run()


def to_settings(settings: Settings, server: DiscordServer, hands: Hands) -> Settings:
    """Put the test server in the place of Discord; who speaks first is an admin, and everybody is served."""
    folder = settings.storage.data_dir
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    access = {"admins": (*settings.access.admins, f"discord:{hands.me.id}"), "allowed": ("discord:*",)}
    places = {"api_url": server.api_url, "gateway_url": server.gateway_url, "guild": None}
    platform = {"token": SecretStr(server.token), **places}
    return settings.model_copy(
        update={
            "discord": settings.discord.model_copy(update=platform),
            "access": settings.access.model_copy(update=access),
            "storage": settings.storage.model_copy(
                update={"database_url": SecretStr(f"sqlite:///{folder / DATABASE}")}
            ),
        }
    )


class Scene:
    """What goes on on the test server and in the bot."""

    def __init__(self, server: DiscordServer, store: ConversationStore) -> None:
        self._server, self._store = server, store

    async def changes(self) -> None:
        """Wait until something is seen anew."""
        await self._server.api.world.changed.wait()

    async def quiet(self, seconds: float) -> None:
        """Wait until nothing has changed for so long. Raises TimeoutError."""
        await self._server.quiet(seconds)

    async def is_busy(self) -> bool:
        """Tell whether the bot has something to take or to answer."""
        now = self._server.api.world.clock()
        uses = self._server.api.uses.values()
        waits = any(not (using.is_done or using.is_late(now) or using.answer == 6) for using in uses)
        return bool(waits or await self._store.waiting() or await self._store.open_turns())
