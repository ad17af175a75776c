"""Changes single values in a `.env` and in a TOML file; every other line stays as it is."""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

from dotenv import dotenv_values

import config
from config.sources import Place
from core.errors import ConfigError

Value = str | Sequence[str]
DEFAULTS = Path(config.__file__).parent / "default.toml"
PRIVATE, PUBLIC = 0o600, 0o644
_HEADER = re.compile(r"\s*\[\s*([\w.-]+)\s*\]\s*(#.*)?")
_PLAIN = re.compile(r"[\w:./@%+=,*~-]*", re.ASCII)


def with_variables(text: str, values: Mapping[str, str]) -> str:
    """Set variables in the text of a `.env`; a blank value takes one away. Raises ConfigError where it can't."""
    lines = text.splitlines()
    for name, value in values.items():
        mine = [number for number, line in enumerate(lines) if re.match(rf"\s*(export\s+)?{name}\s*=", line)]
        at = mine[0] if mine else len(lines)
        lines = [line for number, line in enumerate(lines) if number not in mine]
        lines[at:at] = [f"{name}={_quoted(value)}"] if value else []
    changed = "\n".join(lines) + "\n" if lines else ""
    expected = {**_variables(text), **values}
    if _variables(changed) != {name: value for name, value in expected.items() if value or name not in values}:
        raise ConfigError(f".env can't be changed line by line; write {', '.join(values)} there by hand")
    return changed


def _variables(text: str) -> dict[str, str | None]:
    return dict(dotenv_values(stream=StringIO(text), interpolate=False))


def _quoted(value: str) -> str:
    if _PLAIN.fullmatch(value):
        return value
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def with_settings(text: str, values: Mapping[Place, Value], name: str = "keepmind.toml") -> str:
    """Set values in the text of a TOML file; a blank one becomes the default. Raises ConfigError where it can't."""
    before = changed = text or DEFAULTS.read_text(encoding="utf-8")
    for place, value in values.items():
        changed = _with_setting(changed, place, value)
    if _parsed(changed) != _merged(tomllib.loads(before), values):
        told = ", ".join(".".join(place) for place in values)
        raise ConfigError(f"{name} can't be changed line by line; set {told} there by hand")
    return changed


def _with_setting(text: str, place: Place, value: Value) -> str:
    lines, (section, key) = text.splitlines(), place
    begin, end = _bounds(lines, section)
    if begin is None:
        lines += ["", f"[{section}]"]
        begin = end = len(lines)
    at = _line_of(lines[begin:end], key)
    written = f"{key} = {_toml(value)}" if value else ""
    if at is None:
        lines[begin:begin] = [written] if written else []
    else:
        old = lines[begin + at]
        lines[begin + at] = written or (old if old.startswith("#") else f"#{old}")
    return "\n".join(lines) + "\n"


def _bounds(lines: Sequence[str], section: str) -> tuple[int | None, int]:
    """Give where a section begins behind its header and where it ends."""
    headers = [(number, found[1]) for number, line in enumerate(lines) if (found := _HEADER.fullmatch(line))]
    for place, (number, name) in enumerate(headers):
        if name == section:
            return number + 1, headers[place + 1][0] if place + 1 < len(headers) else len(lines)
    return None, len(lines)


def _line_of(lines: Sequence[str], key: str) -> int | None:
    """Find the line that sets a key, else the one that would without its #."""
    for form in (rf"\s*{key}\s*=", rf"#\s*{key}\s*="):
        for number, line in enumerate(lines):
            if re.match(form, line):
                return number
    return None


def _toml(value: Value) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"[{', '.join(json.dumps(part, ensure_ascii=False) for part in value)}]"


def _parsed(text: str) -> Any:
    with suppress(ValueError):
        return tomllib.loads(text)
    return None


def _merged(values: dict[str, Any], changes: Mapping[Place, Value]) -> dict[str, Any]:
    for (section, key), value in changes.items():
        table = values.setdefault(section, {})
        if value:
            table[key] = value if isinstance(value, str) else list(value)
        else:
            table.pop(key, None)
    return values


def read_text(path: Path) -> str:
    """Read a file that need not be there. Raises ConfigError."""
    try:
        return path.read_text(encoding="utf-8-sig") if path.exists() else ""
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} can't be read as UTF-8 text") from None


def write(files: Iterable[tuple[Path, str, int]]) -> None:
    """Write files whole or not at all, each with its mode. Raises ConfigError."""
    for path, text, mode in files:
        try:
            _replace(path.resolve(), text, mode)
        except OSError as error:
            raise ConfigError(f"{path} can't be written: {error.strerror}") from None


def _replace(path: Path, text: str, mode: int) -> None:
    descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # its mode is 600
    try:
        with open(descriptor, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        os.chmod(beside, mode)
        os.replace(beside, path)
    except BaseException:  # whatever ended it, no half of a file stays
        with suppress(OSError):
            os.unlink(beside)
        raise
