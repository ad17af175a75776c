"""What becomes of the database: whether it can be used as it is, and grow where it is."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bots.doctor.finding import Check, Finding, broken, fine, warning
from config.settings import Settings

if TYPE_CHECKING:
    from adapters.sql.health import Health

ROOM = "database"
LITTLE, TOO_LITTLE = 500 * 2**20, 50 * 2**20
LONG_LOG = 256 * 2**20
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def checks(settings: Settings) -> Sequence[Check]:
    """Name what is to be looked at."""
    return [
        Check(ROOM, "reached", lambda: _look(settings.storage.url)),
        Check(ROOM, "disk", lambda: _disk(settings.storage.url)),
    ]


async def _look(url: str) -> AsyncGenerator[Finding, None]:
    from adapters.sql.health import examine, place

    where = place(url)
    health = await examine(url)
    if health is None:
        yield fine(ROOM, "reached", f"{where} is not there yet; it is made when the bot starts.")
        return
    yield fine(ROOM, "reached", f"{health.engine}: {where}, {_size(health.bytes)}; a write takes hold.")
    yield _schema(health)
    if health.log:
        yield _log(health, where)
    if health.checked:
        yield fine(ROOM, "pages", "No damage is found.")


def _schema(health: Health) -> Finding:
    current, target = health.schema.current, health.schema.target
    if current is None:
        return fine(ROOM, "schema", "It is empty; the tables are made when the bot starts.")
    if current != target:
        fix = "Take a copy of it, then `keepmind db upgrade`; the next start does so as well."
        return warning(ROOM, "schema", f"It is of an older Keepmind ({current}, now {target}).", fix)
    return fine(ROOM, "schema", f"It is this version's ({target}).")


def _log(health: Health, where: str) -> Finding:
    if health.schema.current is None or health.log == "memory":
        return fine(ROOM, "log", "The write-ahead log is turned on when the bot starts.")
    if health.log != "wal":
        fix = (
            "Start the bot once; if it stays so, the file is on a disk that can't do it, such as a network's: move it."
        )
        return warning(ROOM, "log", f"It journals by {health.log}, not by a write-ahead log.", fix)
    length = _length(Path(f"{where}-wal"))
    if length > LONG_LOG:
        fix = "Close what reads the file for a long time, then start the bot again."
        return warning(ROOM, "log", f"The write-ahead log has grown to {_size(length)}.", fix)
    return fine(ROOM, "log", f"It writes ahead ({_size(length)}).")


async def _disk(url: str) -> AsyncGenerator[Finding, None]:
    from adapters.sql.health import file_of

    file = file_of(url)
    if file is None:
        return
    yield await asyncio.to_thread(_space, file)
    yield await asyncio.to_thread(_folder, file)
    if file.is_file():
        yield _mode(file)


def _space(file: Path) -> Finding:
    free = shutil.disk_usage(_nearest(file.parent)).free
    says = f"{_size(free)} are free."
    if free < TOO_LITTLE:
        return broken(ROOM, "space", says, "Free some, or set KEEPMIND_DATA_DIR to a larger disk.")
    if free < LITTLE:
        return warning(ROOM, "space", says, "Free some soon, or set KEEPMIND_DATA_DIR to a larger disk.")
    return fine(ROOM, "space", says)


def _folder(file: Path) -> Finding:
    folder = _nearest(file.parent)
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        fix = "Give the bot's user the right to, or set KEEPMIND_DATA_DIR to another folder."
        return broken(ROOM, "folder", f"{folder} can't be written.", fix)
    if folder != file.parent:
        return fine(ROOM, "folder", f"{file.parent} is not there yet; it is made when the bot starts.")
    return fine(ROOM, "folder", f"{folder} can be written.")


def _mode(file: Path) -> Finding:
    if os.name == "posix" and file.stat().st_mode & _OTHERS:
        return warning(ROOM, "privacy", "Others on this machine can open the file.", f"chmod 600 {file}")
    return fine(ROOM, "privacy", "Only its owner can open the file.")


def _nearest(folder: Path) -> Path:
    """Give the folder, or the nearest one above it that there is."""
    return next((one for one in (folder, *folder.parents) if one.exists()), folder)


def _length(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _size(count: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1024 or unit == "GB":
            break
        count /= 1024
    return f"{count:.0f} {unit}" if unit in ("bytes", "KB") else f"{count:.1f} {unit}"
