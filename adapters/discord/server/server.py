"""The test server: Discord's API over HTTP, its gateway, its files, and the people behind them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Collection
from typing import Any, Literal, TypeVar

from aiohttp import web

from adapters.discord.server import answering, asking, commands, sending
from adapters.discord.server.api import Api, Route
from adapters.discord.server.clicks import Clicks
from adapters.discord.server.gateway import Gateway
from adapters.discord.server.journal import Call, Journal, read
from adapters.discord.server.limits import Limiter, Limits, Pace
from adapters.discord.server.refusals import Refusal, too_many
from adapters.discord.server.using import Using
from adapters.discord.server.world import Channel, Message, User, World
from adapters.wire.faults import Fault, Faults
from adapters.wire.listening import Listening

TOKEN = "MTE4NzMwMTIzNDU2Nzg5MDEyMw.GAAAAA.test-token-for-the-local-server-0000000"  # of no use anywhere else
BOT = 1_187_301_234_567_890_123
ROUTES = [*asking.ROUTES, *sending.ROUTES, *answering.ROUTES, *commands.ROUTES]
KNOWN = {400: "400: Bad Request", 403: "Missing Access", 404: "404: Not Found", 500: "500: Internal Server Error"}
_BODY = 128 * 2**20
T = TypeVar("T")


class DiscordServer(Clicks):
    """A strict Discord in this process, for one bot.

    `api_url` and `gateway_url` go where discord.py keeps those of Discord (see `pointed`). `switched_on` are the
    privileged intents that the developer portal allows. `limits` turns the platform's own pace on.
    """

    def __init__(
        self,
        token: str = TOKEN,
        name: str = "Keepmind",
        host: str = "127.0.0.1",
        port: int = 0,
        limits: Limits | None = None,
        switched_on: Collection[str] = ("message_content", "members"),
        clock: Callable[[], float] = time.time,
        keep_calls: bool = True,
        heartbeat: float = 41.25,
        shards: int = 1,
    ) -> None:
        self.token, self._listening = token, Listening(host, port)
        world = World(User(BOT, name, is_bot=True), clock)
        gateway = Gateway(world, token, lambda: self.gateway_url, switched_on, heartbeat, shards)
        self.api = Api(world, gateway, lambda: self.url)
        self.journal, self.faults, self.limiter = Journal(keep_calls), Faults(), Limiter(limits)

    async def __aenter__(self) -> DiscordServer:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def url(self) -> str:
        """Where it listens, and where its files are."""
        return self._listening.url

    @property
    def api_url(self) -> str:
        """Where the calls of the API go."""
        return f"{self.url}/api/v10"

    @property
    def gateway_url(self) -> str:
        """Where the gateway is."""
        return f"ws://{self._listening.host}:{self._listening.port}/"

    @property
    def gateway(self) -> Gateway:
        """The gateway, to disturb it."""
        return self.api.gateway

    @property
    def bot(self) -> User:
        """The bot whose server it is."""
        return self.api.world.bot

    @property
    def calls(self) -> list[Call]:
        """Every call of the API so far."""
        return self.journal.calls

    async def start(self) -> None:
        """Listen, on a free port unless one was given; after `stop` again on the same, as after an outage."""
        application = web.Application(client_max_size=_BODY)
        for route in ROUTES:
            application.router.add_route(route.method, f"/api/v{{version}}{route.path}", self._answering(route))
        application.router.add_route("*", "/api/{rest:.*}", self._unknown)
        application.router.add_get("/attachments/{path:.+}", self._file)
        application.router.add_get("/", self.gateway.connect)
        await self._listening.start(application)

    async def stop(self) -> None:
        """Cut all connections, and stop listening."""
        self.gateway.drop()
        await self._listening.stop()

    async def wait_for(self, condition: Callable[[], T | Literal[False] | None], timeout: float = 5.0) -> T:
        """Wait until something holds of what is seen. Raises TimeoutError after so many seconds."""
        return await self.api.world.changed.until(condition, timeout)

    async def connected(self, timeout: float = 10.0) -> None:
        """Wait until the bot is at the gateway and has been told of its guilds."""
        await self.wait_for(lambda: bool(self.gateway.live), timeout)

    async def reply(
        self,
        place: Channel | User,
        after: Message | None = None,
        timeout: float = 5.0,
        where: Callable[[Message], bool] = lambda _: True,
    ) -> Message:
        """Wait for the bot's first message in a channel after another, or after the last that was not the bot's."""
        channel = self.channel(place)
        others = [message.id for message in channel.messages if not message.by_bot]
        last = after.id if after else max(others, default=0)
        return await self.wait_for(
            lambda: next((one for one in channel.from_bot if one.id > last and where(one)), None), timeout
        )

    async def answered(self, using: Using, timeout: float = 5.0) -> Message:
        """Wait until a person who used something sees what the bot has to say; gives the message.

        Raises TimeoutError, also when the bot opened a form or said nothing.
        """
        await self.wait_for(lambda: using.is_done and (using.response or using.messages), timeout)
        return using.response or using.messages[0]

    async def opened(self, using: Using, timeout: float = 5.0) -> Using:
        """Wait until the bot has opened a form for a person who used something. Raises TimeoutError."""
        return await self.wait_for(lambda: using if using.modal else None, timeout)

    async def quiet(self, seconds: float = 0.3, timeout: float = 10.0) -> None:
        """Wait until nothing has changed for so long. Raises TimeoutError."""
        async with asyncio.timeout(timeout):
            while await self.api.world.changed.wait(seconds):
                pass

    def fail(
        self,
        name: str,
        status: int,
        code: int = 0,
        message: str = "",
        channel: Channel | User | None = None,
        times: int = 1,
        skip: int = 0,
        when: Literal["before", "after"] = "before",
        retry_after: float = 0.1,
        scope: Literal["user", "global", "shared"] = "user",
    ) -> Fault:
        """Refuse the next calls of a name ("" is any); 429 takes `retry_after` and `scope`.

        `after` refuses what has taken effect.
        """
        told = message or KNOWN.get(status, f"{status}: Error")
        refusal = too_many(retry_after, scope) if status == 429 else Refusal(status, code, told)
        return self.faults.add(Fault(name, self._id(channel), 0, refusal, False, when, times, skip))

    def drop(
        self,
        name: str,
        when: Literal["before", "after"] = "after",
        channel: Channel | User | None = None,
        times: int = 1,
    ) -> Fault:
        """Cut the connection of the next calls: after they took effect, so that nobody can tell, or before."""
        return self.faults.add(Fault(name, self._id(channel), 0, None, True, when, times))

    def delay(self, name: str, seconds: float, channel: Channel | User | None = None, times: int = -1) -> Fault:
        """Slow the next calls down."""
        return self.faults.add(Fault(name, self._id(channel), seconds, times=times))

    def flood(self, seconds: float, name: str = "", channel: Channel | User | None = None) -> None:
        """Refuse the calls of a name for so long, saying how much of it is left."""
        self.limiter.flood(name, self._id(channel), self.api.world.clock() + seconds)

    def _id(self, place: Channel | User | None) -> int | None:
        return self.channel(place).id if place else None

    def _answering(self, route: Route) -> Callable[[web.Request], Any]:
        async def answer(request: web.Request) -> web.StreamResponse:
            return await self._answer(route, request)

        return answer

    async def _answer(self, route: Route, request: web.Request) -> web.StreamResponse:
        call = Call(route.name, self.api.world.clock(), dict(request.match_info), dict(request.query))
        try:
            await read(call, request)
        except Refusal as refusal:
            return _written(refusal.body(), refusal.status)
        except ConnectionError:  # the bot hung up before it had said all
            return web.Response(status=400)
        self.journal.add(call)
        pace = self.limiter.pace(call, call.at, is_global=route.name != "respond")
        headers, body = await self._outcome(route, call, request, pace)
        self.api.world.changed.ring()
        if call.dropped:
            if request.transport:
                request.transport.abort()
            return web.Response(status=500)
        return _written(body, call.status, pace.headers() | headers)

    async def _outcome(self, route: Route, call: Call, request: web.Request, pace: Pace) -> tuple[dict[str, str], Any]:
        """Do a call with whatever goes wrong; gives what more the headers say, and the body."""
        fault = self.faults.take(call.name, call.channel) or Fault()
        await asyncio.sleep(fault.delay)
        try:
            if fault.when == "after" or not (fault.drop or fault.refusal):
                call.result = self._done(route, call, request, pace)
            if fault.drop:
                call.dropped = True
                return {}, None
            if fault.refusal:
                raise fault.refusal
        except Refusal as refusal:
            call.status, call.code, call.message = refusal.status, refusal.code, refusal.message
            return refusal.headers, refusal.body()
        call.status = 204 if call.result is None else 200
        return {}, call.result

    def _done(self, route: Route, call: Call, request: web.Request, pace: Pace) -> Any:
        if not route.is_open and request.headers.get("Authorization") != f"Bot {self.token}":
            raise Refusal(401, 0, "401: Unauthorized")
        if call.ids.pop("version") not in ("9", "10"):
            raise Refusal(400, 50041, "Invalid API version provided")
        if pace.wait > 0:
            raise too_many(pace.wait, pace.scope)
        return route.do(self.api, call)

    async def _unknown(self, _: web.Request) -> web.StreamResponse:
        return _written({"message": "404: Not Found", "code": 0}, 404)

    async def _file(self, request: web.Request) -> web.StreamResponse:
        file = self.api.world.files.get(f"attachments/{request.match_info['path']}")
        if file is None:
            return web.Response(status=404, text="This content is no longer available.")
        return web.Response(body=file.data, content_type=file.media_type.split(";")[0] or "application/octet-stream")


def _written(body: Any, status: int, headers: dict[str, str] | None = None) -> web.Response:
    """Write an answer; discord.py reads only what is exactly application/json, and trusts a 429 only with `Via`."""
    usual = {"Via": "1.1 google"} | (headers or {})
    if status == 204:
        return web.Response(status=204, headers=usual)
    return web.Response(body=json.dumps(body).encode(), status=status, headers=usual, content_type="application/json")
