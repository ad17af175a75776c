"""A whole bot on the test server: the real adapter, a real engine, a scripted model."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from adapters import documents
from adapters.imagesize import look
from adapters.inmemory import InMemoryStore
from adapters.telegram.adapter import Options, TelegramAdapter
from adapters.telegram.server import TelegramServer
from core.bot import Bot, Ports, build
from core.clock import Clock, SystemClock
from core.engine import Engine
from core.llm import Completion, Request
from core.messages import ChatKey
from core.rates import Rates
from core.reading import Readers, Transcribe
from core.store import ConversationStore
from tests.fakes import ScriptedLLM, WordCounter

QUICK = Options(http={"verify": False}, quiet=0.02, private_pace=0.0, group_pace=0.0, pause=0.05, poll_seconds=5)


@dataclass
class Life:
    """What a test needs to look at."""

    adapter: TelegramAdapter
    engine: Engine
    llm: ScriptedLLM
    store: ConversationStore
    running: asyncio.Task[None]

    def asked(self) -> list[str]:
        """Give the last message of each request for an answer."""
        return [request.messages[-1].content for request in self.llm.of("answer")]

    async def turns(self, chat: int, topic: int | None = None) -> list[str]:
        """Give the words of the turns of a chat, one text a turn."""
        key = ChatKey("telegram", str(chat), str(topic) if topic else None)
        conversation = await self.store.load(key)
        return [" | ".join(message.text for message in turn.messages) for turn in conversation.turns]


async def until(condition: Callable[[], Any], seconds: float = 5) -> None:
    """Wait until something holds that rings no bell on the server. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 -- what is waited for rings no bell
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


@asynccontextmanager
async def living(
    server: TelegramServer,
    *,
    llm: ScriptedLLM | None = None,
    store: ConversationStore | None = None,
    bot: Bot | None = None,
    clock: Clock | None = None,
    admins: Sequence[str] = (),
    allowed: Sequence[str] = ("telegram:*",),
    token: str = "",
    transcribe: Transcribe | None = None,
    admin_ids: Sequence[int] = (),
    rates: Rates = Rates(),  # noqa: B008 -- frozen
    **options: Any,
) -> AsyncIterator[Life]:
    """Run a bot until the block ends."""
    chosen = replace(QUICK, api_url=server.url, admins=admin_ids, **options)
    llm, store = llm or ScriptedLLM(), store or InMemoryStore()
    async with TelegramAdapter(token or server.token, chosen, Readers(documents, transcribe, look)) as adapter:
        ports = Ports(store, llm, WordCounter(), clock or SystemClock(), [adapter])
        engine = build(bot or Bot(), ports, admins=admins, allowed=allowed, rates=rates)
        await engine.recover()
        running = asyncio.create_task(adapter.run(engine))
        try:
            yield Life(adapter, engine, llm, store, running)
        finally:
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await running
            await engine.aclose(2)
