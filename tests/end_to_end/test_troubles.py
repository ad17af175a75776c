"""What goes wrong is told in one sentence, and nothing is lost by it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.end_to_end.bot import Bot, Done
from tests.end_to_end.model_server import ModelServer


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Bot]:
    async with ModelServer() as server:
        yield Bot(server, tmp_path)


def error(body: str, status: int, code: str = "") -> dict[str, object]:
    return {"purpose": "answer", "status": status, "body": {"error": {"message": body, "code": code}}, "times": 1}


def check_sentence(done: Done, *words: str) -> None:
    said = done.err + done.out
    assert "Traceback" not in said
    assert "sk-test" not in said
    for word in words:
        assert word in done.err


async def test_a_wrong_key_is_named_and_the_message_is_kept(bot: Bot) -> None:
    bot.server.rules.append(error("Incorrect API key provided: sk-test-0123456789", 401, "invalid_api_key"))
    done = await bot.keepmind("chat", "--chat", "demo", said="hello\nagain\n")
    check_sentence(done, "OPENAI_API_KEY")
    turns, _, faults = await bot.stored()
    assert [t.message.text for t in turns] == ["hello", "again"]
    assert done.out.splitlines()[-1] == "You said: again"
    assert faults == []


async def test_an_unknown_model_is_named(bot: Bot) -> None:
    bot.server.rules.append(error("The model `x` does not exist", 404, "model_not_found"))
    done = await bot.keepmind("chat", "--chat", "demo", said="hello\n")
    check_sentence(done, "KEEPMIND_MODEL")
    assert done.code == 1


async def test_a_server_that_is_down_is_named_and_the_message_is_answered_when_it_is_back(bot: Bot) -> None:
    bot.settings |= {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "KEEPMIND_MODEL__RETRY_SECONDS": "0"}
    done = await bot.keepmind("chat", "--chat", "demo", said="hello\n")
    check_sentence(done, "OPENAI_BASE_URL")
    del bot.settings["OPENAI_BASE_URL"]
    assert await bot.chat("again") == ["You said: hello", "You said: again"]
    turns, _, _ = await bot.stored()
    assert [t.message.text for t in turns] == ["hello", "again"]


@pytest.mark.parametrize(
    ("setting", "value", "word"),
    [
        ("KEEPMIND_WINDOW__HIGH_TURNS", "many", "KEEPMIND_WINDOW__HIGH_TURNS"),
        ("KEEPMIND_ADMINS", "telegram:@anna", "@anna"),
        ("KEEPMIND_CONFIG", "/nowhere/keepmind.toml", "/nowhere/keepmind.toml"),
        ("KEEPMIND_ENGINE__PERSONA", "nobody", "nobody"),
        ("KEEPMIND_MEMORY__HISTORY", "elephant", "elephant"),
        ("KEEPMIND_MEMORY__BESIDE", "nowhere.at:All", "nowhere.at:All"),
        ("KEEPMIND_DATABASE_URL", "sqlite:////nowhere/at/all.db", "/nowhere"),
        ("KEEPMIND_DATA_DIR", "/proc/nowhere", "/proc/nowhere"),
    ],
)
async def test_a_bad_setting_is_one_sentence_and_a_failure(bot: Bot, setting: str, value: str, word: str) -> None:
    bot.settings[setting] = value
    done = await bot.keepmind("chat", "--chat", "demo", said="hello\n")
    assert done.code == 1
    check_sentence(done, word)
    assert len(done.err.strip().splitlines()) == 1


async def test_a_broken_toml_is_one_sentence(bot: Bot) -> None:
    (bot.folder / "keepmind.toml").write_text("[model\n")
    done = await bot.keepmind("memory", "verify")
    assert done.code == 1
    check_sentence(done, "keepmind.toml")


async def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(bot: Bot) -> None:
    bot.database.parent.mkdir()
    bot.database.write_bytes(b"my diary, not a database" * 100)
    done = await bot.keepmind("chat", "--chat", "demo", said="hello\n")
    assert done.code == 1
    check_sentence(done, "keepmind.db")
    assert bot.database.read_bytes() == b"my diary, not a database" * 100


async def test_a_database_of_another_program_is_refused_and_left_as_it_is(bot: Bot) -> None:
    bot.database.parent.mkdir()
    with sqlite3.connect(bot.database) as other:
        other.execute("create table recipe(id integer primary key)")
    before = bot.database.read_bytes()
    done = await bot.keepmind("chat", "--chat", "demo", said="hello\n")
    assert done.code == 1
    check_sentence(done, "keepmind.db")
    assert bot.database.read_bytes() == before


async def test_a_newer_schema_is_refused_in_one_sentence(bot: Bot) -> None:
    await bot.chat("hello")
    with sqlite3.connect(bot.database) as newer:
        newer.execute("update keepmind_version set version_num = '9999'")
    done = await bot.keepmind("chat", "--chat", "demo", said="hello\n")
    assert done.code == 1
    check_sentence(done, "newer")


async def test_a_locked_database_fails_in_one_sentence_and_works_again_after(bot: Bot) -> None:
    await bot.chat("hello")
    other = sqlite3.connect(bot.database, isolation_level=None)
    other.execute("begin exclusive")
    done = await bot.keepmind("chat", "--chat", "demo", said="while locked\n")
    other.execute("rollback")
    other.close()
    assert done.code == 1
    check_sentence(done, "locked")
    assert await bot.chat("after") == ["You said: after"]


async def test_no_key_and_no_text_stand_in_the_log(bot: Bot) -> None:
    bot.settings["KEEPMIND_LOG_LEVEL"] = "INFO"
    done = await bot.keepmind("chat", "--chat", "demo", said="my secret is zebra\n")
    assert done.code == 0
    assert "zebra" not in done.err
    assert not re.search(r"sk-|\d{5,}:[A-Za-z0-9_-]{30,}", done.err)
