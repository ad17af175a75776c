"""Listening: a test server's place on this machine."""

from __future__ import annotations

import socket

from aiohttp import web


class Listening:
    """Where a test server listens: on a free port unless one was given, after a stop again on the same."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{self.host}:{self.port}"

    async def start(self, application: web.Application) -> None:
        """Listen."""
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        listener = socket.create_server((self.host, self.port))
        self.port = listener.getsockname()[1]
        await web.SockSite(self._runner, listener).start()

    async def stop(self) -> None:
        """Stop listening."""
        if self._runner:
            await self._runner.cleanup()
