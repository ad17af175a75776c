"""What the Dockerfile does, without a container: from the lock file into a fresh environment, run by nobody special.

What only a container can show (the image's own layers, its read-only root file system) is not shown here.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest

from adapters.telegram.server import TOKEN, TelegramServer
from tests.end_to_end.bot import ROOT
from tests.end_to_end.model_server import ModelServer
from tests.end_to_end.test_metrics import free_port

NOBODY = 10001


def interpreters() -> Iterator[Path]:
    """Name the Pythons that anybody on this machine may run."""
    for found in (Path(sys.executable).resolve(), Path("/usr/bin/python3"), Path("/usr/local/bin/python3")):
        if found.exists() and all(p.stat().st_mode & 0o001 for p in [found.resolve(), *found.resolve().parents]):
            check = "import sys; sys.exit(sys.version_info < (3, 11))"
            if subprocess.run([found, "-c", check], check=False).returncode == 0:
                yield found


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that anybody may enter, as pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="keepmind-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def installed(place: Path) -> Path:
    """Install what the lock file says, and the project alone; give the command."""
    python = next(interpreters(), None)
    if python is None:
        pytest.skip("every Python of 3.11 or newer here lies in a folder closed to others")
    uv = [sys.executable, "-m", "uv"]
    environment = place / "environment"
    into = ["--python", str(environment / "bin" / "python")]
    for command in (
        ["venv", "--quiet", "--python", str(python), str(environment)],
        ["pip", "install", "--quiet", *into, "--require-hashes", "-r", str(ROOT / "requirements.lock")],
        ["pip", "install", "--quiet", *into, "--no-deps", str(ROOT)],
    ):
        subprocess.run([*uv, *command], check=True)
    return environment / "bin" / "keepmind"


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramServer]:
    async with TelegramServer() as server:
        yield server


async def test_the_locked_environment_serves_as_nobody_from_a_folder_it_cannot_write(
    installed: Path, place: Path, telegram: TelegramServer
) -> None:
    user = NOBODY if os.geteuid() == 0 else os.geteuid()
    data, empty, port = place / "data", place / "empty", free_port()
    data.mkdir(mode=0o700)
    empty.mkdir(mode=0o555)
    if os.geteuid() == 0:
        os.chown(data, user, user)
    async with ModelServer() as model:
        environ = {
            "PATH": str(installed.parent),
            "HOME": str(empty),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENAI_BASE_URL": model.url,
            "OPENAI_API_KEY": "sk-test-0123456789",
            "KEEPMIND_DATA_DIR": str(data),
            "KEEPMIND_ALLOWED": "telegram:*",
            "KEEPMIND_METRICS__PORT": str(port),
            "TELEGRAM_BOT_TOKEN": TOKEN,
            "TELEGRAM_API_URL": telegram.url,
        }
        process = await asyncio.create_subprocess_exec(installed, "run", cwd=empty, env=environ, user=user)
        try:
            ann = telegram.person("Ann")
            telegram.say(ann, ann, "hello")
            assert (await telegram.reply(ann, timeout=60)).text == "You said: hello"
            async with aiohttp.ClientSession() as session:
                for path, answer in (("healthz", "alive\n"), ("readyz", "ready\n")):
                    async with session.get(f"http://127.0.0.1:{port}/{path}") as response:
                        assert (response.status, await response.text()) == (200, answer)
            process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(process.wait(), 30) == 0
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    assert (data / "keepmind.db").stat().st_uid == user
    assert not list(empty.iterdir())
