"""The test server's API: what it refuses, and how, as Discord does."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import discord
import pytest
from discord.http import Route

from adapters.discord.server import Channel, DiscordServer, Limits, User
from tests.adapters.discord.real_client import Client, pointed, running, until


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
    """Calls without any library of Discord's."""

    def __init__(self, session: aiohttp.ClientSession, server: DiscordServer) -> None:
        self.session, self.server = session, server

    async def call(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        given = {"Authorization": f"Bot {self.server.token}", **headers}
        async with self.session.request(method, self.server.api_url + path, json=body, headers=given) as answer:
            return answer.status, await answer.json() if answer.status != 204 else None

    async def send(self, channel: Channel, **body: Any) -> tuple[int, Any]:
        return await self.call("POST", f"/channels/{channel.id}/messages", body)

    async def refused(self, channel: Channel, **body: Any) -> tuple[int, int, str]:
        status, told = await self.send(channel, **body)
        return status, told["code"], _paths(told.get("errors", {}))


def _paths(errors: dict[str, Any], path: str = "") -> str:
    if "_errors" in errors:
        return f"{path}:{errors['_errors'][0]['code']}"
    return next((_paths(inner, f"{path}.{name}".lstrip(".")) for name, inner in errors.items()), "")


@pytest.fixture
async def raw(server: DiscordServer) -> AsyncIterator[Raw]:
    async with aiohttp.ClientSession() as session:
        yield Raw(session, server)


async def test_a_token_is_needed(server: DiscordServer, raw: Raw) -> None:
    assert await raw.call("GET", "/users/@me", Authorization="Bot wrong") == (
        401,
        {"message": "401: Unauthorized", "code": 0},
    )
    status, me = await raw.call("GET", "/users/@me")
    assert (status, me["id"], me["bot"]) == (200, str(server.bot.id), True)


async def test_what_is_not_there_is_404(raw: Raw, channel: Channel, ann: User) -> None:
    assert await raw.call("GET", "/nothing") == (404, {"message": "404: Not Found", "code": 0})
    for path, code in [
        ("/channels/1", 10003),
        (f"/channels/{channel.id}/messages/1", 10008),
        ("/guilds/1", 10004),
        ("/users/1", 10013),
    ]:
        status, told = await raw.call("GET", path)
        assert (status, told["code"]) == (404, code)


async def test_a_text_is_counted_in_code_points(raw: Raw, channel: Channel) -> None:
    assert (await raw.send(channel, content="😀" * 2000))[0] == 200
    assert await raw.refused(channel, content="x" * 2001) == (400, 50035, "content:BASE_TYPE_MAX_LENGTH")


async def test_an_empty_message_is_refused(raw: Raw, channel: Channel) -> None:
    nothing: list[dict[str, Any]] = [{}, {"content": ""}, {"content": "  \n "}, {"embeds": []}]
    for empty in nothing:
        assert await raw.refused(channel, **empty) == (400, 50006, "")
    assert (await raw.send(channel, embeds=[{"title": "x"}]))[0] == 200


async def test_a_text_is_trimmed(raw: Raw, channel: Channel) -> None:
    _, sent = await raw.send(channel, content="  hi \n")
    assert sent["content"] == "hi"


async def test_the_same_nonce_is_sent_once(server: DiscordServer, raw: Raw, channel: Channel) -> None:
    first = await raw.send(channel, content="hi", nonce="n1", enforce_nonce=True)
    assert await raw.send(channel, content="hi again", nonce="n1", enforce_nonce=True) == first
    await raw.send(channel, content="hi", nonce="n1")
    assert [message.text for message in channel.from_bot] == ["hi", "hi"]
    assert await raw.refused(channel, content="hi", nonce="n" * 26) == (400, 50035, "nonce:BASE_TYPE_BAD_LENGTH")


async def test_a_reply_to_what_is_gone_is_refused_unless_told_otherwise(
    server: DiscordServer, raw: Raw, channel: Channel, ann: User
) -> None:
    said = server.say(ann, channel, "hi")
    reference = {"message_id": str(said.id), "channel_id": str(channel.id)}
    _, sent = await raw.send(channel, content="yes?", message_reference=reference)
    assert (sent["type"], sent["referenced_message"]["content"]) == (19, "hi")
    assert [user["username"] for user in sent["mentions"]] == ["ann"]
    server.delete(said)
    refused = await raw.refused(channel, content="yes?", message_reference=reference)
    assert refused == (400, 50035, "message_reference:MESSAGE_REFERENCE_UNKNOWN_MESSAGE")
    _, sent = await raw.send(channel, content="yes?", message_reference={**reference, "fail_if_not_exists": False})
    assert "message_reference" not in sent


async def test_pings_go_as_far_as_allowed(server: DiscordServer, raw: Raw, channel: Channel, ann: User) -> None:
    assert channel.guild
    role = server.role(channel.guild, "Crew", members=[ann], open=True)
    text = f"{ann.mention} {role.mention} @everyone"
    await raw.send(channel, content=text)
    await raw.send(channel, content=text, allowed_mentions={"parse": []})
    await raw.send(channel, content=text, allowed_mentions={"parse": [], "users": [str(ann.id)]})
    free, none, one = channel.from_bot
    assert (free.mentions, free.mention_roles, free.mention_everyone) == ([ann], [role], False)
    assert (none.mentions, none.mention_roles) == ([], [])
    assert (one.mentions, one.mention_roles) == ([ann], [])
    server.allow(channel, "mention_everyone")
    await raw.send(channel, content=text)
    assert channel.from_bot[-1].mention_everyone
    wrong = {"parse": ["users"], "users": ["1"]}
    refused = await raw.refused(channel, content=text, allowed_mentions=wrong)
    assert refused == (400, 50035, "allowed_mentions:MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE")


async def test_a_bot_may_only_what_it_is_allowed(server: DiscordServer, raw: Raw, channel: Channel, ann: User) -> None:
    said = server.say(ann, channel, "hi")
    place = f"/channels/{channel.id}/messages/{said.id}"
    assert (await raw.call("PATCH", place, {"content": "x"}))[1]["code"] == 50005
    assert (await raw.call("DELETE", place))[1]["code"] == 50013
    server.deny(channel, "read_message_history")
    assert await raw.call("GET", f"/channels/{channel.id}/messages") == (200, [])
    server.deny(channel, "send_messages")
    assert (await raw.refused(channel, content="hi"))[:2] == (403, 50013)
    server.deny(channel, "view_channel")
    assert (await raw.refused(channel, content="hi"))[:2] == (403, 50001)
    server.close_dms(ann)
    assert (await raw.refused(server.private(ann), content="hi"))[:2] == (403, 50007)
    forum = server.forum(channel.guild) if channel.guild else channel
    assert (await raw.refused(forum, content="hi"))[:2] == (400, 50008)


BUTTON = {"type": 2, "style": 1, "label": "Yes", "custom_id": "yes"}
OPTION = {"label": "a", "value": "a"}
SELECT = {"type": 3, "custom_id": "pick", "options": [OPTION]}


def row(*components: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": 1, "components": list(components)}]


@pytest.mark.parametrize(
    ("components", "error"),
    [
        (row(BUTTON) * 6, "components:BASE_TYPE_BAD_LENGTH"),
        ([BUTTON], "components.0.type:BASE_TYPE_CHOICES"),
        (row(*[{**BUTTON, "custom_id": str(n)} for n in range(6)]), "components.0.components:BASE_TYPE_BAD_LENGTH"),
        (row(BUTTON, BUTTON), "components:COMPONENT_CUSTOM_ID_DUPLICATED"),
        (row(BUTTON, SELECT), "components.0.components:COMPONENT_LAYOUT_WIDTH_EXCEEDED"),
        (row({**BUTTON, "label": "x" * 81}), "components.0.components.0.label:BASE_TYPE_MAX_LENGTH"),
        (row({**BUTTON, "custom_id": "x" * 101}), "components.0.components.0.custom_id:BASE_TYPE_BAD_LENGTH"),
        (row({**BUTTON, "custom_id": ""}), "components.0.components.0.custom_id:COMPONENT_CUSTOM_ID_REQUIRED"),
        (row({**BUTTON, "label": ""}), "components.0.components.0:BUTTON_COMPONENT_LABEL_OR_EMOJI_REQUIRED"),
        (row({**BUTTON, "style": 5}), "components.0.components.0.url:URL_TYPE_INVALID_SCHEME"),
        (row({**SELECT, "options": []}), "components.0.components.0.options:BASE_TYPE_BAD_LENGTH"),
        (
            row({**SELECT, "options": [OPTION, OPTION]}),
            "components.0.components.0.options.1.value:SELECT_COMPONENT_OPTION_VALUE_DUPLICATED",
        ),
        (
            row({**SELECT, "options": [{**OPTION, "label": "x" * 101}]}),
            "components.0.components.0.options.0.label:BASE_TYPE_MAX_LENGTH",
        ),
    ],
)
async def test_wrong_buttons_are_refused(raw: Raw, channel: Channel, components: Any, error: str) -> None:
    assert await raw.refused(channel, content="hi", components=components) == (400, 50035, error)


async def test_history_is_given_newest_first(server: DiscordServer, raw: Raw, channel: Channel, ann: User) -> None:
    said = [server.say(ann, channel, str(number)) for number in range(5)]
    place = f"/channels/{channel.id}/messages"

    async def texts(query: str) -> list[str]:
        return [message["content"] for message in (await raw.call("GET", place + query))[1]]

    assert await texts("") == ["4", "3", "2", "1", "0"]
    assert await texts("?limit=2") == ["4", "3"]
    assert await texts(f"?after={said[1].id}&limit=2") == ["3", "2"]
    assert await texts(f"?before={said[2].id}") == ["1", "0"]
    assert await texts(f"?around={said[2].id}&limit=3") == ["3", "2", "1"]
    assert (await raw.call("GET", place + "?limit=101"))[1]["code"] == 50035


async def test_discord_py_reads_history_in_order(server: DiscordServer, ann: User) -> None:
    said = [server.say(ann, ann, str(number)) for number in range(130)]
    async with running(server, Client()) as _:
        pass
    client = Client()
    async with running(server, client):
        place = await client.fetch_channel(said[0].channel.id)
        assert isinstance(place, discord.DMChannel)
        after = discord.Object(said[9].id)
        assert [int(m.content) async for m in place.history(after=after, limit=None)] == list(range(10, 130))


async def test_files_are_uploaded_kept_and_fetched(server: DiscordServer, ann: User) -> None:
    client = Client(echoes=False)
    async with running(server, client):
        user = await client.fetch_user(ann.id)
        sent = await user.send("here", files=[_file("a.txt", b"aaa"), _file("b.txt", b"b")])
        assert [file.data for file in server.private(ann).from_bot[0].files] == [b"aaa", b"b"]
        assert await sent.attachments[0].read() == b"aaa"
        await sent.edit(attachments=[sent.attachments[1], _file("c.txt", b"c")])
        assert [file.name for file in server.private(ann).from_bot[0].files] == ["b.txt", "c.txt"]
        server.say(ann, ann, "look", files=[("note.md", b"# Note")])
        server.paste(ann, ann, "long " * 1000)
        await until(lambda: len(client.heard) == 2)
        note, pasted = client.heard
        assert await note.attachments[0].read() == b"# Note"
        assert (pasted.attachments[0].filename, pasted.attachments[0].content_type) == ("message.txt", None)
        with pytest.raises(discord.HTTPException) as refused:
            await user.send(files=[_file(f"{n}.txt", b"x") for n in range(11)])
        assert refused.value.code == 50035


def _file(name: str, data: bytes) -> discord.File:
    import io

    return discord.File(io.BytesIO(data), name)


async def test_threads_and_posts_are_opened(server: DiscordServer, channel: Channel, ann: User) -> None:
    assert channel.guild
    client, forum, said = Client(), server.forum(channel.guild), server.say(ann, channel, "let us talk")
    async with running(server, client):
        place = client.get_channel(channel.id)
        assert isinstance(place, discord.TextChannel)
        message = await place.fetch_message(said.id)
        thread = await message.create_thread(name="Talk")
        assert (thread.id, server.channel(thread.id).parent) == (said.id, channel)
        with pytest.raises(discord.HTTPException) as refused:
            await message.create_thread(name="Talk")
        assert refused.value.code == 160004
        server.say(ann, server.channel(thread.id), "in the thread")
        assert (await server.reply(server.channel(thread.id))).text == "echo in the thread"
        server.archive(server.channel(thread.id), locked=True)
        with pytest.raises(discord.HTTPException) as refused:
            await thread.send("too late")
        assert refused.value.code == 50083
        board = client.get_channel(forum.id)
        assert isinstance(board, discord.ForumChannel)
        made = await board.create_thread(name="News", content="first")
        assert server.channel(made.thread.id).by_id[made.thread.id].text == "first"
        post = server.post(forum, ann, "Question", "why?")
        assert (await server.reply(post.channel)).text == "echo why?"
    assert client.heard[-1].channel.id == post.id


async def test_the_pace_is_told_and_discord_py_keeps_to_it() -> None:
    async with DiscordServer(limits=Limits({"create_message": (2, 0.3)})) as server:
        ann, client = server.person("Ann"), Client()
        async with running(server, client):
            user = await client.fetch_user(ann.id)
            await asyncio.gather(*(user.send(str(number)) for number in range(5)))
        assert len(server.private(ann).from_bot) == 5
        assert server.journal.of("create_message", status=429) == []


async def test_who_is_too_quick_is_told_how_long_to_wait(server: DiscordServer, channel: Channel) -> None:
    server.limiter.limits = Limits({"create_message": (1, 60.0)})
    async with aiohttp.ClientSession() as session:
        raw = Raw(session, server)
        assert (await raw.send(channel, content="one"))[0] == 200
        url, given = f"{server.api_url}/channels/{channel.id}/messages", {"Authorization": f"Bot {server.token}"}
        async with session.post(url, json={"content": "two"}, headers=given) as answer:
            told = await answer.json()
            assert answer.status == 429
            assert 59 < told["retry_after"] <= 60
            assert told["global"] is False
            assert answer.headers["X-RateLimit-Remaining"] == "0"
            assert answer.headers["X-RateLimit-Bucket"]
            assert answer.headers["Via"]


@pytest.mark.parametrize("scope", ["user", "global"])
async def test_discord_py_waits_when_told_to(server: DiscordServer, ann: User, scope: Any) -> None:
    client = Client()
    async with running(server, client):
        server.fail("create_message", 429, retry_after=0.05, scope=scope)
        server.say(ann, ann, "hi")
        assert (await server.reply(ann)).text == "echo hi"
    assert [call.status for call in server.journal.of("create_message")] == [429, 200]


async def test_calls_fail_as_asked_before_or_after_they_took_effect(server: DiscordServer, ann: User) -> None:
    client = Client()
    async with running(server, client):
        user = await client.fetch_user(ann.id)
        server.fail("create_message", 503)
        with pytest.raises(discord.DiscordServerError):
            await user.send("lost")
        server.fail("create_message", 403, 50007, "Cannot send messages to this user", channel=ann)
        with pytest.raises(discord.Forbidden, match="Cannot send messages to this user"):
            await user.send("lost")
        server.drop("create_message", "before")
        with pytest.raises(aiohttp.ClientError):
            await user.send("lost")
        server.drop("create_message", "after")
        with pytest.raises(aiohttp.ClientError):
            await user.send("shown")
        assert [message.text for message in server.private(ann).from_bot] == ["shown"]
        assert server.journal.calls[-1].dropped
        server.flood(0.1, "create_message", ann)
        await user.send("patient")
        assert server.journal.of("create_message", status=429)


async def test_slow_calls_take_their_time(server: DiscordServer, ann: User) -> None:
    client = Client()
    async with running(server, client):
        user = await client.fetch_user(ann.id)
        server.delay("create_message", 0.2, times=1)
        started = asyncio.get_running_loop().time()
        await user.send("slow")
        assert asyncio.get_running_loop().time() - started >= 0.2


async def test_a_bot_is_seen_typing_and_reacting(server: DiscordServer, ann: User) -> None:
    client = Client(echoes=False)
    async with running(server, client):
        said = server.say(ann, ann, "hi")
        await until(lambda: client.heard)
        async with client.heard[0].channel.typing():
            pass
        assert [channel for channel, _ in server.api.world.typing] == [server.private(ann)]
        await client.heard[0].add_reaction("👀")
        assert said.reactions == {"👀": [server.bot]}
        assert client.user
        await client.heard[0].remove_reaction("👀", client.user)
        assert said.reactions == {}


async def test_what_is_no_json_is_refused(server: DiscordServer, channel: Channel) -> None:
    url, given = f"{server.api_url}/channels/{channel.id}/messages", {"Authorization": f"Bot {server.token}"}
    async with aiohttp.ClientSession(headers=given) as session:
        async with session.post(url, data="hello", headers={"Content-Type": "application/json"}) as answer:
            assert (answer.status, (await answer.json())["code"]) == (400, 50109)
        async with session.post(url, data="hello", headers={"Content-Type": "text/plain"}) as answer:
            assert (answer.status, (await answer.json())["code"]) == (400, 50035)
    with pointed(server):
        assert server.api_url == Route.BASE
