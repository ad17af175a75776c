"""Discord as a platform: what is said there comes in, replies go out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

import discord

from adapters.discord.buttons import Buttons
from adapters.discord.client import API_URL, GATEWAY_URL, Client, lead_to
from adapters.discord.commands import set_commands
from adapters.discord.conversion import PLATFORM
from adapters.discord.delivery import LIMIT, Sender
from adapters.discord.interactions import Interactions
from adapters.discord.receiving import Receiver
from adapters.discord.trouble import TROUBLES
from core.adapter import Outgoing
from core.engine import Engine
from core.errors import ConfigError
from core.messages import ChatKey
from core.splitting import split

logger = logging.getLogger("keepmind.discord")
_LONGEST_PAUSE = 30.0


@dataclass(frozen=True)
class Options:
    """How the bot runs. `pause` is the first wait after a failure, in seconds.

    `pace` is the least seconds between two changes of a preview: Discord allows about five in five seconds in a
    channel. `content` asks for the text of all messages, a privileged intent. `guild` is where commands are declared
    in development; they are everyone's without it.
    """

    api_url: str = API_URL
    gateway_url: str = GATEWAY_URL
    content: bool = True
    guild: int | None = None
    quiet: float = 0.6
    pace: float = 1.2
    pause: float = 1.0


class DiscordAdapter:
    """One bot of Discord. It can send from when it is logged in, which `run` does, until `aclose`."""

    platform = PLATFORM

    def __init__(self, token: str, options: Options | None = None) -> None:
        self._token = token
        self._options = options = options or Options()
        self.quiet = options.quiet
        self.pace: float | None = options.pace
        lead_to(options.api_url, options.gateway_url)
        own_gateway = options.gateway_url if options.gateway_url != GATEWAY_URL else ""
        self.client = Client(content=options.content, gateway_url=own_gateway)
        self._interactions = Interactions()
        self._buttons = Buttons()
        self._sender = Sender(self.client, self._interactions, self._buttons)
        self._online = asyncio.Event()

    def serves(self, chat: ChatKey) -> bool:
        """Say whether a chat is one of Discord's."""
        return chat.platform == PLATFORM

    def split(self, text: str) -> Sequence[str]:
        """Cut an answer so that each part fits a message."""
        return split(text, LIMIT)

    async def typing(self, chat: ChatKey) -> None:
        """Show that an answer is being made."""
        await self._online.wait()
        await self._sender.typing(chat)

    async def send(self, out: Outgoing) -> str:
        """Send a message; give its id. Raises DeliveryError of the kind that tells what to do."""
        await self._online.wait()
        return await self._sender.send(out)

    async def edit(self, message_id: str, out: Outgoing) -> None:
        """Put a message in the place of one sent before; raises as `send` does."""
        await self._online.wait()
        await self._sender.edit(message_id, out)

    def attach(self, engine: Engine) -> None:
        """Let an engine take what is said from now on."""

        async def start_up() -> None:
            self._online.set()
            await set_commands(self.client.tree, engine, self._interactions, self._buttons, self._options.guild)

        self.client.events = Receiver(self.client, engine)
        self.client.start_up = start_up

    async def run(self, engine: Engine) -> None:
        """Take what is said until cancelled. Raises ConfigError when the operator has to do something."""
        self.attach(engine)
        try:
            await self._login()
            await self.client.connect()
        except discord.PrivilegedIntentsRequired:
            raise ConfigError(_NO_INTENT) from None
        finally:
            await self._leave()

    async def _login(self) -> None:
        """Log in, until Discord can be reached."""
        pause = self._options.pause
        while True:
            try:
                await self.client.login(self._token)
                return
            except discord.LoginFailure:
                raise ConfigError(_UNKNOWN) from None
            except TROUBLES as error:
                logger.warning("Discord can't be reached, it is tried again: %s", type(error).__name__)
                await self.client.http.close()
                self.client.http.connector = discord.utils.MISSING
                await asyncio.sleep(pause)
                pause = min(pause * 1.5, _LONGEST_PAUSE)

    async def _leave(self) -> None:
        """Take nothing more; what is being answered can still be sent."""
        self.client.events = None
        for shard in self.client.shards.values():
            await shard.disconnect()

    async def aclose(self) -> None:
        """Let go of the network."""
        await self.client.close()

    async def __aenter__(self) -> DiscordAdapter:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


_UNKNOWN = "Discord does not know the token in DISCORD_BOT_TOKEN; the Bot page of the developer portal gives a new one"
_NO_INTENT = (
    "Discord keeps the text of messages from this bot; turn on MESSAGE CONTENT INTENT on the Bot page of the developer "
    "portal, or set discord.message_content to false to be heard in direct messages and mentions alone"
)
