"""Who the bot is: a persona is a text file."""

from __future__ import annotations

from pathlib import Path

from core.errors import ConfigError

_FOLDER = Path(__file__).parent / "personas"


def load_persona(name: str) -> str:
    """Read a persona by its name in `config/personas`, or by the path of a file.

    Raises ConfigError when there is none, or it is blank.
    """
    ours = _FOLDER / f"{name}.md"
    path = ours if _is_ours(name) else Path(name).expanduser()
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        raise ConfigError(f"engine.persona is {name!r}; it must be one of {_names()} or a text file") from None
    if not text:
        raise ConfigError(f"engine.persona is {name!r}, and that file is blank")
    return text


def _is_ours(name: str) -> bool:
    return name in _names().split(", ")


def _names() -> str:
    return ", ".join(sorted(path.stem for path in _FOLDER.glob("*.md")))
