"""What speaks HTTP with Telegram."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from telegram.request import HTTPXRequest

from adapters.telegram.updates import Json, is_update, readable

CONNECTIONS = 16
"""Few carry more than Telegram allows: 30 messages a second take a tenth of a second each."""


class Requests(HTTPXRequest):
    """Calls Telegram patiently, since an answer that comes late is better than one that may be shown or not.

    What finds no connection free waits here, in the order it came: the pool of httpx looks through all that waits at
    each step, which with hundreds of chats takes most of the time.
    """

    def __init__(self, http: Mapping[str, Any]) -> None:
        super().__init__(
            connection_pool_size=CONNECTIONS,
            read_timeout=30,
            write_timeout=30,
            connect_timeout=10,
            pool_timeout=30,
            httpx_kwargs=dict(http),
        )
        self._free = asyncio.Semaphore(CONNECTIONS)

    async def do_request(self, *given: Any, **named: Any) -> tuple[int, bytes]:
        """Make a call when a connection is free."""
        async with self._free:
            return await super().do_request(*given, **named)


class Asking(Requests):
    """Asks for updates; one that can't be read stops nothing."""

    @staticmethod
    def parse_json_payload(payload: bytes) -> Json:
        """Read an answer."""
        answer = Requests.parse_json_payload(payload)
        if isinstance(found := answer.get("result"), list):
            answer["result"] = [readable(update) for update in found if is_update(update)]
        return answer
