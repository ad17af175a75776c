"""One connection of the bot to the gateway."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiohttp import WSCloseCode, WSMsgType, web

from adapters.discord.server.compression import Packing
from adapters.discord.server.refusals import Json

if TYPE_CHECKING:
    from adapters.discord.server.sessions import Session

MOST_PAYLOADS, WINDOW = 120, 60.0
MOST_BYTES = 4096


class Closed(Exception):
    """The gateway closes the connection with a code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass(eq=False, slots=True)
class Socket:
    """A connection: what is sent goes out in order, whoever waits."""

    response: web.WebSocketResponse
    transport: asyncio.Transport | None
    pack: Packing
    session: Session | None = None
    closed_by_bot: int | None = None
    _out: asyncio.Queue[Json | tuple[int, str] | None] = field(default_factory=asyncio.Queue)
    _heard: list[float] = field(default_factory=list)
    _is_closing: bool = False

    def send(self, payload: Json) -> None:
        """Send a payload after those before."""
        if not self._is_closing:
            self._out.put_nowait(payload)

    def close(self, code: int, reason: str = "") -> None:
        """Close with a code, when all is sent."""
        if not self._is_closing:
            self._is_closing = True
            self._out.put_nowait((code, reason))

    def drop(self) -> None:
        """Cut the connection at once, with what was not sent."""
        self._is_closing = True
        if self.transport is not None:
            self.transport.abort()

    async def write(self) -> None:
        """Send what there is until closed."""
        with suppress(ConnectionError, RuntimeError):  # the bot has hung up
            while True:
                match await self._out.get():
                    case (code, reason):
                        await self.response.close(code=code, message=reason.encode())
                        return
                    case dict(payload):
                        packed = self.pack(payload)
                        if isinstance(packed, str):
                            await self.response.send_str(packed)
                        else:
                            await self.response.send_bytes(packed)

    async def read(self, patience: float) -> AsyncIterator[Json]:
        """Give what the bot sends until the connection ends. Raises Closed when it breaks a rule or stays silent."""
        while True:
            try:
                message = await self.response.receive(timeout=patience)
            except TimeoutError:
                raise Closed(4009) from None
            if message.type is WSMsgType.CLOSE:
                self.closed_by_bot = message.data or WSCloseCode.OK
            if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                return
            self._count()
            yield _payload(message.data)

    def _count(self) -> None:
        now = asyncio.get_running_loop().time()
        self._heard = [at for at in self._heard if at > now - WINDOW] + [now]
        if len(self._heard) > MOST_PAYLOADS:
            raise Closed(4008)

    async def end(self, writing: asyncio.Task[None]) -> None:
        """Let what is still to be said be said, then be gone."""
        if self._is_closing and not self.response.closed:
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(writing), 1)
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)


def _payload(data: str | bytes) -> Json:
    if len(data) > MOST_BYTES:
        raise Closed(4002)
    try:
        payload = json.loads(data)
    except ValueError:
        raise Closed(4002) from None
    if not isinstance(payload, dict):
        raise Closed(4002)
    return payload
