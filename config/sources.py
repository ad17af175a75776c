"""Where settings come from: the environment, `.env`, a TOML file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from io import StringIO
from pathlib import Path
from typing import Any

from dotenv import dotenv_values

from config.files import path_of, text_of
from core.errors import ConfigError

PREFIX = "KEEPMIND_"
CONFIG = "KEEPMIND_CONFIG"
PLAIN = {
    "OPENAI_API_KEY": ("model", "api_key"),
    "OPENAI_BASE_URL": ("model", "base_url"),
    "KEEPMIND_MODEL": ("model", "name"),
    "KEEPMIND_DATABASE_URL": ("storage", "database_url"),
    "KEEPMIND_DATA_DIR": ("storage", "data_dir"),
    "KEEPMIND_ADMINS": ("access", "admins"),
    "KEEPMIND_ALLOWED": ("access", "allowed"),
    "KEEPMIND_LOG_LEVEL": ("log", "level"),
    "TELEGRAM_BOT_TOKEN": ("telegram", "token"),
    "TELEGRAM_API_URL": ("telegram", "api_url"),
    "TELEGRAM_WEBHOOK_URL": ("telegram", "webhook_url"),
    "TELEGRAM_WEBHOOK_SECRET": ("telegram", "webhook_secret"),
    "TELEGRAM_WEBHOOK_PORT": ("telegram", "webhook_port"),
    "DISCORD_BOT_TOKEN": ("discord", "token"),
    "DISCORD_API_URL": ("discord", "api_url"),
    "DISCORD_GATEWAY_URL": ("discord", "gateway_url"),
}
Place = tuple[str, ...]


@dataclass(frozen=True)
class Given:
    """What the operator set: values by section and name, and how each place was written."""

    values: dict[str, Any] = field(default_factory=dict)
    written: dict[Place, str] = field(default_factory=dict)

    def put(self, place: Place, value: Any, written: str) -> None:
        """Set a value over what a weaker source gave."""
        section = self.values.setdefault(place[0], {})
        if not isinstance(section, dict):
            section = self.values[place[0]] = {}
        section[place[1]] = value
        self.written[place] = written


def read(environ: Mapping[str, str] | None, folder: Path) -> Given:
    """Gather what is set, stronger sources over weaker. Raises ConfigError for a file that can't be read."""
    names = {**read_dotenv(folder / ".env"), **(os.environ if environ is None else environ)}
    names = {name: value for name, value in names.items() if value.strip()}
    _refuse_misspelt(names)
    given = Given()
    _put_file(given, _file(names, folder))
    for place, value, name in _places(names):
        given.put(place, value, name)
    return given


def _refuse_misspelt(names: Iterable[str]) -> None:
    """Refuse a name that is nearly one of ours; others with our prefix may belong to what starts the bot."""
    for name in names:
        if name.startswith(PREFIX) and "__" not in name and name not in {*PLAIN, CONFIG}:
            near = get_close_matches(name, [*PLAIN, CONFIG], n=1, cutoff=0.85)
            if near:
                raise ConfigError(f"{name} is not a setting; did you mean {near[0]}?")


def _places(names: Mapping[str, str]) -> Iterator[tuple[Place, str, str]]:
    for name, place in PLAIN.items():
        if name in names:
            yield place, names[name], name
    for name, value in names.items():
        section, separator, key = name.removeprefix(PREFIX).lower().partition("__")
        if name.startswith(PREFIX) and section and separator and key:
            yield (section, key), value, name


def read_dotenv(path: Path) -> dict[str, str]:
    """Read a file of variables, where there is one. Raises ConfigError."""
    if not path.is_file():
        return {}
    try:
        found = dotenv_values(stream=StringIO(text_of(path)), interpolate=False)
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror}") from None
    except ValueError:
        raise ConfigError(f"{path} can't be read as UTF-8 text of at most a megabyte") from None
    return {name: value for name, value in found.items() if value is not None}


def _file(names: Mapping[str, str], folder: Path) -> Path | None:
    if CONFIG in names:
        try:
            return folder / path_of(names[CONFIG])
        except ValueError as error:
            raise ConfigError(f"{CONFIG} can't be used: {error}") from None
    path = folder / "keepmind.toml"
    return path if path.is_file() else None


def _put_file(given: Given, path: Path | None) -> None:
    for section, table in (_toml(path) if path else {}).items():
        given.values[section] = table
        given.written[(section,)] = f"{section} in {path}"
        for key in table if isinstance(table, dict) else ():
            given.written[section, key] = f"{section}.{key} in {path}"


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text_of(path))
    except FileNotFoundError:
        raise ConfigError(f"{CONFIG} names {path}, and there is no such file") from None
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
