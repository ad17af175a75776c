"""`keepmind dev telegram`: a bot on a Telegram of this machine, line by line through a pipe."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import pty
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.end_to_end.bot import Bot
from tests.end_to_end.model_server import ModelServer, text_of

NAMED = {
    "match": "I am Ann",
    "calls": [{"name": "update_memory", "arguments": {"action": "add", "key": "name", "value": "Ann"}}],
    "reply": "Hello Ann!",
}


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Bot]:
    async with ModelServer([NAMED]) as server:
        yield Bot(server, tmp_path)
        assert server.faults == []


async def talked(bot: Bot, *lines: str, more: tuple[str, ...] = ()) -> tuple[list[str], list[str]]:
    """Give what was printed and what was complained of."""
    done = await bot.keepmind("dev", "telegram", *more, said="".join(f"{line}\n" for line in lines))
    assert done.code == 0, done.err
    return done.out.splitlines(), done.err.splitlines()


async def test_a_person_chats_without_a_token_and_is_known_the_next_time(bot: Bot) -> None:
    (bot.folder / "note.ogg").write_bytes(b"OggSspoken words")
    (bot.folder / "my notes.md").write_text("# Zebra")
    out, complaints = await talked(
        bot,
        "hello",
        ":edit good day",
        "I am Ann",
        ":reply why?",
        ":voice note.ogg",
        ":file 'my notes.md' what is it?",
        "/forget me",
        ":press 2",
        "/export",
        ":save",
        ":dance",
        "::smile",
        ":help",
    )
    shown = "\n".join(out)
    assert out[:4] == [
        "Keepmind: You said: hello",
        "Keepmind: Hello Ann!",
        "Keepmind: You said: (in reply to your message: «Hello Ann!»)",
        "why?",
    ], "an edit is not answered again"
    assert "spoken words" in shown
    assert "Zebra" in shown
    assert "  [1] Erase everything" in shown
    assert "Keepmind: You said: :smile" in shown
    assert ":photo FILE" in shown
    assert complaints == [":press: give a number from 1 to 1", ":dance is not known; :help lists what is"]
    [saved] = bot.folder.glob("keepmind-export-*.json")
    assert "good day" in saved.read_text(), "memory follows an edit"
    out, _ = await talked(bot, "Who am I?", "/forget me", ":press 1", "/memory")
    assert out[0] == "Keepmind: You said: Who am I?"
    assert '"name": "Ann"' in "\n".join(map(text_of, bot.server.journal[-1]["request"]["messages"]))
    assert "Keepmind: I know no facts about you yet." in out[-2:]


async def test_a_group_is_told_apart_and_answered_when_it_calls_the_bot(bot: Bot) -> None:
    out, _ = await talked(
        bot, "just talk", "@keepmind_bot I am Ann", "/memory", ":as Bob", "@keepmind_bot hi", more=("--group",)
    )
    assert out[0].startswith("Keepmind: Hello! Here I remember")
    assert out[1] == "Keepmind: Hello Ann!"
    assert out[2].startswith("Keepmind (to Ann alone): ")
    assert out[-2:] == ["You are Bob.", "Keepmind: You said: [Bob] @keepmind_bot hi"]
    assert "just talk" not in str(bot.server.journal)


async def test_at_a_terminal_it_prompts_and_ends_with_the_input(bot: Bot) -> None:
    master, slave = pty.openpty()
    process = await bot.start("-m", "bots", "dev", "telegram", terminal=slave)
    os.close(slave)
    shown = asyncio.StreamReader()
    with io.FileIO(master, "r+") as terminal:
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(shown), terminal)
        terminal.write(b"hello\r")
        await shown.readuntil(b"Keepmind: You said: hello")
        await shown.readuntil(b"Ann>")  # before it prompts anew the terminal would swallow what comes
        terminal.write(b"\x04")
        with contextlib.suppress(OSError):
            await shown.read()
        assert await process.wait() == 0
