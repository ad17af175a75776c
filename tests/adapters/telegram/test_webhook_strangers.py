"""What strangers, and the odd, send to the webhook's port: it is refused, tells nothing, and stops nothing."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import logging
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

import pytest
from aiohttp import ClientSession, TCPConnector

from adapters.telegram.receiving import KINDS
from adapters.telegram.webhook import HEADER, MOST_BODY, Address, Webhook
from tests.adapters.telegram.test_hostile_updates import UPDATES, Line

SECRET = "s3cret_word"
KNOWN = {HEADER: SECRET}
UPDATE = json.dumps(UPDATES[0]).encode()


class Door:
    """A webhook that listens, and who posts to it."""

    def __init__(self, line: Line, http: ClientSession, port: int) -> None:
        self.line, self.http, self.port = line, http, port

    async def post(
        self, body: bytes = UPDATE, sent: Mapping[str, str] = KNOWN, path: str = "/hook", method: str = "POST"
    ) -> int:
        async with self.http.request(
            method, f"http://127.0.0.1:{self.port}{path}", data=io.BytesIO(body), headers=sent
        ) as answer:
            assert await answer.text() in ("", f"{answer.status}: {answer.reason}"), "it tells nothing"
            return answer.status

    async def raw(self, request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request)
        await writer.drain()
        answer = await reader.read()
        writer.close()
        return answer

    async def answers(self) -> bool:
        assert await self.post() == 200
        await self.line.world.engine.idle()
        return self.line.world.adapter.texts()[-1:] == ["You said: hello"]


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    line = Line()
    webhook = Webhook(line.bot, line.intake, KINDS, Address("https://bot.example/hook", SECRET, port, "127.0.0.1"))
    running = asyncio.create_task(webhook.run())
    async with ClientSession(connector=TCPConnector(force_close=True)) as http, asyncio.timeout(20):
        while not await _listens(port):  # noqa: ASYNC110 -- listening rings no bell
            await asyncio.sleep(0.01)
        yield Door(line, http, port)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


async def _listens(port: int) -> bool:
    with suppress(OSError):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        return True
    return False


@pytest.mark.parametrize(
    "headers",
    [{}, {HEADER: ""}, {HEADER: "wrong"}, {HEADER: SECRET + "x"}, {HEADER: "sécret"}, {HEADER: SECRET.upper()}],
)
async def test_without_the_secret_nothing_is_taken(door: Door, headers: dict[str, str]) -> None:
    assert await door.post(sent=headers) == 403
    assert door.line.world.adapter.texts() == []
    assert await door.answers()


async def test_of_two_secrets_the_first_counts_and_odd_bytes_are_none(door: Door) -> None:
    def request(*secrets: bytes) -> bytes:
        lines = [b"POST /hook HTTP/1.1", b"Host: x", b"Connection: close", b"Content-Length: %d" % len(UPDATE)]
        return b"\r\n".join([*lines, *(HEADER.encode() + b": " + s for s in secrets), b"", UPDATE])

    for secrets in ([b"wrong", SECRET.encode()], [b"\xff\xfe"], [b"\xc3\xa9"]):
        answer = await door.raw(request(*secrets))
        assert answer.split()[1:2] in ([b"403"], [b"400"])
    assert await door.answers()


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/hook", 405), ("PUT", "/hook", 405), ("POST", "/", 404)]
)
async def test_nothing_else_is_served(door: Door, method: str, path: str, status: int) -> None:
    assert await door.post(method=method, path=path) == status


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"", {}),
        (b"{", {}),
        (b"[" * 100_000, {}),
        (b"null", {}),
        (b'{"update_id": "1"}', {}),
        (b"\xff" * 100, {}),
        (UPDATE, {"Content-Type": "application/json; charset=nonsense"}),
        (UPDATE, {"Content-Encoding": "gzip"}),
        (b"x" * (MOST_BODY + 1), {}),
        (gzip.compress(b"[" + b" " * 300_000_000, 1), {"Content-Encoding": "gzip"}),
    ],
    ids=["empty", "cut", "deep", "null", "no number", "no text", "no charset", "no gzip", "large", "bomb"],
)
async def test_a_body_that_is_no_update_is_refused(
    door: Door, caplog: pytest.LogCaptureFixture, body: bytes, headers: dict[str, str]
) -> None:
    with caplog.at_level(logging.INFO):
        assert await door.post(body, {**KNOWN, **headers}) in (400, 413)
    assert not [record for record in caplog.records if record.exc_info and record.name.startswith("keepmind")]
    assert await door.answers()


async def test_a_body_that_does_not_come_and_what_is_no_http_hold_up_nobody(door: Door) -> None:
    slow = f"POST /hook HTTP/1.1\r\nHost: x\r\n{HEADER}: {SECRET}\r\nContent-Length: 900\r\n\r\n{{".encode()
    writers = [(await asyncio.open_connection("127.0.0.1", door.port))[1] for _ in range(20)]
    for writer in writers:
        writer.write(slow)
    assert b"Traceback" not in await door.raw(b"\x16\x03\x01 secret words\r\n\r\n")
    assert await door.answers()
    for writer in writers:
        writer.close()
