"""`keepmind init`, as a shell runs it: asked in a terminal and through a pipe, or told everything at once."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.discord.server import TOKEN as DISCORD_TOKEN
from adapters.discord.server import DiscordServer
from adapters.telegram.server import TOKEN, TelegramServer
from config.settings import Settings, load_settings
from tests.end_to_end.bot import ROOT
from tests.end_to_end.model_server import ModelServer
from tests.postgresql import Server

KEY = "sk-test-0123456789"
CALLS = {"match": "function", "calls": [{"name": "note_city", "arguments": {"city": "Rome"}}]}
NOWHERE = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Shell:
    """A folder, and the servers there are."""

    folder: Path
    telegram: TelegramServer
    discord: DiscordServer
    model: ModelServer

    def environ(self, **more: str) -> dict[str, str]:
        """Give what the command finds set: where the platforms are, and nothing else."""
        own = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "PYTHONPATH": str(ROOT), "TERM": "xterm"}
        places = {"TELEGRAM_API_URL": self.telegram.url, "DISCORD_API_URL": self.discord.api_url}
        return {**own, **places, "KEEPMIND_DATA_DIR": str(self.folder / "data"), **more}

    async def init(self, *options: str, said: str = "", **more: str) -> tuple[int, str, str]:
        """Run it, with lines said through a pipe; give how it ended and what it printed."""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *command(*options), cwd=self.folder, env=self.environ(**more), stdin=pipe, stdout=pipe, stderr=pipe
        )
        out, err = await process.communicate(said.encode())
        assert TOKEN not in f"{out.decode()}{err.decode()}"
        return process.returncode or 0, out.decode(), err.decode()

    def settings(self) -> Settings:
        """Read what was written."""
        return load_settings({}, self.folder)

    @property
    def on_telegram(self) -> tuple[str, ...]:
        """Options for a bot on Telegram, whose model is the server's."""
        return ("--telegram-token", TOKEN, "--base-url", self.model.url, "--model", "gpt-4o-mini", "--yes")


def command(*options: str) -> list[str]:
    return [sys.executable, "-m", "bots", "init", *options]


@pytest.fixture
async def shell(tmp_path: Path) -> AsyncIterator[Shell]:
    async with AsyncExitStack() as stack:
        telegram = await stack.enter_async_context(TelegramServer())
        discord = await stack.enter_async_context(DiscordServer())
        yield Shell(tmp_path, telegram, discord, await stack.enter_async_context(ModelServer([CALLS])))


async def test_told_everything_it_asks_nothing_and_writes_what_only_its_owner_reads(shell: Shell) -> None:
    code, out, err = await shell.init(*shell.on_telegram, "--openai-key", KEY, "--admin", "telegram:42")
    assert code == 0
    assert "keepmind doctor" in out
    assert "keepmind run" in out
    assert "It is that of @keepmind_bot." in err
    assert stat.S_IMODE((shell.folder / ".env").stat().st_mode) == 0o600
    toml = (shell.folder / "keepmind.toml").read_text()
    assert TOKEN not in toml
    assert KEY not in toml
    settings = shell.settings()
    assert settings.telegram.token is not None
    assert settings.telegram.token.get_secret_value() == TOKEN
    assert settings.model.api_key is not None
    assert (settings.model.api_key.get_secret_value(), settings.model.base_url) == (KEY, shell.model.url)
    assert (settings.model.name, settings.access.admins) == ("gpt-4o-mini", ("telegram:42",))
    assert shell.model.faults == []


async def test_through_a_pipe_a_wrong_answer_is_one_sentence_and_asked_again(shell: Shell) -> None:
    answers = ["irc", "both", f"{TOKEN[:-1]}9", TOKEN, "nonsense", DISCORD_TOKEN]
    answers += ["server", "nowhere", f"{NOWHERE}/v1", shell.model.url, "", "gpt-4o-mini"]
    answers += ["mysql://host/name", "", "ann", "42", "99"]
    code, out, err = await shell.init(said="".join(f"{answer}\n" for answer in answers))
    assert code == 0, err
    wrong = [line for line in err.splitlines() if "✗" in line]
    assert len(wrong) == 7
    for words in ("none of telegram", "TELEGRAM_BOT_TOKEN", "DISCORD_BOT_TOKEN", "http://", "can't be reached", "ann"):
        assert any(words in line for line in wrong), words
    assert f"client_id={shell.discord.bot.id}" in err
    assert shell.settings().access.admins == ("telegram:42", "discord:99")
    assert out.count("Written:") == 2


