"""A copy of the database, whole though the bot runs: made for SQLite, told how for PostgreSQL."""

from __future__ import annotations

import asyncio
import os
import shlex
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from tempfile import mkstemp

from sqlalchemy import URL, make_url

from adapters.sql.address import is_postgresql, to_address
from adapters.sql.sqlite import address_of, explained, look
from adapters.sql.upgrade import current
from core.errors import StoreError


async def back_up(url: str, copy: Path) -> str:
    """Copy a SQLite database to a file that is not there yet; give nothing, or else the command that is to be run.

    Raises StoreError, leaving no file, when it can't be copied or the copy is not whole.
    """
    if is_postgresql(url):
        return _dump(make_url(to_address(url).url), copy)
    if await look(url, current) is None:
        raise StoreError("There is no database yet, so nothing to copy.")
    await asyncio.to_thread(_copy, address_of(url)[0], copy)
    return ""


def _dump(url: URL, copy: Path) -> str:
    """Write the command, with all that the address asks of a connection, but the password."""
    place = url._replace(password=None).difference_update_query(["password", "sslpassword"])
    return shlex.join(["pg_dump", "--format=custom", f"--dbname={place.render_as_string()}", f"--file={copy}"])


def _copy(source: str, copy: Path) -> None:
    """Copy under another name, which a copy that is not whole keeps when the process is killed."""
    part = _make_beside(copy)
    try:
        with closing(_opened(source)) as original, closing(sqlite3.connect(part)) as made:
            original.backup(made)
            ((found,),) = made.execute("PRAGMA quick_check(1)").fetchall()
        if found != "ok":
            raise StoreError(f"The database {source} is damaged; an older copy may still be whole.")
        _name(part, copy)
    except sqlite3.Error as error:
        raise explained(error, source) from None
    finally:
        with suppress(OSError):
            part.unlink()


def _opened(source: str) -> sqlite3.Connection:
    return sqlite3.connect(source, uri=source.startswith("file:"))


def _make_beside(copy: Path) -> Path:
    if os.path.lexists(copy):
        raise _taken(copy)
    try:
        descriptor, part = mkstemp(dir=copy.parent, prefix=f"{copy.name}.", suffix=".part")
    except OSError as error:
        raise StoreError(f"{copy} can't be written: {error.strerror}.") from None
    os.close(descriptor)
    return Path(part)


def _name(part: Path, copy: Path) -> None:
    """Give a whole copy its name, over no file."""
    try:
        os.link(part, copy)
    except FileExistsError:
        raise _taken(copy) from None
    except OSError:  # a file system without links
        part.rename(copy)


def _taken(copy: Path) -> StoreError:
    return StoreError(f"{copy} is there already and was left as it is; name another file.")
