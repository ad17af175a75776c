"""Measures as Prometheus reads them, health and readiness, over HTTP."""

from __future__ import annotations

import asyncio
import logging
import socket

import aiohttp
import pytest

from adapters.prometheus import PrometheusMeter, served
from core.bot import Ports, build
from core.errors import ConfigError, LLMRejected, StoreError
from core.llm import Completion, Usage
from core.spending.prices import Price, Prices
from tests.fakes import START, ScriptedLLM, WordCounter, World


async def looked(port: int, path: str = "/metrics") -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as response:
        return response.status, await response.text()


async def nothing_wrong() -> str:
    return ""


def metered(world: World, meter: PrometheusMeter) -> World:
    ports = Ports(world.store, world.llm, WordCounter(), world.clock, [world.adapter])
    world.engine = build(world.bot, ports, allowed=["test:*"], meter=meter)
    return world


async def test_a_talk_is_counted_by_kind_and_without_its_words() -> None:
    meter = PrometheusMeter()
    llm = ScriptedLLM(lambda request: Completion("Pears are fine.", usage=Usage(100, 20, 60), model="oracle"))
    world = metered(World(llm=llm), meter)
    await world.say("I like secret pears")
    async with served(meter, nothing_wrong, "127.0.0.1", 0) as port:
        status, text = await looked(port)
    assert status == 200
    assert 'keepmind_turn_seconds_count{outcome="delivered",platform="test"} 1.0' in text
    assert 'keepmind_model_tokens_total{kind="cached",model="oracle",purpose="answer"} 60.0' in text
    assert 'keepmind_model_seconds_count{outcome="stop",purpose="answer"} 1.0' in text
    assert 'keepmind_chunks_total{outcome="sent",platform="test"} 1.0' in text
    assert all(f'keepmind_part_seconds_count{{part="{part}"}} 1.0' in text for part in ("wait", "compose", "deliver"))
    assert 'keepmind_prompt_tokens_count{section="all"} 1.0' in text
    assert "pears" not in text.lower()
    assert "anna" not in text.lower()


async def test_what_requests_cost_is_counted_where_the_price_is_known() -> None:
    meter = PrometheusMeter(Prices({"oracle": Price(1, 0.5, 10)}))
    meter.asked("answer", "oracle-2", "stop", 1.0, Usage(1_000_000, 100_000, 500_000))
    meter.asked("answer", "other", "stop", 1.0, Usage(1_000_000, 100_000))
    async with served(meter, nothing_wrong, "127.0.0.1", 0) as port:
        _, text = await looked(port)
    assert 'keepmind_cost_total{model="oracle-2",purpose="answer"} 1.75' in text
    assert 'keepmind_cost_total{model="other"' not in text


async def test_a_server_that_names_its_model_anew_each_time_makes_no_end_of_numbers() -> None:
    meter = PrometheusMeter()
    for number in range(1000):
        meter.asked("answer", f"oracle-{number}", "stop", 1.0, Usage(10, 1))
    async with served(meter, nothing_wrong, "127.0.0.1", 0) as port:
        _, text = await looked(port)
    assert 'keepmind_model_tokens_total{kind="prompt",model="others",purpose="answer"} 9000.0' in text
    assert text.count("keepmind_model_tokens_total{") == 303


async def test_what_is_said_incognito_is_in_no_measure_statistic_or_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    meter = PrometheusMeter()
    world = metered(World(), meter)
    for text in ("/incognito", "I went to zanzibar", "/nosuch zanzibar", "/memory set city zanzibar", "/usage"):
        await world.say(text, name="zanzibar")
    async with served(meter, nothing_wrong, "127.0.0.1", 0) as port:
        _, text = await looked(port)
    assert 'keepmind_turn_seconds_count{outcome="delivered",platform="test"} 1.0' in text
    assert "zanzibar" not in text + caplog.text
    assert [one.person for one in await world.store.spent(START.date())] == [None]
    assert (await world.store.days(START, count=1))[0].people == 0


async def test_failures_are_counted_by_their_kind() -> None:
    meter = PrometheusMeter()
    world = metered(World(llm=ScriptedLLM(lambda request: LLMRejected("no"))), meter)
    await world.say("hi")
    async with served(meter, nothing_wrong, "127.0.0.1", 0) as port:
        _, text = await looked(port)
    assert 'keepmind_turn_seconds_count{outcome="model",platform="test"} 1.0' in text
    assert 'keepmind_model_seconds_count{outcome="LLMRejected",purpose="answer"} 1.0' in text


async def test_a_number_watched_is_asked_for_at_each_look() -> None:
    meter, numbers = PrometheusMeter(), iter([3, 4])
    meter.watch("waiting", "Waiting.", lambda: next(numbers))
    async with served(meter, nothing_wrong, "127.0.0.1", 0) as port:
        assert "keepmind_waiting 3.0" in (await looked(port))[1]
        assert "keepmind_waiting 4.0" in (await looked(port))[1]


async def test_health_is_not_readiness() -> None:
    async def broken() -> str:
        raise StoreError("The database is locked.")

    async def starting() -> str:
        return "starting"

    for ready, answer in [
        (nothing_wrong, (200, "ready\n")),
        (starting, (503, "starting\n")),
        (broken, (503, "The database is locked.\n")),
    ]:
        async with served(PrometheusMeter(), ready, "127.0.0.1", 0) as port:
            assert await looked(port, "/healthz") == (200, "alive\n")
            assert await looked(port, "/readyz") == answer


async def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"metrics\.port {port} can't be listened on"):
            async with served(PrometheusMeter(), nothing_wrong, "127.0.0.1", port):
                await asyncio.sleep(0)


HEAD = b" HTTP/1.1\r\nHost: x\r\n"
HOSTILE = [
    *(
        b"BREW /metrics" + HEAD + b"\r\n",
        b"\x16\x03\x01\x02",
        b"GET /\0" + HEAD + b"\r\n",
        b"GET /../secret" + HEAD + b"\r\n",
    ),
    *(b"GET /" + b"a" * 100_000 + HEAD + b"\r\n", b"GET /healthz" + HEAD + b"X: y\r\n" * 10_000 + b"\r\n"),
    b"POST /metrics" + HEAD + b"Content-Length: 5\r\n\r\nhello",
    b"POST /x"
    + HEAD
    + b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /metrics"
    + HEAD
    + b"\r\n",
    b"GET /healthz" + HEAD + b"Content-Length: 6\r\nContent-Length: 7\r\n\r\nhello!",
]
UNFINISHED = [
    b"",
    b"GET /met",
    b"GET /metrics" + HEAD + b"X: ",
    b"GET /healthz" + HEAD + b"Content-Length: 999999\r\n\r\nab",
]


async def test_strangers_at_the_port_are_refused_and_those_who_hold_on_delay_nobody() -> None:
    loop = asyncio.get_running_loop()
    async with served(PrometheusMeter(), nothing_wrong, "127.0.0.1", 0) as port:
        for request in HOSTILE:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request)
            assert (await reader.readline()).split()[1] in (b"400", b"404", b"405")
            assert b"keepmind_" not in await reader.readuntil(b"\r\n\r\n")
            writer.close()
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(100)]
        for number, (_, writer) in enumerate(held):
            writer.write(UNFINISHED[number % len(UNFINISHED)])
            await writer.drain()
        assert await looked(port, "/healthz") == (200, "alive\n")
        left = loop.time()
    assert loop.time() - left < 5
    for _, writer in held:
        writer.close()
