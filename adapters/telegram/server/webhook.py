"""Posting updates to the bot's webhook until it says 200."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import aiohttp

from adapters.telegram.server.refusals import Json
from adapters.telegram.server.updates import Updates

SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"


@dataclass(slots=True)
class Webhook:
    """Where updates are posted. In a chat they go in order; `retry` is the pause in seconds after a failure.

    `copies` posts each update so many times at once, as Telegram does when it lost an answer.
    """

    updates: Updates
    url: str = ""
    secret: str = ""
    most_connections: int = 40
    retry: float = 0.1
    copies: int = 1
    last_error: str = ""
    _busy: set[object] = field(default_factory=set)
    _task: asyncio.Task[None] | None = None

    async def set(self, url: str, secret: str, most_connections: int) -> None:
        """Begin to post to an address; the former one is left."""
        await self.stop()
        self.url, self.secret, self.most_connections, self.last_error = url, secret, most_connections, ""
        self._task = asyncio.create_task(self._run()) if url else None

    async def stop(self) -> None:
        """Stop posting."""
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])
        self.url, self._task = "", None
        self._busy.clear()

    async def _run(self) -> None:
        connector = aiohttp.TCPConnector(limit=self.most_connections)
        async with aiohttp.ClientSession(connector=connector) as session, asyncio.TaskGroup() as group:
            while True:
                for update in self.updates.take_repeats():
                    group.create_task(self._post(session, update))
                for update in list(self.updates.pending.values()):
                    if (lane := _lane(update)) not in self._busy:
                        self._busy.add(lane)
                        group.create_task(self._deliver(session, update, lane))
                await self.updates.changed.wait()

    async def _deliver(self, session: aiohttp.ClientSession, update: Json, lane: object) -> None:
        posts = await asyncio.gather(*(self._post(session, update) for _ in range(self.copies)))
        if any(posts):
            self.updates.forget(update["update_id"])
        else:
            await asyncio.sleep(self.retry)
        self._busy.discard(lane)
        self.updates.changed.ring()

    async def _post(self, session: aiohttp.ClientSession, update: Json) -> bool:
        headers = {SECRET_HEADER: self.secret} if self.secret else {}
        try:
            async with session.post(self.url, json=update, headers=headers) as response:
                if response.ok:
                    return True
                self.last_error = f"Wrong response from the webhook: {response.status} {response.reason}"
        except (aiohttp.ClientError, OSError) as error:
            self.last_error = f"Connection failed: {type(error).__name__}"
        return False


def _lane(update: Json) -> object:
    body = next(value for name, value in update.items() if name != "update_id")
    return (body.get("chat") or body.get("message", {}).get("chat") or body["from"])["id"]
