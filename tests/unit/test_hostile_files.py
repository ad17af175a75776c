"""The operator's files may hold anything: what can't be used is one sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.sql import open_store
from config.form import load_form
from config.persona import load_persona
from config.settings import load_settings
from core.errors import ConfigError, StoreError

PARTS = [
    *("+++", "\n", "\r\n", "name = ", "'''", '"""', "[a]", "[[a]]", "a.b.c = 1", "= ", '"', "[", "]", "{", "}", "\\"),
    *(
        'model = "x"',
        'language = "en"',
        'beside = ["profile"]',
        'text = "x"\n',
        "1e400",
        "0x" + "f" * 40,
        "99999-01-01",
    ),
    *("nan", "\0", "\ufeff", "\u2028", "\x85", '"a\\nb" = 1\n', '"\\u0000" = 1\n', "x" * 3000, "1" * 5000, "[" * 3000),
    *(
        "[model]\n",
        "[memory]\n",
        "[engine]\n",
        "[storage]\n",
        'data_dir = "~nobody-here/x"\n',
        'data_dir = "a\\u0000"\n',
    ),
    *(
        'time_zone = "../../etc/passwd"\n',
        'personas = ["telegram:42=tutor"]\n',
        "admins = [1]\n",
        "KEEPMIND_CONFIG=~x/y\n",
    ),
    *("export ", "KEEPMIND_DATA_DIR=", "TELEGRAM_BOT_TOKEN='", "$(ls)", "${HOME}", "#", "\U0001f600"),
]
WRITTEN = st.one_of(
    st.lists(st.sampled_from(PARTS), max_size=12).map(lambda parts: "".join(parts).encode()),
    st.lists(st.sampled_from(PARTS), max_size=12).map(lambda parts: f"+++\n{''.join(parts)}\n+++\nYou are.".encode()),
    st.binary(max_size=100),
)
LOADERS: dict[str, Callable[[Path], object]] = {
    "keepmind.toml": lambda path: load_settings({}, path.parent),
    ".env": lambda path: load_settings({}, path.parent),
    "persona.md": lambda path: load_persona(str(path)),
    "form.txt": lambda path: load_form(str(path)),
}


def _loaded(name: str, path: Path) -> str:
    """Read a file as what its name says; give the sentence that is said of it."""
    try:
        LOADERS[name](path)
    except ConfigError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", LOADERS)
@given(WRITTEN)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_may_hold_anything(tmp_path: Path, name: str, written: bytes) -> None:
    (tmp_path / name).write_bytes(written)
    assert len(_loaded(name, tmp_path / name).splitlines()) <= 1


@pytest.mark.parametrize("name", LOADERS)
def test_a_file_without_end_or_that_is_none_is_not_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for target in (tmp_path, path, Path("/dev/zero")):
        path.unlink(missing_ok=True)
        path.symlink_to(target)
        assert _loaded(name, path) or not path.is_file()
    path.unlink()
    path.write_bytes(b"# " + b"x" * 2**20)
    assert "megabyte" in _loaded(name, path)


@pytest.mark.parametrize(
    "load",
    [
        lambda home: load_settings({"KEEPMIND_CONFIG": home}, Path()),
        lambda home: load_settings({"KEEPMIND_DATA_DIR": home}, Path("/")),
        load_persona,
        load_form,
    ],
)
def test_a_home_that_is_not_there_is_told(load: Callable[[str], object]) -> None:
    with pytest.raises(ConfigError):
        load("~nobody-here/x")


async def test_a_database_in_a_home_that_is_not_there_is_told() -> None:
    for url in ("~nobody-here/x.db", "sqlite:///~nobody-here/x.db"):
        with pytest.raises(StoreError):
            await open_store(url)
