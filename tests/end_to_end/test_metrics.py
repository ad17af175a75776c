"""The process that serves tells how it does, where it is asked to."""

from __future__ import annotations

import asyncio
import socket
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import aiohttp

from adapters.telegram.server import TOKEN, TelegramServer
from tests.end_to_end.bot import Bot
from tests.end_to_end.model_server import ModelServer


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def measured(telegram: TelegramServer, port: int) -> dict[str, str]:
    """Give the settings of a bot on Telegram that is measured at a port."""
    chosen = {"TELEGRAM_API_URL": telegram.url, "KEEPMIND_ALLOWED": "telegram:*"}
    return {"TELEGRAM_BOT_TOKEN": TOKEN, "KEEPMIND_METRICS__PORT": str(port), **chosen}


async def shows(port: int, *lines: str) -> None:
    """Wait until the measures at a port have these lines."""
    async with aiohttp.ClientSession() as session, asyncio.timeout(30):
        text = ""
        while not all(f"\n{line}\n" in text for line in lines):
            with suppress(aiohttp.ClientConnectionError):  # it is only starting
                async with session.get(f"http://127.0.0.1:{port}/metrics") as response:
                    text = await response.text()
            await asyncio.sleep(0.05)


async def test_who_serves_and_each_takeover_are_measured(tmp_path: Path) -> None:
    first, second = free_port(), free_port()
    taken = 'keepmind_takeovers_total{platform="telegram"} 1.0'
    async with ModelServer() as model, TelegramServer() as telegram, AsyncExitStack() as processes:
        bots = [Bot(model, tmp_path, measured(telegram, port)) for port in (first, second)]
        serving = await processes.enter_async_context(bots[0].served("telegram"))
        await shows(first, "keepmind_serving 1.0", taken)
        await processes.enter_async_context(bots[1].served("telegram"))
        await shows(second, "keepmind_serving 0.0")
        serving.kill()
        await shows(second, "keepmind_serving 1.0", taken)


async def test_a_served_talk_is_measured_and_the_process_says_that_it_is_ready(tmp_path: Path) -> None:
    port = free_port()
    async with ModelServer([{"answer": "Hello!"}]) as model, TelegramServer() as telegram:
        settings = measured(telegram, port)
        async with Bot(model, tmp_path, settings).served("telegram"), aiohttp.ClientSession() as session:
            ann = telegram.person("Ann")
            telegram.say(ann, ann, "hi")
            await telegram.reply(ann, timeout=30)
            async with session.get(f"http://127.0.0.1:{port}/readyz") as response:
                assert (response.status, await response.text()) == (200, "ready\n")
            async with asyncio.timeout(10):
                text = ""
                while 'outcome="delivered",platform="telegram"} 1.0' not in text:
                    async with session.get(f"http://127.0.0.1:{port}/metrics") as response:
                        text = await response.text()
            assert "keepmind_waiting 0.0" in text
