"""The process that serves tells how it does, where it is asked to."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import aiohttp

from adapters.telegram.server import TOKEN, TelegramServer
from tests.end_to_end.bot import Bot
from tests.end_to_end.model_server import ModelServer


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


async def test_a_served_talk_is_measured_and_the_process_says_that_it_is_ready(tmp_path: Path) -> None:
    port = free_port()
    async with ModelServer([{"answer": "Hello!"}]) as model, TelegramServer() as telegram:
        settings = {
            "TELEGRAM_BOT_TOKEN": TOKEN,
            "TELEGRAM_API_URL": telegram.url,
            "KEEPMIND_ALLOWED": "telegram:*",
            "KEEPMIND_METRICS__PORT": str(port),
        }
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
