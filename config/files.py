"""The operator's own files: where they are, and the text in them."""

from __future__ import annotations

from pathlib import Path

_MOST = 2**20


def path_of(name: str) -> Path:
    """Give the path that is written, `~` standing for a home. Raises ValueError where there is no such home."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise ValueError(f"there is no home folder for {name.partition('/')[0]}") from None


def text_of(path: Path) -> str:
    """Read a text. Raises OSError, and ValueError when it is not UTF-8 or larger than a megabyte."""
    with path.open("rb") as file:
        data = file.read(_MOST + 1)
    if len(data) > _MOST:
        raise ValueError("it is larger than a megabyte")
    return data.decode("utf-8-sig").replace("\r\n", "\n")
