"""`keepmind dev discord`: a bot on a Discord of this machine, line by line through a pipe."""

from __future__ import annotations

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
    done = await bot.keepmind("dev", "discord", *more, said="".join(f"{line}\n" for line in lines))
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
        "/memory view",
        ":choose 1",
        "/export",
        ":save",
        "x" * 2001,
        ":on Forget this message",
        ":dance",
        "/nothing",
        ":press 9",
        "::smile",
        ":menu",
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
    assert "  (1) name" in shown
    assert "message.txt" in shown, "a long text is pasted as a file"
    assert "Keepmind: Erased: turns: 1." in shown
    assert "Keepmind: You said: :smile" in shown
    assert "/memory set KEY [VALUE]" in out
    assert ":photo FILE" in shown
    assert complaints == [
        ":dance is not known; :help lists what is",
        "/nothing: there is no such command; :menu lists what there is",
        ":press: give a number from 1 to 5",
    ]
    [saved] = bot.folder.glob("keepmind-export-*.json")
    assert "good day" in saved.read_text(), "memory follows an edit"
    out, _ = await talked(bot, "Who am I?", "/forget me", ":press 1", "/memory view")
    assert out[0] == "Keepmind: You said: Who am I?"
    assert '"name": "Ann"' in "\n".join(map(text_of, bot.server.journal[-1]["request"]["messages"]))
    assert "Keepmind: I know no facts about you yet." in out[-3:]


async def test_a_server_is_told_apart_and_answered_when_it_calls_the_bot(bot: Bot) -> None:
    out, complaints = await talked(
        bot,
        "just talk",
        "@Keepmind I am Ann",
        "/memory view",
        ":as Bob",
        "@Keepmind hi",
        ":thread Side talk",
        "@Keepmind aside",
        ":channel",
        "/admin stats",
        more=("--group",),
    )
    assert "Keepmind: Hello Ann!" in out
    assert any(line.startswith("Keepmind (to Ann alone): ") for line in out)
    assert any(line.startswith("Keepmind: Hello! Here I remember") for line in out)
    assert "You are Bob." in out
    assert "Keepmind: You said: [Bob] hi" in out
    assert "Keepmind (in Side talk): You said: [Bob] aside" in out
    assert "just talk" not in str(bot.server.journal)
    assert complaints == ["/admin: there is no such command; :menu lists what there is"], "Bob does not run the server"
