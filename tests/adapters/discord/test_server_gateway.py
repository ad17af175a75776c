"""The test server's gateway: sessions, what breaks them, and what a bot may read."""

import asyncio
import json
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import discord
import pytest

from adapters.discord.server import TOKEN, Channel, DiscordServer, User
from tests.adapters.discord.real_client import Client, pointed, running, until

WORDS = 1 << 9 | 1 << 12
CONTENT = 1 << 15


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    async with DiscordServer() as server:
        yield server


@pytest.fixture
def ann(server: DiscordServer) -> User:
    return server.person("Ann")


@pytest.fixture
def channel(server: DiscordServer, ann: User) -> Channel:
    return server.text_channel(server.guild("Club", [ann]))


class Raw:
    """A socket at the gateway, without any library of Discord's."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def send(self, op: int, data: Any) -> None:
        await self.socket.send_json({"op": op, "d": data})

    async def next(self) -> dict[str, Any]:
        message = await self.socket.receive(timeout=5)
        assert message.type is aiohttp.WSMsgType.TEXT, (message.type, self.socket.close_code)
        return dict(json.loads(message.data))

    async def event(self, name: str) -> dict[str, Any]:
        while (payload := await self.next())["t"] != name:
            pass
        return payload

    async def closed(self) -> int | None:
        while True:
            message = await self.socket.receive(timeout=5)
            if message.type is not aiohttp.WSMsgType.TEXT:
                return self.socket.close_code

    async def identify(self, intents: int = WORDS, token: str = TOKEN, **more: Any) -> None:
        await self.send(2, {"token": token, "intents": intents, "properties": {"os": "linux"}, **more})


@asynccontextmanager
async def raw(server: DiscordServer, query: str = "?v=10&encoding=json") -> AsyncIterator[Raw]:
    async with aiohttp.ClientSession() as session, session.ws_connect(server.gateway_url + query) as socket:
        yield Raw(socket)


async def test_hello_comes_first_then_ready_then_each_guild(server: DiscordServer, channel: Channel) -> None:
    async with raw(server) as socket:
        assert (await socket.next())["d"] == {"heartbeat_interval": 41250}
        await socket.identify(WORDS | 1)
        ready = await socket.next()
        assert (ready["t"], ready["s"]) == ("READY", 1)
        assert channel.guild
        assert ready["d"]["guilds"] == [{"id": str(channel.guild.id), "unavailable": True}]
        assert ready["d"]["resume_gateway_url"] == server.gateway_url
        guild = await socket.next()
        assert (guild["t"], guild["s"], guild["d"]["name"]) == ("GUILD_CREATE", 2, "Club")
        assert [one["id"] for one in guild["d"]["channels"]] == [str(channel.id)]


async def test_a_heartbeat_is_acknowledged_unless_told_not_to(server: DiscordServer) -> None:
    async with raw(server) as socket:
        await socket.next()
        await socket.send(1, None)
        assert (await socket.next())["op"] == 11
        server.gateway.acks = False
        await socket.send(1, None)
        await socket.identify()
        assert (await socket.next())["t"] == "READY"
        server.gateway.ask_heartbeat()
        assert (await socket.next())["op"] == 1


@pytest.mark.parametrize(
    ("op", "data", "code"),
    [
        (2, {"token": "wrong", "intents": 1, "properties": {}}, 4004),
        (2, {"token": TOKEN, "intents": 1 << 30, "properties": {}}, 4013),
        (2, {"token": TOKEN, "intents": 1 << 8, "properties": {}}, 4014),
        (2, {"token": TOKEN, "intents": 1, "properties": {}, "shard": [2, 2]}, 4010),
        (2, {"token": TOKEN, "intents": 1}, 4002),
        (6, {"token": "wrong", "session_id": "x", "seq": 1}, 4004),
        (3, {}, 4003),
    ],
)
async def test_what_breaks_a_rule_closes_the_connection(
    server: DiscordServer, op: int, data: dict[str, Any], code: int
) -> None:
    async with raw(server) as socket:
        await socket.send(op, data)
        assert await socket.closed() == code


@pytest.mark.parametrize(("op", "code"), [(2, 4005), (99, 4001)])
async def test_after_identifying_other_rules_hold(server: DiscordServer, op: int, code: int) -> None:
    async with raw(server) as socket:
        await socket.identify()
        await socket.event("READY")
        await (socket.identify() if op == 2 else socket.send(op, {}))
        assert await socket.closed() == code


async def test_what_is_no_json_or_another_version_closes_the_connection(server: DiscordServer) -> None:
    async with raw(server) as socket:
        await socket.socket.send_str("hello")
        assert await socket.closed() == 4002
    async with raw(server, "?v=6") as socket:
        assert await socket.closed() == 4012


async def test_too_many_payloads_close_the_connection(server: DiscordServer) -> None:
    async with raw(server) as socket:
        for _ in range(121):
            await socket.send(1, None)
        assert await socket.closed() == 4008


async def test_who_sends_no_heartbeat_is_cut_off() -> None:
    async with DiscordServer(heartbeat=0.05) as server, raw(server) as socket:
        await socket.identify()
        assert await socket.closed() == 4009


async def test_what_was_missed_is_replayed_on_resuming(server: DiscordServer, ann: User) -> None:
    async with raw(server) as socket:
        await socket.identify(WORDS)
        ready = await socket.event("READY")
        server.say(ann, ann, "one")
        seen = await socket.event("MESSAGE_CREATE")
        server.gateway.drop()
        await socket.closed()
    server.say(ann, ann, "two")
    async with raw(server) as socket:
        await socket.send(6, {"token": TOKEN, "session_id": ready["d"]["session_id"], "seq": seen["s"]})
        missed = await socket.event("MESSAGE_CREATE")
        assert (missed["d"]["content"], missed["s"]) == ("two", seen["s"] + 1)
        assert (await socket.next())["t"] == "RESUMED"


async def test_a_session_that_is_over_or_a_number_from_nowhere_can_not_be_resumed(
    server: DiscordServer, ann: User
) -> None:
    async with raw(server) as socket:
        await socket.identify()
        ready = await socket.event("READY")
    session = ready["d"]["session_id"]
    async with raw(server) as socket:  # the last was closed with 1000
        await socket.next()
        await socket.send(6, {"token": TOKEN, "session_id": session, "seq": 1})
        assert await socket.next() == {"op": 9, "s": None, "t": None, "d": False}
        await socket.identify()
        ready = await socket.event("READY")
        server.gateway.drop()
        await socket.closed()
    async with raw(server) as socket:
        await socket.send(6, {"token": TOKEN, "session_id": ready["d"]["session_id"], "seq": 99})
        assert await socket.closed() == 4007


async def test_packed_as_one_stream_a_connection(server: DiscordServer, ann: User) -> None:
    async with raw(server, "?v=10&encoding=json&compress=zlib-stream") as socket:
        unpack = zlib.decompressobj()
        texts: list[str] = []
        await socket.identify()
        await server.connected()
        server.say(ann, ann, "hi")
        while not any('"hi"' in text for text in texts):
            message = await socket.socket.receive(timeout=5)
            assert message.data.endswith(b"\x00\x00\xff\xff")
            texts.append(unpack.decompress(message.data).decode())


async def test_words_are_blank_without_the_intent_but_in_direct_messages_and_mentions(
    server: DiscordServer, ann: User, channel: Channel
) -> None:
    async with raw(server) as socket:
        await socket.identify(WORDS)
        await socket.event("READY")
        server.say(ann, channel, "in passing", files=[("a.txt", b"a")])
        server.say(ann, channel, f"{server.bot.mention} hello")
        server.say(ann, ann, "between us")
        events = [(await socket.event("MESSAGE_CREATE"))["d"] for _ in range(3)]
    assert [event["content"] for event in events] == ["", f"{server.bot.mention} hello", "between us"]
    assert events[0]["attachments"] == []


async def test_only_what_was_asked_for_comes(server: DiscordServer, ann: User, channel: Channel) -> None:
    async with raw(server) as socket:
        await socket.identify(1 << 12)
        await socket.event("READY")
        server.say(ann, channel, "in the guild")
        server.type(ann, ann)
        server.say(ann, ann, "between us")
        assert (await socket.next())["d"]["content"] == "between us"


async def test_what_the_bot_can_not_see_does_not_come(server: DiscordServer, ann: User, channel: Channel) -> None:
    secret = server.text_channel(channel.guild, "secret") if channel.guild else channel
    server.deny(secret, "view_channel")
    async with raw(server) as socket:
        await socket.identify(WORDS | CONTENT)
        await socket.event("READY")
        server.say(ann, secret, "psst")
        server.say(ann, channel, "hello")
        assert (await socket.event("MESSAGE_CREATE"))["d"]["content"] == "hello"


async def test_events_can_be_held_reordered_and_repeated(server: DiscordServer, ann: User) -> None:
    async with raw(server) as socket:
        await socket.identify()
        await socket.event("READY")
        server.gateway.hold()
        server.say(ann, ann, "one")
        server.say(ann, ann, "two")
        server.gateway.release(reversed)
        server.gateway.repeat(server.gateway.of("MESSAGE_CREATE")[0])
        events = [await socket.next() for _ in range(3)]
    assert [event["d"]["content"] for event in events] == ["two", "one", "one"]
    assert [event["s"] for event in events] == [2, 3, 4]


async def test_a_guild_belongs_to_one_shard(server: DiscordServer, ann: User, channel: Channel) -> None:
    assert channel.guild
    shard = (channel.guild.id >> 22) % 2
    async with raw(server) as socket:
        await socket.identify(WORDS | CONTENT | 1, shard=[1 - shard, 2])
        assert (await socket.event("READY"))["d"]["guilds"] == []
        server.say(ann, channel, "hello")
        async with raw(server) as other:
            await other.identify(WORDS | CONTENT | 1, shard=[shard, 2])
            await other.event("GUILD_CREATE")
            server.say(ann, channel, "again")
            assert (await other.event("MESSAGE_CREATE"))["d"]["content"] == "again"
    assert len(server.gateway.sessions) == 2


async def test_discord_py_resumes_after_a_drop_and_hears_what_it_missed(server: DiscordServer, ann: User) -> None:
    client = Client()
    async with running(server, client):
        server.gateway.is_open = False
        server.gateway.drop()
        await server.wait_for(lambda: not server.gateway.live)
        server.say(ann, ann, "while away")
        server.gateway.is_open = True
        assert (await server.reply(ann, timeout=15)).text == "echo while away"
        await until(lambda: "RESUMED" in client.events)
    assert (client.ready_count, len(server.gateway.sessions)) == (1, 1)


async def test_discord_py_comes_again_when_asked_to(server: DiscordServer, ann: User) -> None:
    client = Client()
    async with running(server, client):
        server.gateway.reconnect()
        await until(lambda: "RESUMED" in client.events)
        server.say(ann, ann, "hi")
        assert (await server.reply(ann)).text == "echo hi"


async def test_discord_py_begins_anew_when_its_session_is_over(server: DiscordServer, ann: User) -> None:
    client = Client()
    async with running(server, client):
        server.gateway.invalidate()
        server.say(ann, ann, "unheard")
        await server.wait_for(lambda: len(server.gateway.sessions) == 2, 10)
        server.say(ann, ann, "hi")
        assert (await server.reply(ann)).text == "echo hi"
        await until(lambda: client.ready_count == 2)
    assert [message.content for message in client.heard] == ["hi"]


async def test_discord_py_hears_a_repeated_message_twice(server: DiscordServer, ann: User) -> None:
    client = Client(echoes=False)
    async with running(server, client):
        server.say(ann, ann, "hi")
        server.gateway.repeat(server.gateway.of("MESSAGE_CREATE")[0])
        server.say(ann, ann, "end")
        await server.quiet(0.1)
    assert [message.content for message in client.heard] == ["hi", "hi", "end"]
    assert client.heard[0].id == client.heard[1].id


async def test_discord_py_takes_a_silent_gateway_for_gone() -> None:
    async with DiscordServer(heartbeat=0.2) as server:
        client = Client(heartbeat_timeout=0.5)
        async with running(server, client):
            server.gateway.acks = False
            await until(lambda: "RESUMED" in client.events, 10)


async def test_a_missing_intent_is_refused_and_a_bad_token_too() -> None:
    async with DiscordServer(switched_on=()) as server:
        with pytest.raises(discord.PrivilegedIntentsRequired):
            async with running(server, Client()):
                pass
        with pointed(server):
            client = Client()
            with pytest.raises(discord.LoginFailure):
                await client.login("wrong")
            await client.close()


async def test_sharded_clients_open_as_many_shards_as_they_are_told() -> None:
    async with DiscordServer(shards=2) as server:
        ann = server.person("Ann")
        guilds = [server.guild(name, [ann]) for name in ("One", "Two")]
        heard: list[str] = []

        class Sharded(discord.AutoShardedClient):
            async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
                """Do not wait."""

            async def on_message(self, message: discord.Message) -> None:
                heard.append(message.content)

        intents = discord.Intents.default()
        intents.message_content = True
        client = Sharded(intents=intents, guild_ready_timeout=0.05)
        async with running(server, client):
            assert len(server.gateway.live) == 2
            for guild in guilds:
                server.say(ann, server.text_channel(guild), guild.name)
            server.say(ann, ann, "DM")
            await server.quiet(0.1)
    assert sorted(heard) == ["DM", "One", "Two"]


async def test_all_members_are_given_when_asked_for(server: DiscordServer) -> None:
    people = [server.person(name) for name in ("Ann", "Bob", "Cid")]
    guild = server.guild("Club", people)
    intents = discord.Intents.default()
    intents.members = True
    client = Client(intents)
    async with running(server, client):
        known = client.get_guild(guild.id)
        assert known
        assert {member.name for member in known.members} == {"ann", "bob", "cid", "Keepmind"}
        server.join(guild, server.person("Dan"))
        await server.quiet(0.1)
        assert len(known.members) == 5
        server.leave(guild, people[1])
        await server.quiet(0.1)
        assert {member.name for member in known.members} == {"ann", "cid", "dan", "Keepmind"}


async def test_an_outage_ends_with_all_connected_again(server: DiscordServer, ann: User) -> None:
    client = Client()
    async with running(server, client):
        await server.stop()
        server.say(ann, ann, "into the void")
        await asyncio.sleep(0)
        await server.start()
        assert (await server.reply(ann, timeout=20)).text == "echo into the void"