async def test_run_again_what_is_there_is_the_answer_and_other_lines_stay(shell: Shell) -> None:
    await shell.init(*shell.on_telegram, "--admin", "telegram:42")
    with (shell.folder / ".env").open("a") as stream:
        stream.write("# mine\nKEEPMIND_WINDOW__HIGH_TURNS=80\n")
    code, out, _ = await shell.init("--yes")
    assert (code, out.splitlines()[0]) == (0, "Nothing had to be changed.")
    code, _, err = await shell.init("--model", "gpt-4o", said="\n" * 8)
    assert (code, err.splitlines()[-1]) == (1, "keepmind: nothing was written; --yes changes what is there")
    assert shell.settings().model.name == "gpt-4o-mini"
    code, _, _ = await shell.init("--model", "gpt-4o", "--yes", "--allow", "telegram:*")
    settings = shell.settings()
    assert (code, settings.model.name, settings.window.high_turns) == (0, "gpt-4o", 80)
    assert settings.access.allowed == ("console:*", "telegram:*")
    assert settings.access.admins == ("telegram:42",)
    assert "# mine\n" in (shell.folder / ".env").read_text()


async def test_told_something_wrong_and_not_to_ask_it_writes_nothing(shell: Shell) -> None:
    for options in (
        ("--telegram-token", f"{TOKEN[:-1]}9", "--yes"),
        (*shell.on_telegram, "--admin", "telegram:ann"),
        (*shell.on_telegram, "--database-url", "postgresql://keepmind:hunter22@127.0.0.1:9/keepmind"),
    ):
        code, out, err = await shell.init(*options)
        assert (code, out) == (1, "")
        assert err.splitlines()[-1].startswith("keepmind: ")
        assert "Traceback" not in err
        assert "hunter22" not in err
    assert list(shell.folder.iterdir()) == []


async def test_unchecked_it_asks_no_server(shell: Shell) -> None:
    code, _, err = await shell.init(
        "--telegram-token", TOKEN, "--openai-key", KEY, "--yes", "--unchecked", TELEGRAM_API_URL=NOWHERE
    )
    assert (code, err) == (0, "")
    assert shell.settings().model.chosen == "gpt-4o-mini"


async def test_a_postgresql_is_tried_and_its_password_is_kept_out_of_the_settings(
    shell: Shell, postgresql: Server
) -> None:
    code, _, err = await shell.init(*shell.on_telegram, "--database-url", postgresql.fresh())
    assert code == 0, err
    assert "PostgreSQL" in err
    assert "database_url" not in (shell.folder / "keepmind.toml").read_text().replace("#database_url", "")
    assert shell.settings().storage.url.startswith("postgresql")


async def test_in_a_terminal_secrets_are_not_shown_as_they_are_typed(shell: Shell) -> None:
    ours, theirs = os.openpty()
    process = await asyncio.create_subprocess_exec(
        *command(), cwd=shell.folder, env=shell.environ(), stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    talk = Terminal(ours)
    for question, answer in (
        ("Where is the bot to talk?", ""),
        ("Token of the Telegram bot", TOKEN),
        ("Which model?", "server"),
        ("Address of the server", shell.model.url),
        ("API key", KEY),
        ("Name of the model", ""),
        ("Database", ""),
        ("Your own id", "42"),
    ):
        await talk.answers(question, answer)
    await talk.sees("keepmind run")
    assert await process.wait() == 0
    os.close(ours)
    assert TOKEN not in talk.seen
    assert KEY not in talk.seen
    assert shell.settings().access.admins == ("telegram:42",)


class Terminal:
    """Our side of a terminal."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._new = ""
        self.seen = ""

    async def sees(self, words: str) -> None:
        """Read until something is shown that was not seen before. Raises TimeoutError."""
        async with asyncio.timeout(60):
            while words not in self._new:
                piece = (await asyncio.to_thread(os.read, self._descriptor, 4096)).decode(errors="replace")
                self.seen, self._new = self.seen + piece, self._new + piece
        self._new = self._new.partition(words)[2]

    async def answers(self, question: str, answer: str) -> None:
        """Wait for a question to be put whole, and type the answer."""
        await self.sees(question)
        await self.sees(": ")
        os.write(self._descriptor, f"{answer}\n".encode())
