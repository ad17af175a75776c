"""Measures for Prometheus, served over HTTP with health and readiness; numbers and names of kinds, never any text."""

from __future__ import annotations

from collections import Counter as Sums
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.aiohttp import make_aiohttp_handler

from core.errors import ConfigError, KeepmindError
from core.llm import Usage
from core.prompt import Row
from core.spending.prices import Prices

_SECONDS = (0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_MODELS = 100
"""How many models are counted by their names."""
_TOKENS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
Ready = Callable[[], Awaitable[str]]
"""Gives what keeps the bot from serving, in words; empty when nothing does. May raise KeepmindError instead."""


class PrometheusMeter:
    """A Meter that keeps everything for Prometheus, under names that begin with `keepmind_`.

    What a request costs is counted where the price of its model is known.
    """

    def __init__(self, prices: Prices = Prices()) -> None:  # noqa: B008 -- frozen
        self._prices = prices
        self.registry = CollectorRegistry()
        self._models: set[str] = set()
        self._turns = self._histogram("turn_seconds", "Turns.", "platform outcome", _SECONDS)
        self._parts = self._histogram("part_seconds", "Parts of answering.", "part", _SECONDS)
        self._prompts = self._histogram("prompt_tokens", "Tokens of prompts.", "section", _TOKENS)
        self._asked = self._histogram("model_seconds", "Requests to the model.", "purpose outcome", _SECONDS)
        self._tokens = self._counter("model_tokens", "Tokens as the server counts them.", "purpose model kind")
        self._cost = self._counter("cost", "What requests cost, in the currency of the prices.", "purpose model")
        self._chunks = self._counter("chunks", "What became of chunks.", "platform outcome")
        self._jobs = self._counter("jobs", "Durable jobs.", "kind outcome")
        self._takeovers = self._counter("takeovers", "Times this process has begun to serve a bot.", "platform")
        self._late = self._histogram("job_lag_seconds", "From when a job was due to its begin.", "kind", _SECONDS)

    def _histogram(self, name: str, about: str, labels: str, buckets: Sequence[float]) -> Histogram:
        return Histogram(f"keepmind_{name}", about, labels.split(), registry=self.registry, buckets=buckets)

    def _counter(self, name: str, about: str, labels: str) -> Counter:
        return Counter(f"keepmind_{name}", about, labels.split(), registry=self.registry)

    def watch(self, name: str, about: str, count: Callable[[], float]) -> None:
        """Ask for a number at each look."""
        Gauge(f"keepmind_{name}", about, registry=self.registry).set_function(count)

    def turn(self, platform: str, outcome: str, seconds: float) -> None:
        """Count a turn, and how long it took."""
        self._turns.labels(platform, outcome).observe(seconds)

    def part(self, name: str, seconds: float) -> None:
        """Time a part of answering."""
        self._parts.labels(name).observe(seconds)

    def prompt(self, rows: Sequence[Row]) -> None:
        """Count the tokens of a prompt by section."""
        sums = Sums({"all": 0})
        for label, _, tokens in rows:
            sums[label] += tokens
            sums["all"] += tokens
        for label, tokens in sums.items():
            self._prompts.labels(label).observe(tokens)

    def asked(self, purpose: str, model: str, outcome: str, seconds: float, usage: Usage | None) -> None:
        """Count a request to the model, and its tokens."""
        self._asked.labels(purpose, outcome).observe(seconds)
        if usage is not None:
            name = self._named(model)
            for kind in ("prompt", "completion", "cached"):
                self._tokens.labels(purpose, name, kind).inc(getattr(usage, kind))
            if price := self._prices.known(model):
                self._cost.labels(purpose, name).inc(max(price.of(usage), 0))

    def _named(self, model: str) -> str:
        """Give the name under which a model is counted: a server may give each answer another, without end."""
        if len(self._models) < _MODELS:
            self._models.add(model)
        return model if model in self._models else "others"

    def chunk(self, platform: str, outcome: str) -> None:
        """Count what became of a chunk."""
        self._chunks.labels(platform, outcome).inc()

    def job(self, kind: str, outcome: str, late: float) -> None:
        """Count a durable job, and how late it began."""
        self._jobs.labels(kind, outcome).inc()
        self._late.labels(kind).observe(late)

    def takeover(self, platform: str) -> None:
        """Count that this process has begun to serve a bot."""
        self._takeovers.labels(platform).inc()


@asynccontextmanager
async def served(meter: PrometheusMeter, ready: Ready, host: str, port: int) -> AsyncIterator[int]:
    """Serve `/metrics`, `/healthz` and `/readyz` until the block ends; give the port, chosen when it is 0.

    `/healthz` answers as long as the process does anything at all, `/readyz` with 503 and a sentence while it can't
    serve. Raises ConfigError when the port can't be had.
    """

    async def readiness(_: web.Request) -> web.Response:
        return await _readiness(ready)

    app = web.Application()
    app.router.add_get("/metrics", make_aiohttp_handler(meter.registry))
    app.router.add_get("/healthz", _alive)
    app.router.add_get("/readyz", readiness)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise ConfigError(f"metrics.port {port} can't be listened on: {error.strerror}") from None
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def _alive(_: web.Request) -> web.Response:
    return web.Response(text="alive\n")


async def _readiness(ready: Ready) -> web.Response:
    try:
        trouble = await ready()
    except KeepmindError as error:
        trouble = str(error)
    return web.Response(text=f"{trouble or 'ready'}\n", status=503 if trouble else 200)
