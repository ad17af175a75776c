"""The test server: Telegram's Bot API over HTTP, and the people behind it."""

from __future__ import annotations

import asyncio
import inspect
import re
import time
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from aiohttp import web

from adapters.telegram.server import asking, sending
from adapters.telegram.server.api import Api, Method
from adapters.telegram.server.arguments import Arguments, read
from adapters.telegram.server.journal import Call, Journal
from adapters.telegram.server.limits import Limiter, Limits
from adapters.telegram.server.refusals import Json, Refusal, too_many
from adapters.telegram.server.talk import Talk
from adapters.telegram.server.world import Chat, Message, User, World
from adapters.wire.faults import Fault, Faults
from adapters.wire.listening import Listening

TOKEN = "123456789:AAtest-token-for-the-local-server-0"  # of no use anywhere else
METHODS: dict[str, Method] = {name.lower(): method for name, method in (asking.METHODS | sending.METHODS).items()}
_LIMITED = frozenset(name.lower() for name in sending.LIMITED)
_TOKEN_FORM = re.compile(r"\d+:[\w-]{30,}")
_BODY = 64 * 2**20
T = TypeVar("T")


class TelegramServer(Talk):
    """A strict Bot API server in this process, for one bot.

    `base_url` and `base_file_url` go to python-telegram-bot's builder. `limits` turns the platform's own pace on;
    `privacy` hides from the bot what is not addressed to it in groups. `first_message` is the first message's id, for a
    bot that remembers those of an earlier server.
    """

    def __init__(
        self,
        token: str = TOKEN,
        username: str = "keepmind_bot",
        host: str = "127.0.0.1",
        port: int = 0,
        limits: Limits | None = None,
        privacy: bool = False,
        clock: Callable[[], float] = time.time,
        keep_calls: bool = True,
        first_message: int = 1,
    ) -> None:
        self.token, self._listening = token, Listening(host, port)
        bot = User(int(token.split(":")[0]), "Keepmind", username=username, is_bot=True)
        self.api = Api(World(bot, clock, privacy, first_message))
        self.journal, self.faults, self.limiter = Journal(keep_calls), Faults(), Limiter(limits)

    async def __aenter__(self) -> TelegramServer:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def url(self) -> str:
        """Where it listens."""
        return self._listening.url

    @property
    def base_url(self) -> str:
        """What python-telegram-bot puts the token behind."""
        return f"{self.url}/bot"

    @property
    def base_file_url(self) -> str:
        """What python-telegram-bot puts the token behind to fetch files."""
        return f"{self.url}/file/bot"

    @property
    def bot(self) -> User:
        """The bot whose server it is."""
        return self.api.world.bot

    @property
    def calls(self) -> list[Call]:
        """Every call so far."""
        return self.journal.calls

    async def start(self) -> None:
        """Listen, on a free port unless one was given; after `stop` again on the same, as after an outage."""
        self.api.updates.is_closed = False
        application = web.Application(client_max_size=_BODY)
        application.router.add_route("*", "/bot{token}/{method}", self._answer)
        application.router.add_get("/file/bot{token}/{path:.+}", self._file)
        await self._listening.start(application)

    async def stop(self) -> None:
        """End all polling and posting, and stop listening."""
        self.api.updates.close()
        await self.api.webhook.stop()
        await self._listening.stop()

    async def wait_for(self, condition: Callable[[], T | Literal[False] | None], timeout: float = 5.0) -> T:
        """Wait until something holds of what is seen. Raises TimeoutError after so many seconds."""
        return await self.api.world.changed.until(condition, timeout)

    async def reply(
        self,
        chat: Chat | User,
        after: Message | None = None,
        timeout: float = 5.0,
        where: Callable[[Message], bool] = lambda _: True,
    ) -> Message:
        """Wait for the bot's first message in a chat after another, or after the last that was not the bot's."""
        place = self.chat(chat)
        others = [message.id for message in place.messages if not message.by_bot]
        last = after.id if after else max(others, default=0)
        return await self.wait_for(
            lambda: next((one for one in place.from_bot if one.id > last and where(one)), None), timeout
        )

    async def quiet(self, seconds: float = 0.3, timeout: float = 10.0) -> None:
        """Wait until nothing has changed for so long. Raises TimeoutError."""
        async with asyncio.timeout(timeout):
            while await self.api.world.changed.wait(seconds):
                pass

    async def answered(self, query: str, timeout: float = 5.0) -> Json:
        """Wait until the bot has answered the press of a button; gives what with."""
        return await self.wait_for(lambda: self.api.world.queries[query] or {}, timeout)

    def fail(
        self,
        method: str,
        code: int,
        description: str = "",
        chat: Chat | User | None = None,
        times: int = 1,
        skip: int = 0,
        when: Literal["before", "after"] = "before",
        **parameters: int,
    ) -> Fault:
        """Refuse the next calls of a method; 429 takes `retry_after`. `after` refuses what has taken effect."""
        known = {429: f"Too Many Requests: retry after {parameters.get('retry_after', 1)}", 502: "Bad Gateway"}
        text = description or known.get(code, "Internal Server Error")
        refusal = Refusal(code, text, **({"retry_after": 1} if code == 429 else {}) | parameters)
        return self.faults.add(Fault(method, chat.id if chat else None, 0, refusal, False, when, times, skip))

    def drop(
        self, method: str, when: Literal["before", "after"] = "after", chat: Chat | User | None = None, times: int = 1
    ) -> Fault:
        """Cut the connection of the next calls: after they took effect, so that nobody can tell, or before."""
        return self.faults.add(Fault(method, chat.id if chat else None, 0, None, True, when, times))

    def delay(self, method: str, seconds: float, chat: Chat | User | None = None, times: int = -1) -> Fault:
        """Slow the next calls down."""
        return self.faults.add(Fault(method, chat.id if chat else None, seconds, times=times))

    def flood(self, chat: Chat | User, seconds: float) -> None:
        """Refuse what is sent or edited in a chat for so long, saying how much of it is left."""
        self.limiter.flood(chat.id, self.api.world.clock() + seconds)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        try:
            self._check_token(request.match_info["token"])
            arguments = await read(request)
            call = Call(request.match_info["method"], arguments, self.api.world.clock())
        except Refusal as refusal:
            return web.json_response(refusal.body(), status=refusal.code)
        except ConnectionError:  # the bot hung up before it had said all
            return web.Response(status=400)
        self.journal.add(call)
        body = await self._outcome(call)
        if body is None:
            if request.transport:
                request.transport.abort()
            return web.Response(status=500)
        return web.json_response(body, status=call.code)

    async def _outcome(self, call: Call) -> Json | None:
        """Do a call with whatever goes wrong; None when its connection is cut."""
        fault = self.faults.take(call.method, call.chat) or Fault()
        await asyncio.sleep(fault.delay)
        try:
            if fault.when == "after" or not (fault.drop or fault.refusal):
                call.result = await self._do(call.method.lower(), call.arguments)
            if fault.drop:
                call.dropped = True
                return None
            if fault.refusal:
                raise fault.refusal
            call.code = 200
        except Refusal as refusal:
            call.code, call.description = refusal.code, refusal.description
            return refusal.body()
        return {"ok": True, "result": call.result}

    async def _do(self, name: str, arguments: Arguments) -> Any:
        method = METHODS.get(name)
        if method is None:
            raise Refusal(404, "Not Found: method not found")
        if name in _LIMITED and (chat := self.api.world.find_chat(arguments.chat)):
            wait = self.limiter.wait(chat.id, self.api.world.clock())
            if wait:
                raise too_many(wait)
        result = method(self.api, arguments)
        return await result if inspect.isawaitable(result) else result

    def _check_token(self, token: str) -> None:
        if not _TOKEN_FORM.fullmatch(token):
            raise Refusal(404, "Not Found")
        if token != self.token:
            raise Refusal(401, "Unauthorized")

    async def _file(self, request: web.Request) -> web.StreamResponse:
        try:
            self._check_token(request.match_info["token"])
        except Refusal as refusal:
            return web.json_response(refusal.body(), status=refusal.code)
        file = self.api.world.files.get(request.match_info["path"].removeprefix("documents/"))
        if file is None:
            return web.json_response(Refusal(404, "Not Found").body(), status=404)
        return web.Response(body=file.data, content_type="application/octet-stream")
