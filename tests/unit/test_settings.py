"""Settings: where they come from, and what is said of one that can't be used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from config.settings import Settings, load_settings
from core.errors import ConfigError
from tests import configuration
from tests.configuration import DEFAULTS

KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789"
TOKEN = "123456789:AAabcdefghijklmnopqrstuvwxyz0123456"
Load = Callable[..., Settings]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    return lambda **environ: load_settings(environ, tmp_path)


def complaint(load: Load, **environ: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(**environ)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_nothing_set_is_the_defaults(load: Load) -> None:
    assert load() == Settings()
    assert load().model.embedded
    assert load().model.chosen == "local"
    assert load().access.allowed == ("console:*",)


def test_an_answer_may_be_as_long_as_is_set_and_the_small_local_model_is_stopped_sooner(load: Load) -> None:
    assert load().model.longest_reply == 256
    assert load(OPENAI_API_KEY=KEY).model.longest_reply == 1024
    assert load(KEEPMIND_MODEL__REPLY_TOKENS="2000").model.longest_reply == 2000


def test_defaults_do_not_depend_on_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEPMIND_WINDOW__HIGH_TURNS", "99")
    assert Settings().window.high_turns == 60


def _uncommented() -> dict[str, Any]:
    lines = DEFAULTS.read_text().splitlines()
    return tomllib.loads("\n".join(re.sub(r"^#(?=\w+ = )", "", line) for line in lines))


def test_the_default_file_holds_every_setting_with_its_default() -> None:
    written = _uncommented()
    assert Settings.model_validate(written) == Settings()
    assert {section: list(table) for section, table in written.items()} == {
        section: list(_section(section).model_fields) for section in Settings.model_fields
    }


def test_a_blank_in_the_default_file_stands_for_none_or_a_folder_of_the_machine() -> None:
    settings = Settings()
    blank = [(s, key) for s, table in _uncommented().items() for key, value in table.items() if value == ""]
    values = [getattr(getattr(settings, section), key) for section, key in blank]
    assert {type(value) for value in values} <= {type(None), type(settings.storage.data_dir)}


def test_the_default_file_and_the_page_are_what_make_configuration_writes() -> None:
    assert DEFAULTS.read_text(encoding="utf-8") == configuration.defaults()
    assert configuration.PAGE.read_text(encoding="utf-8") == configuration.page()


def _section(name: str) -> type[BaseModel]:
    section = Settings.model_fields[name].annotation
    assert isinstance(section, type)
    assert issubclass(section, BaseModel)
    return section


def test_the_default_file_itself_changes_nothing(load: Load) -> None:
    assert load(KEEPMIND_CONFIG=str(DEFAULTS)) == Settings()


def test_plain_names(load: Load) -> None:
    settings = load(
        OPENAI_API_KEY=KEY,
        OPENAI_BASE_URL="http://localhost:11434/v1",
        KEEPMIND_MODEL="llama3",
        KEEPMIND_DATABASE_URL="postgresql://me:secret@db/keepmind",
        KEEPMIND_DATA_DIR="/data",
        KEEPMIND_ADMINS="telegram:42, discord:99",
        KEEPMIND_ALLOWED="telegram:-1001502049385,discord:*,console:anna,",
        KEEPMIND_LOG_LEVEL="debug",
        TELEGRAM_BOT_TOKEN=TOKEN,
        DISCORD_BOT_TOKEN="abc",
    )
    assert settings.model.api_key == SecretStr(KEY)
    assert settings.model.base_url == "http://localhost:11434/v1"
    assert settings.model.chosen == "llama3"
    assert not settings.model.embedded
    assert settings.storage.url == "postgresql://me:secret@db/keepmind"
    assert settings.storage.data_dir == Path("/data")
    assert settings.access.admins == ("telegram:42", "discord:99")
    assert settings.access.allowed == ("telegram:-1001502049385", "discord:*", "console:anna")
    assert settings.log.level == "DEBUG"
    assert settings.telegram.token == SecretStr(TOKEN)
    assert settings.discord.token == SecretStr("abc")


def test_secrets_are_not_shown(load: Load) -> None:
    settings = load(OPENAI_API_KEY=KEY, TELEGRAM_BOT_TOKEN=TOKEN, KEEPMIND_DATABASE_URL="postgresql://me:hush@db/k")
    assert not any(secret in repr(settings) for secret in (KEY, TOKEN, "hush"))


def test_any_setting_by_section_and_name(load: Load) -> None:
    settings = load(
        KEEPMIND_WINDOW__HIGH_TURNS="80",
        KEEPMIND_ENGINE__QUIET_SECONDS="0",
        KEEPMIND_MODEL__CALLS_TOOLS="false",
        KEEPMIND_MEMORY__BESIDE="profile,my_bot.moods:Mood",
        KEEPMIND_PROFILE__FIELDS="name, pets",
    )
    assert settings.window.high_turns == 80
    assert settings.engine.quiet_seconds == 0
    assert settings.model.calls_tools is False
    assert settings.memory.beside == ("profile", "my_bot.moods:Mood")
    assert settings.profile.fields == ("name", "pets")


def test_the_environment_wins_over_dotenv_and_dotenv_over_the_file(load: Load, tmp_path: Path) -> None:
    (tmp_path / "keepmind.toml").write_text("[window]\nhigh_turns = 70\nlow_turns = 10\nidle_turns = 3\n")
    (tmp_path / ".env").write_text("KEEPMIND_WINDOW__LOW_TURNS=11\nKEEPMIND_WINDOW__HIGH_TURNS=71\nPATH_OF_ANOTHER=1\n")
    window = load(KEEPMIND_WINDOW__HIGH_TURNS="72").window
    assert (window.high_turns, window.low_turns, window.idle_turns) == (72, 11, 3)


def test_an_empty_variable_takes_back_what_dotenv_says(load: Load, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"OPENAI_API_KEY={KEY}\n")
    assert not load().model.embedded
    assert load(OPENAI_API_KEY="").model.embedded


def test_dotenv_may_name_the_file(load: Load, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('[engine]\nname = "Ada"\n')
    (tmp_path / ".env").write_text("KEEPMIND_CONFIG=mine.toml\n")
    assert load().engine.name == "Ada"


def test_a_blank_setting_is_its_default(load: Load, tmp_path: Path) -> None:
    (tmp_path / "keepmind.toml").write_text('[model]\ncontext = ""\ntemperature = ""\n[engine]\nname = ""\n')
    assert load() == Settings()


def test_a_file_written_on_windows_is_read(load: Load, tmp_path: Path) -> None:
    (tmp_path / "keepmind.toml").write_bytes(b'\xef\xbb\xbf[engine]\r\nname = "Ada"\r\n')
    assert load().engine.name == "Ada"


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        (
            {"KEEPMIND_WINDOW__HIGH_TURNS": "many"},
            "KEEPMIND_WINDOW__HIGH_TURNS is 'many'; it must be a whole number from 1 to 1,000,000",
        ),
        (
            {"KEEPMIND_MODEL__REPLY_TOKENS": "0"},
            "KEEPMIND_MODEL__REPLY_TOKENS is '0'; it must be a whole number from 16 to 1,000,000",
        ),
        (
            {"KEEPMIND_CLOCK__JOB_SECONDS": "0"},
            "KEEPMIND_CLOCK__JOB_SECONDS is '0'; it must be a number above 0 up to 86,400",
        ),
        (
            {"KEEPMIND_MODEL__TEMPERATURE": "nan"},
            "KEEPMIND_MODEL__TEMPERATURE is 'nan'; it must be a number from 0 to 2",
        ),
        (
            {"KEEPMIND_LOG_LEVEL": "loud"},
            "KEEPMIND_LOG_LEVEL is 'LOUD'; it must be one of DEBUG, INFO, WARNING, ERROR",
        ),
        (
            {"KEEPMIND_MODEL__CALLS_TOOLS": "maybe"},
            "KEEPMIND_MODEL__CALLS_TOOLS is 'maybe'; it must be auto or true or false",
        ),
        (
            {"KEEPMIND_ALLOWED": "telegram:42,telegram:@anna"},
            "KEEPMIND_ALLOWED: 'telegram:@anna' must have a numeric id, since names can be taken over by others",
        ),
        (
            {"KEEPMIND_ADMINS": "@anna"},
            "KEEPMIND_ADMINS: '@anna' must be written platform:id, such as telegram:42, discord:99 or console:*",
        ),
        (
            {"KEEPMIND_ADMINS": "discord:*"},
            "KEEPMIND_ADMINS: 'discord:*' would make everyone an admin; write numeric ids",
        ),
        (
            {"KEEPMIND_ENGINE__TIME_ZONE": "Rome"},
            "KEEPMIND_ENGINE__TIME_ZONE: 'Rome' is no time zone; write an IANA name such as Europe/Rome",
        ),
        (
            {"KEEPMIND_ENGINE__LANGUAGE": "tlh"},
            "KEEPMIND_ENGINE__LANGUAGE: 'tlh' is not spoken here; write one of en, ru, zh",
        ),
        (
            {"KEEPMIND_MEMORY__HISTORY": "../x"},
            "KEEPMIND_MEMORY__HISTORY: '../x' is no kind of memory;"
            " write its name, or package.module:Class for your own",
        ),
        (
            {"KEEPMIND_WINDOW__LOW_TURNS": "60"},
            "KEEPMIND_WINDOW__LOW_TURNS is 60; it must be less than window.high_turns, which is 60",
        ),
        (
            {"OPENAI_BASE_URL": "localhost"},
            "OPENAI_BASE_URL: it must be an address that begins with http:// or https://",
        ),
        (
            {"KEEPMIND_WINDOW__HIHG_TURNS": "5"},
            "KEEPMIND_WINDOW__HIHG_TURNS is not a setting; did you mean high_turns?",
        ),
        ({"KEEPMIND_MEMROY__HISTORY": "none"}, "KEEPMIND_MEMROY__HISTORY is not a setting; did you mean memory?"),
        ({"KEEPMIND_MODLE": "ada"}, "KEEPMIND_MODLE is not a setting; did you mean KEEPMIND_MODEL?"),
    ],
)
def test_a_bad_value_is_named_with_what_is_allowed(load: Load, environ: Mapping[str, str], said: str) -> None:
    assert complaint(load, **environ) == said


@pytest.mark.parametrize(("tag", "language"), [("ru_RU", "ru"), ("zh-hans", "zh"), ("EN", "en"), ("", "en")])
def test_a_language_may_be_written_with_its_country_or_script(load: Load, tag: str, language: str) -> None:
    assert load(KEEPMIND_ENGINE__LANGUAGE=tag).engine.language == language


def test_names_of_others_with_our_prefix_are_left_alone(load: Load) -> None:
    assert load(KEEPMIND_IMAGE_TAG="1") == load()


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[window]\nhigh_turns = 0", "window.high_turns in {file} is 0; it must be a whole number from 1 to 1,000,000"),
        ("[window]\nhihg_turns = 1", "window.hihg_turns in {file} is not a setting; did you mean high_turns?"),
        ("[windows]\nhigh_turns = 1", "windows in {file} is not a setting; did you mean window?"),
        ("window = 5", "window in {file} is a section of settings: write it as [window] with its settings below"),
        ("name = 'Ada'", "name in {file} is not a setting"),
        (
            "[window]\nlow_turns = 70",
            "window.low_turns in {file} is 70; it must be less than window.high_turns, which is 60",
        ),
        ("[profile]\nfields = 5", "profile.fields in {file} is 5; it must be a list of names"),
        ("a = " + "[" * 5000, "{file} is not valid TOML: maximum recursion depth exceeded"),
        ("[window", "{file} is not valid TOML: Expected ']' at the end of a table declaration (at end of document)"),
    ],
)
def test_a_bad_file_is_named_with_what_is_wrong(load: Load, tmp_path: Path, toml: str, said: str) -> None:
    file = tmp_path / "keepmind.toml"
    file.write_text(toml)
    assert complaint(load) == said.format(file=file)


def test_a_file_that_is_not_there_or_not_text(load: Load, tmp_path: Path) -> None:
    assert complaint(load, KEEPMIND_CONFIG="no.toml").endswith("and there is no such file")
    assert "can't be read" in complaint(load, KEEPMIND_CONFIG=str(tmp_path))
    (tmp_path / "keepmind.toml").write_bytes(b"\xff\xfe\x00")
    assert "is not valid TOML" in complaint(load)


def test_a_dotenv_that_is_not_text(load: Load, tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"\xff\xfe\x00")
    assert ".env can't be read as UTF-8 text" in complaint(load)


@pytest.mark.parametrize("path", ["keepmind.db", "/data/keepmind.db", "~/data/keepmind.db"])
def test_a_database_may_be_named_by_its_path(load: Load, path: str) -> None:
    assert load(KEEPMIND_DATABASE_URL=path).storage.url == path


@pytest.mark.parametrize("word", ["postgres", "yes", "me:hush@db/name", "12:x", "sqlite:keepmind.db"])
def test_a_word_is_no_database(load: Load, word: str) -> None:
    assert "it must be the path of a SQLite file, or an address" in complaint(load, KEEPMIND_DATABASE_URL=word)


@pytest.mark.parametrize(
    "environ",
    [
        {"KEEPMIND_DATABASE_URL": "me:hush-1@db"},
        {"OPENAI_BASE_URL": "me:hush-1@server"},
        {"KEEPMIND_MODEL__CONTEXT": KEY + "hush-1"},
        {"KEEPMIND_WINDOW__HIGH_TURNS": TOKEN + "hush-1"},
    ],
)
def test_no_secret_is_in_an_error(load: Load, environ: Mapping[str, str]) -> None:
    assert "hush-1" not in complaint(load, **environ)


def test_importing_the_settings_reads_nothing(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"\xff\xfe")
    (tmp_path / "keepmind.toml").write_text("[broken")
    root = str(Path(__file__).parents[2])
    env = {**os.environ, "PYTHONPATH": root, "KEEPMIND_CONFIG": "nowhere.toml"}
    subprocess.run([sys.executable, "-c", "import config.settings"], cwd=tmp_path, env=env, check=True)


@pytest.mark.parametrize(
    ("environ", "hears"),
    [
        ({}, False),
        ({"OPENAI_API_KEY": KEY}, True),
        ({"OPENAI_API_KEY": KEY, "KEEPMIND_MODEL__TRANSCRIPTION": "off"}, False),
        ({"OPENAI_BASE_URL": "http://localhost:1/v1", "KEEPMIND_MODEL__TRANSCRIPTION": "whisper-large"}, True),
    ],
)
def test_recordings_are_written_down_where_a_server_is_named(load: Load, environ: dict[str, str], hears: bool) -> None:
    assert load(**environ).model.hears is hears
