"""What every platform's test server needs around it: settings that lead there, and whether anything still goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from pydantic import SecretStr

from adapters.wire.signals import Signal
from config.settings import Settings
from core.store import ConversationStore


class Server(Protocol):
    """A platform's test server."""

    @property
    def token(self) -> str:
        """The token it knows."""
        ...

    async def quiet(self, seconds: float) -> None:
        """Wait until nothing has changed for so long. Raises TimeoutError."""
        ...


def to_settings(settings: Settings, platform: str, server: Server, me: int, **places: Any) -> Settings:
    """Put the test server in the place of its platform, with a database of its own.

    `me`, who speaks first, is an admin, and everybody is served.
    """
    folder = settings.storage.data_dir
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    access = {"admins": (*settings.access.admins, f"{platform}:{me}"), "allowed": (f"{platform}:*",)}
    database = {"database_url": SecretStr(f"sqlite:///{folder / f'dev-{platform}.db'}")}
    there = {"token": SecretStr(server.token), **places}
    changed = {"access": access, "storage": database, platform: there}
    return settings.model_copy(
        update={section: getattr(settings, section).model_copy(update=update) for section, update in changed.items()}
    )


class Scene:
    """What goes on on the test server and in the bot. `waits` tells whether the server holds something for the bot."""

    def __init__(self, server: Server, changed: Signal, store: ConversationStore, waits: Callable[[], bool]) -> None:
        self._server, self._changed, self._store, self._waits = server, changed, store, waits

    async def changes(self) -> None:
        """Wait until something is seen anew."""
        await self._changed.wait()

    async def quiet(self, seconds: float) -> None:
        """Wait until nothing has changed for so long. Raises TimeoutError."""
        await self._server.quiet(seconds)

    async def is_busy(self) -> bool:
        """Tell whether the bot has something to take or to answer."""
        return bool(self._waits() or await self._store.waiting() or await self._store.open_turns())
