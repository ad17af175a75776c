"""A whole bot on the test server: the real adapter, a real engine, a scripted model."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from adapters import documents
from adapters.discord.adapter import DiscordAdapter, Options
from adapters.discord.server import Channel, DiscordServer, Guild, Message, User
from adapters.imagesize import look
from adapters.inmemory import InMemoryStore
from core.bot import Bot, Ports, build
from core.clock import Clock, SystemClock
from core.engine import Engine
from core.llm import Completion, Request
from core.messages import ChatKey
from core.rates import Rates
from core.reading import Readers, Transcribe
from core.store import ConversationStore
from tests.adapters.discord.real_client import pointed
from tests.fakes import ScriptedLLM, WordCounter

QUICK = Options(quiet=0.02, pace=None, pause=0.05)


@dataclass
class Life:
    """What a test needs to look at."""

    adapter: DiscordAdapter
    engine: Engine
    llm: ScriptedLLM
    store: ConversationStore
    running: asyncio.Task[None]

    def asked(self) -> list[str]:
        """Give the last message of each request for an answer."""
        return [request.messages[-1].content for request in self.llm.of("answer")]

    async def turns(self, chat: int, topic: int | None = None) -> list[str]:
        """Give the words of the turns of a chat, one text a turn."""
        conversation = await self.store.load(key(chat, topic))
        return [" | ".join(message.text for message in turn.messages) for turn in conversation.turns]


def key(chat: int, topic: int | None = None) -> ChatKey:
    """Name a chat."""
    return ChatKey("discord", str(chat), str(topic) if topic else None)


async def until(condition: Callable[[], Any], seconds: float = 5) -> None:
    """Wait until something holds that rings no bell on the server. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 -- what is waited for rings no bell
            await asyncio.sleep(0.01)


async def comes_true(condition: Callable[[], Any], seconds: float = 5) -> None:
    """Wait until something holds that has to be asked for. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not await condition():  # noqa: ASYNC110 -- likewise
            await asyncio.sleep(0.01)


def held(text: str) -> ScriptedLLM:
    """Make a model that says half of a text, and the rest once its gate is opened."""
    llm = ScriptedLLM(saying(text))
    llm.gate = asyncio.Event()
    return llm


def go_on(llm: ScriptedLLM) -> None:
    """Let a held model say the rest."""
    assert llm.gate
    llm.gate.set()


def saying(*texts: str) -> Callable[[Request], Completion]:
    """Make a script that answers with these texts in turn, the last for ever."""
    left = list(texts)
    return lambda _: Completion(left.pop(0) if len(left) > 1 else left[0])


def texts(place: Channel) -> list[str]:
    """Give what the bot has said in a channel, as it is seen now."""
    return [message.text for message in place.from_bot]


def called(server: DiscordServer, text: str) -> str:
    """Say a text to the bot by its mention."""
    return f"{server.bot.mention} {text}"


@dataclass(frozen=True)
class Club:
    """A server with two people in it, and the bot."""

    guild: Guild
    general: Channel
    ann: User
    bob: User


def a_club(server: DiscordServer) -> Club:
    """Let Ann and Bob have a server that the bot is in."""
    ann, bob = server.person("Ann"), server.person("Bob")
    guild = server.guild("Club", [ann, bob])
    return Club(guild, server.text_channel(guild), ann, bob)


async def answered(server: DiscordServer, said: Message) -> Message:
    """Wait for the bot's answer to a message; in a server it points to it."""
    private = said.channel.is_private or said.channel.is_thread
    return await server.reply(said.channel, after=said, where=lambda one: private or one.reply_to == said.id)


@asynccontextmanager
async def living(
    server: DiscordServer,
    *,
    llm: ScriptedLLM | None = None,
    store: ConversationStore | None = None,
    bot: Bot | None = None,
    clock: Clock | None = None,
    admins: Sequence[str] = (),
    allowed: Sequence[str] = ("discord:*",),
    token: str = "",
    transcribe: Transcribe | None = None,
    rates: Rates = Rates(),  # noqa: B008 -- frozen
    connected: bool = True,
    **options: Any,
) -> AsyncIterator[Life]:
    """Run a bot until the block ends; it is at the gateway when the block begins."""
    place = {"api_url": server.api_url, "gateway_url": server.gateway_url}
    chosen = replace(QUICK, **(place | options))
    llm, store = llm or ScriptedLLM(), store or InMemoryStore()
    with pointed(server):
        async with DiscordAdapter(token or server.token, chosen, Readers(documents, transcribe, look)) as adapter:
            ports = Ports(store, llm, WordCounter(), clock or SystemClock(), [adapter])
            engine = build(bot or Bot(), ports, admins=admins, allowed=allowed, rates=rates)
            await engine.recover()
            running = asyncio.create_task(adapter.run(engine))
            try:
                if connected:
                    await server.connected()
                yield Life(adapter, engine, llm, store, running)
            finally:
                running.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await running
                await engine.aclose(2)
