"""Discord as a platform: what is said there comes in, replies go out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from adapters.discord.away import Absence
from adapters.discord.buttons import Buttons
from adapters.discord.client import API_URL, GATEWAY_URL, Client, lead_to
from adapters.discord.commands import set_commands
from adapters.discord.conversion import PLATFORM
from adapters.discord.delivery import Sender
from adapters.discord.formatting import chunks
from adapters.discord.groups import Groups
from adapters.discord.interactions import Interactions
from adapters.discord.media import Files
from adapters.discord.receiving import Receiver
from adapters.discord.starting import hopeless
from core.adapter import Outgoing
from core.engine import Engine
from core.errors import ConfigError
from core.messages import ChatKey
from core.reading import Readers

logger = logging.getLogger("keepmind.discord")
_LONGEST_PAUSE = 30.0
_GOODBYE = 5.0


@dataclass(frozen=True)
class Options:
    """How the bot runs. `pause` is the first wait after a failure, in seconds.

    `pace` is the least seconds between two changes of a preview: Discord allows about five in five seconds in a
    channel; None: answers are not streamed. `content` asks for the text of all messages, a privileged intent. `guild`
    is where commands are declared in development; they are everyone's without it. With `threads` each conversation
    that begins in a channel gets one. Code longer than `longest_code` characters is sent as a file; zero: it is cut
    like the rest.
    """

    api_url: str = API_URL
    gateway_url: str = GATEWAY_URL
    content: bool = True
    guild: int | None = None
    groups: Groups = field(default_factory=Groups)
    absence: Absence = field(default_factory=Absence)
    threads: bool = False
    longest_code: int = 0
    quiet: float = 0.6
    pace: float | None = 1.2
    pause: float = 1.0


class DiscordAdapter:
    """One bot of Discord. It can send from when it is logged in, which `run` does, until `aclose`."""

    platform = PLATFORM
    posted = False

    def __init__(self, token: str, options: Options | None = None, readers: Readers | None = None) -> None:
        self._token = token
        self._options = options = options or Options()
        self.quiet = options.quiet
        self.pace: float | None = options.pace
        lead_to(options.api_url, options.gateway_url)
        own_gateway = options.gateway_url if options.gateway_url != GATEWAY_URL else ""
        self.client = Client(content=options.content, gateway_url=own_gateway)
        self._buttons = Buttons()
        self._interactions = Interactions(self._buttons, options.longest_code)
        self._sender = Sender(self.client, self._interactions, self._buttons, options.longest_code, options.pause)
        self._files = Files(self.client, readers or Readers())
        self._receiver: Receiver | None = None
        self._online = asyncio.Event()
        self._started = False
        self._wait = options.pause

    def serves(self, chat: ChatKey) -> bool:
        """Say whether a chat is one of Discord's."""
        return chat.platform == PLATFORM

    def split(self, text: str) -> Sequence[str]:
        """Cut an answer so that each part fits a message."""
        return chunks(text, self._options.longest_code)

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
            self._wait = self._options.pause
            if self._started:
                return
            self._started = True
            logger.info("serving Discord as bot %s", self.client.user and self.client.user.id)
            await set_commands(self.client.tree, engine, self._interactions, self._buttons, self._options.guild)

        options = self._options
        self.client.events = self._receiver = Receiver(
            self.client,
            engine,
            options.groups,
            self._files,
            self._interactions.languages,
            absence=options.absence,
            threads=options.threads,
            pause=options.pause,
        )
        self.client.start_up = start_up

    async def run(self, engine: Engine) -> None:
        """Take what is said until cancelled. Raises ConfigError when the operator has to do something."""
        self.attach(engine)
        try:
            await self._serve()
        finally:
            await self._leave()

    async def _serve(self) -> None:
        """Log in and listen, again and again when that ends; the library goes on by itself after most troubles."""
        while True:
            try:
                await self.client.login(self._token)
                await self.client.listen()
            except Exception as error:  # whatever ended it, the next time may be better
                if sentence := hopeless(error, own=self._options.api_url != API_URL):
                    raise ConfigError(sentence) from None
                logger.warning("Discord can't be reached, it is tried again: %s", type(error).__name__)
            self._online.clear()
            await self.client.begin_anew()
            await asyncio.sleep(self._wait)
            self._wait = min(self._wait * 1.5, _LONGEST_PAUSE)

    async def _leave(self) -> None:
        """Take nothing more; what is being answered can still be sent."""
        self.client.events = None
        if self._receiver is not None:
            await self._receiver.aclose()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE):
                await asyncio.gather(*(shard.disconnect() for shard in self.client.shards.values()))

    async def aclose(self) -> None:
        """Let go of the network."""
        await self.client.close()

    async def __aenter__(self) -> DiscordAdapter:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
