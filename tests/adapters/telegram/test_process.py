"""The real process on Telegram, as an operator runs it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from adapters.telegram.server import TelegramServer, User
from tests.end_to_end.model_server import ModelServer

ROOT = Path(__file__).parents[3]


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as model:
        yield model


@asynccontextmanager
async def running(server: TelegramServer, model: ModelServer, folder: Path, **more: str) -> AsyncIterator[None]:
    """Run `keepmind run` until the block ends, then ask it to end as systems do."""
    own = {
        "TELEGRAM_BOT_TOKEN": server.token,
        "TELEGRAM_API_URL": server.url,
        "OPENAI_BASE_URL": model.url,
        "OPENAI_API_KEY": "sk-test-0123456789",
        "KEEPMIND_ALLOWED": "telegram:*",
        "KEEPMIND_DATA_DIR": str(folder / "data"),
        "PYTHONPATH": str(ROOT),
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bots", "run", cwd=folder, env=own | more, stderr=asyncio.subprocess.PIPE
    )
    try:
        yield
        process.send_signal(signal.SIGTERM)
        _, log = await asyncio.wait_for(process.communicate(), 20)
        assert process.returncode == 0, log.decode()
        assert server.token not in log.decode()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_it_serves_by_polling_stops_when_told_and_remembers_by_webhook(
    server: TelegramServer, ann: User, model: ModelServer, tmp_path: Path
) -> None:
    async with running(server, model, tmp_path):
        said = server.say(ann, ann, "I am Ann")
        assert (await server.reply(ann, after=said, timeout=30)).text == "You said: I am Ann"
        said = server.voice(ann, ann, b"OggSI live in Rome")
        assert "I live in Rome" in (await server.reply(ann, after=said)).text, "recordings are written down"
        said = server.document(ann, ann, "notes.md", b"# Zebra")
        assert "Zebra" in (await server.reply(ann, after=said)).text, "documents are read"
    polls = server.journal.counts["getUpdates"]
    async with running(server, model, tmp_path, **webhook()):
        said = server.say(ann, ann, "and now?")
        await server.reply(ann, after=said, timeout=30)
    asked = [entry["request"]["messages"] for entry in model.journal if entry["purpose"] == "answer"]
    for earlier in ("I am Ann", "I live in Rome", "Zebra"):
        assert any(earlier in str(message["content"]) for message in asked[-1])
    assert model.faults == []
    assert server.journal.counts["getUpdates"] == polls


def webhook() -> dict[str, str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return {
        "TELEGRAM_WEBHOOK_URL": f"http://127.0.0.1:{port}/hook",
        "TELEGRAM_WEBHOOK_SECRET": "a-secret",
        "TELEGRAM_WEBHOOK_PORT": str(port),
    }
