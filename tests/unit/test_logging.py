"""The log: no secret ever, one line or one JSON object a record."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters import documents
from adapters.documents import Unreadable
from bots.logging import HIDDEN, Redaction, secrets, set_up_logging
from config.settings import Settings, load_settings

TOKEN = "123456789:AAabcdefghijklmnopqrstuvwxyz0123456"
KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz"
DISCORD = "MTExMTExMTExMTExMTExMTEx.GabcDE.abcdefghijklmnopqrstuvwxyz0123"
SECRETS = [TOKEN, KEY, DISCORD, "hush-hush"]
LOGGERS = ("httpx", "httpx2", "httpcore", "openai", "telegram", "discord", "alembic", "asyncio")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.NOTSET)


def settings(**log: str) -> Settings:
    return Settings.model_validate({"log": log, "model": {"api_key": "hush-hush"}})


@pytest.mark.parametrize("form", ["console", "json"])
@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_hidden_wherever_it_stands(capsys: pytest.CaptureFixture[str], form: str, secret: str) -> None:
    set_up_logging(settings(format=form))
    log = logging.getLogger("keepmind.test")
    log.warning("asked with %s", secret)
    log.warning("asked", extra={"header": f"Bearer {secret}"})
    try:
        raise ValueError(f"POST https://api.telegram.org/bot{TOKEN}/getMe?key={secret}")
    except ValueError:
        log.exception("failed")
    said = capsys.readouterr().err
    assert secret not in said
    assert said.count(HIDDEN) >= 3


def test_the_password_of_a_database_is_hidden() -> None:
    cleaned = Redaction().clean("can't open postgresql://me:s3cret@db.example/keepmind")
    assert cleaned == f"can't open postgresql://{HIDDEN}@db.example/keepmind"


def test_the_path_of_a_database_is_shown(tmp_path: Path) -> None:
    given = load_settings({"KEEPMIND_DATABASE_URL": "/data/keepmind.db", "OPENAI_API_KEY": KEY}, tmp_path)
    assert Redaction(secrets(given)).clean(f"/data/keepmind.db {KEY}") == f"/data/keepmind.db {HIDDEN}"


def test_ids_and_times_are_left_as_they_are() -> None:
    text = "turn 17 of telegram:-1001502049385/17 at 2026-01-02 03:04:05 took 0.25 s"
    assert Redaction(["42"]).clean(text) == text


@pytest.mark.parametrize("name", LOGGERS)
def test_libraries_are_quiet(capsys: pytest.CaptureFixture[str], name: str) -> None:
    set_up_logging(settings(level="DEBUG"))
    logging.getLogger(name).info("HTTP Request: POST https://api.telegram.org/bot…/getMe")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("level", ["INFO", "DEBUG"])
def test_what_stands_in_peoples_files_is_in_no_log(capfd: pytest.CaptureFixture[str], level: str) -> None:
    set_up_logging(settings(level=level))
    with pytest.raises(Unreadable):
        documents.read("a.pdf", "", b"a secret")
    assert "a sec" not in capfd.readouterr().err


@pytest.mark.parametrize("address", ["postgresql://me:s3/cr@t@db/x", "http://me:s3:cr@t@h", "redis://:s3cr@t@h/0"])
def test_a_password_of_any_marks_is_hidden_in_an_address(address: str) -> None:
    cleaned = Redaction().clean(f"can't open {address} now")
    assert "s3" not in cleaned
    assert "cr" not in cleaned


def test_the_password_of_an_address_is_hidden_alone_too(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging(Settings.model_validate({"storage": {"database_url": "postgresql://me:s3%40cret@db/x"}}))
    logging.getLogger("keepmind.test").error("refused: s3@cret and s3%%40cret and %s", "s3%40cret")
    assert "cret" not in capsys.readouterr().err


@pytest.mark.parametrize("form", ["console", "json"])
def test_nobody_can_forge_an_entry(capsys: pytest.CaptureFixture[str], form: str) -> None:
    set_up_logging(settings(format=form))
    logging.getLogger("keepmind.test").warning(
        "model=%s", "m\n2026 ERROR forged\r\u2028\x1b[2J\ud800", extra={"a": "b\nc"}
    )
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_long_lines_are_cleaned_in_no_time() -> None:
    for atom in ("1", "1:", "://a:", "a.", "sk-", "Bearer "):
        Redaction(["secret"]).clean(atom * (200_000 // len(atom)))


@pytest.mark.parametrize("level", ["INFO", "DEBUG"])
def test_what_a_library_met_is_named_and_where_it_did_is_for_debugging(
    capsys: pytest.CaptureFixture[str], level: str
) -> None:
    set_up_logging(settings(level=level))
    try:
        raise ValueError("no route")
    except ValueError:
        logging.getLogger("discord.shard").exception("Attempting a reconnect in %.2fs", 1.5)
    said = capsys.readouterr().err
    assert "Attempting a reconnect in 1.50s" in said
    assert "ValueError" in said
    assert ("Traceback" in said) == (level == "DEBUG")


async def test_a_librarys_task_that_broke_is_named_without_the_words_that_were_in_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def broken() -> None:
        raise ValueError("a private word")

    set_up_logging(settings())
    task = asyncio.create_task(broken())
    await asyncio.wait([task])
    del task
    gc.collect()
    said = capsys.readouterr().err
    assert said.endswith("Task exception was never retrieved: ValueError\n")
    assert said.count("\n") == 1


def test_the_token_of_an_interaction_is_hidden() -> None:
    token = "aW50ZXJhY3Rpb246" * 8
    for path in ("webhooks/118730123456789", "interactions/118730123456789"):
        assert token not in Redaction().clean(f"PATCH https://discord.com/api/v10/{path}/{token}/messages/@original")


def test_the_level_is_the_one_that_is_set_or_the_command_has(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging(settings(), "WARNING")
    logging.getLogger("keepmind").info("unseen")
    set_up_logging(settings(level="INFO"), "WARNING")
    logging.getLogger("keepmind").info("seen")
    said = capsys.readouterr().err
    assert "unseen" not in said
    assert said.endswith("INFO seen\n")


def test_extras_stand_behind_the_message(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging(settings())
    logging.getLogger("keepmind").info("turn answered", extra={"turn": 17, "chat": "console:demo"})
    assert capsys.readouterr().err.endswith("INFO turn answered turn=17 chat=console:demo\n")


def test_a_record_can_be_json(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging(settings(format="json"))
    logging.getLogger("keepmind").info("turn %s answered", 17, extra={"chat": "console:demo"})
    entry = json.loads(capsys.readouterr().err)
    assert entry.pop("time").endswith("+00:00")
    assert entry == {"level": "INFO", "logger": "keepmind", "message": "turn 17 answered", "chat": "console:demo"}
