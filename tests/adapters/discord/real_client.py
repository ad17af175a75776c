"""A real discord.py on the test server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import discord
import yarl
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.discord.server import DiscordServer


@contextmanager
def pointed(server: DiscordServer) -> Iterator[None]:
    """Let discord.py speak to the server instead of Discord."""
    base, gateway = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = server.api_url, yarl.URL(server.gateway_url)
    try:
        yield
    finally:
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = base, gateway


class Client(discord.Client):
    """A bot that notes what comes, and answers a message with an echo."""

    def __init__(self, intents: discord.Intents | None = None, *, echoes: bool = True, **options: Any) -> None:
        chosen = intents or _intents()
        super().__init__(intents=chosen, guild_ready_timeout=0.05, **options)
        self.tree = app_commands.CommandTree(self)
        self.echoes = echoes
        self.heard: list[discord.Message] = []
        self.events: list[str] = []
        self.ready_count = 0

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Identify at once instead of after five seconds, which spare Discord."""

    async def on_ready(self) -> None:
        self.ready_count += 1

    async def on_socket_event_type(self, name: str) -> None:
        self.events.append(name)

    async def on_message(self, message: discord.Message) -> None:
        if message.author.id == (self.user and self.user.id):
            return
        self.heard.append(message)
        if self.echoes and not message.author.bot and message.content:
            await message.channel.send(f"echo {message.content}")


def _intents() -> discord.Intents:
    intents = discord.Intents.default()
    intents.message_content = True
    return intents


@asynccontextmanager
async def running(server: DiscordServer, client: discord.Client) -> AsyncIterator[asyncio.Task[None]]:
    """Run a client until the block ends; it is ready when the block begins."""
    with pointed(server):
        task = asyncio.create_task(client.start(server.token))
        try:
            ready = asyncio.create_task(until(client.is_ready, 10))
            await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED, timeout=10)
            ready.cancel()
            if task.done():
                task.result()
            yield task
        finally:
            await client.close()
            with contextlib.suppress(asyncio.CancelledError, discord.DiscordException):
                await task


async def until(condition: Callable[[], object], seconds: float = 5) -> None:
    """Wait until something holds that rings no bell on the server. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 -- what is waited for rings no bell
            await asyncio.sleep(0.01)
