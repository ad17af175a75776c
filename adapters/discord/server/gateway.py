"""The gateway: sockets, sessions that outlive them, and the events that go to each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable

from aiohttp import web

from adapters.discord.server.compression import packing
from adapters.discord.server.intents import GUILDS, KNOWN, application_flags, disallowed
from adapters.discord.server.refusals import Json
from adapters.discord.server.sessions import Event, Session
from adapters.discord.server.shapes import guild_event, member_shape, user_shape
from adapters.discord.server.sockets import Closed, Socket
from adapters.discord.server.world import World

DISPATCH, HEARTBEAT, IDENTIFY, PRESENCE, VOICE, RESUME = 0, 1, 2, 3, 4, 6
RECONNECT, MEMBERS, INVALID, HELLO, ACK = 7, 8, 9, 10, 11
CLOSES = {
    4000: "Unknown error.",
    4001: "Unknown opcode.",
    4002: "Error while decoding payload.",
    4003: "Not authenticated.",
    4004: "Authentication failed.",
    4005: "Already authenticated.",
    4007: "Invalid seq.",
    4008: "You are sending requests too quickly.",
    4009: "Session timed out.",
    4010: "Invalid shard.",
    4011: "Sharding required.",
    4012: "Invalid API version.",
    4013: "Invalid intent(s).",
    4014: "Disallowed intent(s).",
}


class Gateway:
    """One bot's gateway.

    `log` holds every event, `heard` every payload of the bot. With `acks` off heartbeats stay unanswered; while
    `is_open` is off connections are refused.
    """

    def __init__(
        self,
        world: World,
        token: str,
        address: Callable[[], str],
        switched_on: Collection[str],
        heartbeat: float = 41.25,
        shards: int = 1,
    ) -> None:
        self.world, self.token, self.address, self.shards = world, token, address, shards
        self.switched_on: Collection[str] = switched_on
        self.heartbeat, self.acks, self.is_open = heartbeat, True, True
        self.sessions: dict[str, Session] = {}
        self.sockets: list[Socket] = []
        self.log: list[Event] = []
        self.heard: list[Json] = []
        self._held: list[Event] | None = None
        self._count = 0

    @property
    def live(self) -> list[Session]:
        """The sessions that are connected now."""
        return [session for session in self.sessions.values() if session.socket]

    def put(self, event: Event) -> Event:
        """Tell every session that asked for it of an event; those without a socket hear of it when they resume."""
        self.log.append(event)
        if self._held is None:
            self._deliver(event)
        else:
            self._held.append(event)
        return event

    def _deliver(self, event: Event) -> None:
        for session in self.sessions.values():
            if session.wants(event):
                session.tell(event)
        self.world.changed.ring()

    def hold(self) -> None:
        """Keep back what comes from now on."""
        self._held = []

    def release(self, order: Callable[[list[Event]], Iterable[Event]] = list) -> None:
        """Let go of what was held, in another order if wanted (`reversed`)."""
        held, self._held = self._held or [], None
        for event in order(held):
            self._deliver(event)

    def repeat(self, event: Event) -> None:
        """Deliver an event once more, under another number, as happens around a reconnect."""
        self._deliver(event)

    def of(self, name: str) -> list[Event]:
        """Find the events of a name."""
        return [event for event in self.log if event.name == name]

    def drop(self) -> None:
        """Cut every connection without a word; the sessions can be resumed."""
        for socket in list(self.sockets):
            socket.drop()

    def close(self, code: int = 1001) -> None:
        """Close every connection with a code; the sessions can be resumed unless the code ends them."""
        for socket in list(self.sockets):
            socket.close(code, CLOSES.get(code, ""))

    def reconnect(self) -> None:
        """Ask every connection to come again."""
        self._send_all({"op": RECONNECT, "d": None})

    def invalidate(self, resumable: bool = False) -> None:
        """End every session, or say that they can be resumed after all."""
        if not resumable:
            self.forget()
        self._send_all({"op": INVALID, "d": resumable})

    def forget(self) -> None:
        """Let no session be resumed, as after a long outage; nobody is told until they try."""
        for session in list(self.sessions.values()):
            session.is_gone = True

    def ask_heartbeat(self) -> None:
        """Ask every connection for a heartbeat at once."""
        self._send_all({"op": HEARTBEAT, "d": None})

    def _send_all(self, payload: Json) -> None:
        for socket in list(self.sockets):
            socket.send({"s": None, "t": None} | payload)

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """Hold one connection."""
        if not self.is_open:
            return web.Response(status=503)
        response = web.WebSocketResponse(max_msg_size=0, autoping=True)
        await response.prepare(request)
        try:
            pack = packing(request.query.get("compress", ""))
        except ValueError:
            await response.close(code=4002, message=CLOSES[4002].encode())
            return response
        socket = Socket(response, request.transport, pack)
        if request.query.get("v") not in ("9", "10"):
            socket.close(4012, CLOSES[4012])
        await self._hold(socket)
        return response

    async def _hold(self, socket: Socket) -> None:
        self.sockets.append(socket)
        self.world.changed.ring()
        writing = asyncio.create_task(socket.write())
        socket.send({"op": HELLO, "s": None, "t": None, "d": {"heartbeat_interval": int(self.heartbeat * 1000)}})
        try:
            async for payload in socket.read(1.5 * self.heartbeat):
                self._hear(socket, payload)
        except Closed as closed:
            socket.close(closed.code, CLOSES.get(closed.code, ""))
        finally:
            self.sockets.remove(socket)
            self._part(socket)
            await socket.end(writing)
            self.world.changed.ring()

    def _part(self, socket: Socket) -> None:
        session = socket.session
        if session is not None and session.socket is socket:
            session.socket = None
            if socket.closed_by_bot in (1000, 1001):
                session.is_gone = True

    def _hear(self, socket: Socket, payload: Json) -> None:
        """Do what the bot says. Raises Closed."""
        self.heard.append(payload)
        operation, data = payload.get("op"), payload.get("d")
        if operation == HEARTBEAT:
            if self.acks:
                socket.send({"op": ACK, "s": None, "t": None, "d": None})
        elif operation in (IDENTIFY, RESUME):
            if socket.session is not None:
                raise Closed(4005)
            if not isinstance(data, dict):
                raise Closed(4002)
            (self._identify if operation == IDENTIFY else self._resume)(socket, data)
        elif socket.session is None:
            raise Closed(4003)
        elif operation == MEMBERS:
            self._give_members(socket.session, data or {})
        elif operation not in (PRESENCE, VOICE):
            raise Closed(4001)
        self.world.changed.ring()

    def _check_token(self, data: Json) -> None:
        if str(data.get("token", "")).removeprefix("Bot ") != self.token:
            raise Closed(4004)

    def _identify(self, socket: Socket, data: Json) -> None:
        self._check_token(data)
        intents = data.get("intents")
        if not isinstance(data.get("properties"), dict):
            raise Closed(4002)
        if not isinstance(intents, int) or intents & ~KNOWN:
            raise Closed(4013)
        if disallowed(intents, self.switched_on):
            raise Closed(4014)
        shard, count = data.get("shard") or (0, 1)
        if not 0 <= shard < count:
            raise Closed(4010)
        self._count += 1
        session = Session(f"{self._count:032x}", shard, count, intents, socket, self.world.bot)
        socket.session = self.sessions[session.id] = session
        self._greet(session)

    def _greet(self, session: Session) -> None:
        guilds = [guild for guild in self.world.guilds.values() if session.serves(guild.id)]
        mine = [guild for guild in guilds if self.world.bot.id in guild.members]
        application = {"id": str(self.world.bot.id), "flags": application_flags(self.switched_on)}
        ready: Json = {
            "v": 10,
            "user": user_shape(self.world.bot) | {"verified": True, "mfa_enabled": True, "email": None, "flags": 0},
            "guilds": [{"id": str(guild.id), "unavailable": True} for guild in mine],
            "private_channels": [],
            "session_id": session.id,
            "resume_gateway_url": self.address(),
            "session_type": "normal",
            "shard": [session.shard, session.count],
            "application": application,
        }
        session.tell(Event("READY", ready))
        for guild in mine if session.intents & GUILDS else []:
            session.tell(Event("GUILD_CREATE", guild_event(guild, self.world), guild.id))

    def _resume(self, socket: Socket, data: Json) -> None:
        self._check_token(data)
        session, seq = self.sessions.get(str(data.get("session_id"))), data.get("seq")
        if session is None or session.is_gone:
            socket.send({"op": INVALID, "s": None, "t": None, "d": False})
            return
        if not isinstance(seq, int) or not 0 <= seq <= session.seq:
            raise Closed(4007)
        if session.socket is not None:
            session.socket.close(4000, CLOSES[4000])
        socket.session, session.socket = session, socket
        session.replay(seq)

    def _give_members(self, session: Session, data: Json) -> None:
        guild = self.world.guilds.get(int(data.get("guild_id", 0)))
        if guild is None:
            return
        wanted = {int(number) for number in data.get("user_ids") or []}
        query, limit = str(data.get("query") or "").lower(), int(data.get("limit") or 0)
        members = [
            member
            for member in guild.members.values()
            if (member.user.id in wanted if wanted else member.user.name.lower().startswith(query))
        ]
        chunk: Json = {
            "guild_id": str(guild.id),
            "members": [member_shape(member) for member in members[: limit or None]],
            "chunk_index": 0,
            "chunk_count": 1,
            "not_found": [str(number) for number in wanted - guild.members.keys()],
        }
        nonce = {"nonce": data["nonce"]} if data.get("nonce") else {}
        session.tell(Event("GUILD_MEMBERS_CHUNK", chunk | nonce, guild.id))
