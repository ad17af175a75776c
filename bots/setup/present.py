"""What is set already in a folder, and where each answer belongs: in `.env` what is secret, in TOML the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from config.sources import CONFIG, PLAIN, PREFIX, Place, read, read_dotenv

SECRET = (
    ("telegram", "token"),
    ("discord", "token"),
    ("model", "api_key"),
    ("model", "base_url"),
    ("storage", "database_url"),
)
"""What is, or may hold, a secret."""
_PLAIN: dict[Place, str] = {place: name for name, place in PLAIN.items()}


@dataclass(frozen=True)
class Present:
    """What a folder's files and the environment set now; `stored` is what the files do by themselves."""

    folder: Path
    environ: Mapping[str, str]
    values: Mapping[str, Any] = field(repr=False)
    stored: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(cls, folder: Path, environ: Mapping[str, str]) -> Present:
        """Read what is set. Raises ConfigError for a file that can't be read."""
        named = {name: value for name, value in environ.items() if name == CONFIG}
        return cls(folder, environ, read(environ, folder).values, read(named, folder).values)

    @property
    def dotenv(self) -> Path:
        """The file of secrets."""
        return self.folder / ".env"

    @property
    def toml(self) -> Path:
        """The file of settings."""
        named = {**read_dotenv(self.dotenv), **self.environ}.get(CONFIG)
        return self.folder / (Path(named).expanduser() if named else "keepmind.toml")

    def text(self, place: Place) -> str:
        """Give a value as it is written in a line, blank where there is none."""
        return _text(self.values, place)

    def is_stored(self, place: Place, text: str) -> bool:
        """Say whether the files hold just this value."""
        return _text(self.stored, place) == text

    def variables(self, place: Place) -> Sequence[str]:
        """Name the variables of a value in `.env`, the strongest first; none when it belongs into the settings."""
        there = read_dotenv(self.dotenv)
        long = f"{PREFIX}{place[0]}__{place[1]}".upper()
        found = [name for name in (long, _PLAIN.get(place, "")) if name in there]
        return found or ([_PLAIN[place]] if place in SECRET else [])


def _text(values: Mapping[str, Any], place: Place) -> str:
    section = values.get(place[0])
    value = section.get(place[1]) if isinstance(section, Mapping) else None
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value or "")
