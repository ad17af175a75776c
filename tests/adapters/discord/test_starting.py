"""How the bot on Discord starts, goes on and comes to its end (cases D, E and N)."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import Mapping
from datetime import datetime

import pytest
from discord.gateway import KeepAliveHandler

from adapters.discord.away import Absence
from adapters.discord.groups import Groups
from adapters.discord.server import TOKEN, DiscordServer, Event
from adapters.inmemory import InMemoryStore
from core.errors import ConfigError
from core.messages import ChatKey
from core.modes import LISTEN
from tests.adapters.discord.life import Club, answered, called, comes_true, held, living, texts, until
from tests.fakes import FakeClock


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("token", [TOKEN[:-1] + "1", "nonsense"])
async def test_n03_a_wrong_token_is_one_sentence_that_names_the_variable(server: DiscordServer, token: str) -> None:
    async with living(server, token=token, connected=False) as life:
        with pytest.raises(ConfigError, match="DISCORD_BOT_TOKEN") as caught:
            await life.running
    assert token not in str(caught.value)


async def test_a_token_that_is_taken_back_ends_it(server: DiscordServer) -> None:
    async with living(server) as life:
        server.gateway.close(4004)
        with pytest.raises(ConfigError, match="DISCORD_BOT_TOKEN"):
            await life.running


async def test_n08_a_missing_intent_names_the_switch_and_the_way_without() -> None:
    async with DiscordServer(switched_on=()) as server, living(server, connected=False) as life:
        with pytest.raises(ConfigError, match=r"MESSAGE CONTENT INTENT.*discord\.message_content"):
            await life.running


async def test_d03_without_the_intent_direct_messages_and_mentions_are_answered(club: Club) -> None:
    async with DiscordServer(switched_on=()) as server:
        ann = server.person("Ann")
        general = server.text_channel(server.guild("Club", [ann]))
        async with living(server, content=False) as life:
            server.say(ann, general, "words that are kept from the bot")
            await answered(server, server.say(ann, general, called(server, "hi")))
            said = server.say(ann, ann, "hello")
            await answered(server, said)
            server.edit(said, "hello there")
            await until(lambda: life.asked())
            assert life.asked() == ["[Ann] hi", "hello"]


async def test_it_asks_for_no_more_than_it_needs(server: DiscordServer) -> None:
    async with living(server) as life:
        asked = {name for name, wanted in life.adapter.client.intents if wanted}
    assert asked == {"guilds", "guild_messages", "dm_messages", "message_content"}


async def test_an_address_that_leads_elsewhere_is_named(server: DiscordServer) -> None:
    async with living(server, connected=False, api_url=f"{server.url}/elsewhere") as life:
        with pytest.raises(ConfigError, match="DISCORD_API_URL"):
            await life.running


async def test_it_starts_as_soon_as_discord_can_be_reached(caplog: pytest.LogCaptureFixture) -> None:
    server = DiscordServer(port=free_port())
    ann = server.person("Ann")
    async with living(server, connected=False):
        await until(lambda: "can't be reached" in caplog.text)
        await server.start()
        await server.connected()
        assert (await answered(server, server.say(ann, ann, "hi"))).text == "You said: hi"
    await server.stop()


async def test_it_starts_though_the_gateway_is_out_of_reach_at_first(server: DiscordServer) -> None:
    ann = server.person("Ann")
    server.fail("get_gateway_bot", 503, times=2)
    async with living(server):
        assert (await answered(server, server.say(ann, ann, "hi"))).text == "You said: hi"


async def test_d08_however_often_a_session_begins_the_start_up_work_is_done_once(
    server: DiscordServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "keepmind.discord")
    ann = server.person("Ann")
    async with living(server) as life:
        synced = server.journal.counts["put_commands"]
        assert synced
        server.gateway.close(4000)
        server.gateway.forget()
        await server.wait_for(lambda: len(server.gateway.sessions) == 2 and server.gateway.live, timeout=15)
        await answered(server, server.say(ann, ann, "hi"))
        assert len([one for one in caplog.messages if "serving Discord" in one]) == 1
        assert server.journal.counts["put_commands"] == synced
        assert len(life.asked()) == 1


async def test_a_beginning_that_the_library_trips_over_costs_a_session_and_not_the_bot(
    server: DiscordServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "keepmind.discord")
    ann = server.person("Ann")
    async with living(server):
        await answered(server, server.say(ann, ann, "one"))
        synced = server.journal.counts["put_commands"]
        session = server.gateway.live[0]
        server.gateway.put(Event("READY", {"v": 10}))
        await server.wait_for(lambda: server.gateway.live and server.gateway.live != [session], timeout=15)
        await answered(server, server.say(ann, ann, "two"))
        assert len([one for one in caplog.messages if "serving Discord" in one]) == 1
        assert server.journal.counts["put_commands"] == synced


async def test_after_a_cut_the_session_is_resumed_and_nothing_is_lost_or_doubled(server: DiscordServer) -> None:
    ann = server.person("Ann")
    async with living(server) as life:
        await answered(server, server.say(ann, ann, "one"))
        server.gateway.drop()
        said = server.say(ann, ann, "two")
        await answered(server, said)
        assert life.asked() == ["one", "two"]
        assert len(server.gateway.sessions) == 1


async def test_what_was_said_while_no_session_could_be_resumed_is_fetched(server: DiscordServer, club: Club) -> None:
    async with living(server, groups=Groups(LISTEN)) as life:
        await answered(server, server.say(club.ann, club.ann, "one"))
        await answered(server, server.say(club.ann, club.general, called(server, "one here")))
        server.gateway.is_open = False
        server.gateway.close(4000)
        server.gateway.forget()
        two = server.say(club.ann, club.ann, "two")
        server.say(club.bob, club.general, "two here")
        server.gateway.is_open = True
        await server.reply(club.ann, after=two, timeout=20)
        await comes_true(lambda: life.store.holds("two here"))
        await life.engine.idle()
        assert await life.turns(club.general.id) == ["one here", "two here"]
        assert await life.turns(server.private(club.ann).id) == ["one", "two"]


async def test_e06_what_was_said_while_the_bot_was_down_is_answered_in_order_and_once(
    server: DiscordServer, club: Club
) -> None:
    store = InMemoryStore()
    async with living(server, store=store):
        await answered(server, server.say(club.ann, club.ann, "one"))
        await answered(server, server.say(club.ann, club.general, called(server, "one here")))
    server.say(club.ann, club.ann, "two")
    server.say(club.bob, club.general, "not for it")
    said = server.say(club.ann, club.general, called(server, "two here"))
    async with living(server, store=store) as life:
        await answered(server, said)
        await until(lambda: len(server.private(club.ann).from_bot) == 2)
        await answered(server, server.say(club.ann, club.ann, "three"))
        assert await life.turns(server.private(club.ann).id) == ["one", "two", "three"]
        assert await life.turns(club.general.id) == ["one here", "two here"]
    async with living(server, store=store) as life:
        await answered(server, server.say(club.ann, club.ann, "four"))
        assert life.asked() == ["four"]


class Slow(InMemoryStore):
    """A store that tells where something was heard only when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.let = asyncio.Event(), asyncio.Event()
        self.let.set()

    async def heard(self, platform: str, *, limit: int) -> Mapping[ChatKey, datetime]:
        self.asked.set()
        await self.let.wait()
        return await super().heard(platform, limit=limit)


async def test_what_is_said_while_it_catches_up_comes_after_what_was_missed(server: DiscordServer) -> None:
    ann, store = server.person("Ann"), Slow()
    async with living(server, store=store):
        await answered(server, server.say(ann, ann, "one"))
    server.say(ann, ann, "two")
    store.let.clear()
    store.asked.clear()
    async with living(server, store=store, quiet=0.0) as life:
        await store.asked.wait()
        comes = asyncio.create_task(life.adapter.client.wait_for("message"))
        await asyncio.sleep(0)
        server.say(ann, ann, "three")
        await comes
        await server.quiet(0.05)
        store.let.set()
        await until(lambda: len(life.asked()) == 2)
        assert life.asked() == ["two", "three"]


async def test_what_was_said_in_a_sleeping_thread_meanwhile_stays_in_its_conversation(
    server: DiscordServer, club: Club
) -> None:
    store = InMemoryStore()
    thread = server.thread(club.general, "talk", club.ann)
    async with living(server, store=store):
        await answered(server, server.say(club.ann, thread, called(server, "one")))
    said = server.say(club.ann, thread, called(server, "two"))
    server.archive(thread)
    async with living(server, store=store) as life:
        await answered(server, said)
        assert await life.turns(club.general.id, thread.id) == ["one", "two"]


async def test_where_each_conversation_gets_a_thread_one_that_was_begun_meanwhile_gets_its_own(
    server: DiscordServer, club: Club
) -> None:
    store = InMemoryStore()
    async with living(server, store=store, threads=True):
        first = server.say(club.ann, club.general, called(server, "one"))
        await server.reply(await server.wait_for(lambda: first.thread))
    said = server.say(club.bob, club.general, called(server, "two"))
    async with living(server, store=store, threads=True) as life:
        assert (await server.reply(await server.wait_for(lambda: said.thread))).text
        assert life.asked() == ["[Bob] two"]


@pytest.mark.parametrize(
    ("most", "fetched"), [(100, "number 0 | number 1 | number 2 | number 3"), (2, "number 2 | number 3")]
)
async def test_only_so_much_of_an_absence_is_fetched_and_nothing_too_old(most: int, fetched: str) -> None:
    clock = FakeClock()
    async with DiscordServer(clock=lambda: clock.now().timestamp()) as server:
        ann, store = server.person("Ann"), InMemoryStore()
        async with living(server, store=store, clock=clock):
            await answered(server, server.say(ann, ann, "one"))
        await clock.sleep(60)
        server.say(ann, ann, "too old")
        await clock.sleep(3600)
        for number in range(4):
            server.say(ann, ann, f"number {number}")
        absence = Absence(seconds=1800, messages=most)
        async with living(server, store=store, clock=clock, absence=absence) as life:
            await server.reply(ann)
            assert await life.turns(server.private(ann).id) == ["one", fetched]


async def test_where_nothing_is_to_be_fetched_nothing_is_asked(server: DiscordServer) -> None:
    ann, store = server.person("Ann"), InMemoryStore()
    async with living(server, store=store):
        await answered(server, server.say(ann, ann, "one"))
    server.say(ann, ann, "two")
    async with living(server, store=store, absence=Absence(messages=0)) as life:
        await answered(server, server.say(ann, ann, "three"))
        assert life.asked() == ["three"]
    assert server.journal.counts["history"] == 0


@pytest.mark.parametrize("call", ["history", "get_channel"])
async def test_what_can_not_be_fetched_at_first_is_asked_for_again(server: DiscordServer, call: str) -> None:
    ann, store = server.person("Ann"), InMemoryStore()
    async with living(server, store=store):
        await answered(server, server.say(ann, ann, "one"))
    said = server.say(ann, ann, "two")
    server.fail(call, 503, times=2)
    async with living(server, store=store) as life:
        await answered(server, said)
        assert life.asked() == ["two"]


async def test_a_channel_that_can_not_be_read_any_more_holds_up_nothing(server: DiscordServer, club: Club) -> None:
    store = InMemoryStore()
    async with living(server, store=store):
        await answered(server, server.say(club.ann, club.general, called(server, "one")))
        await answered(server, server.say(club.ann, club.ann, "one"))
    server.deny(club.general, "view_channel")
    server.say(club.bob, club.general, called(server, "two"))
    said = server.say(club.ann, club.ann, "two")
    async with living(server, store=store):
        await answered(server, said)


async def test_each_shard_catches_up_with_its_own_chats(club: Club) -> None:
    async with DiscordServer(shards=2) as server:
        ann, store = server.person("Ann"), InMemoryStore()
        guilds = [server.guild(name, [ann]) for name in ("One", "Two")]
        while len({(guild.id >> 22) % 2 for guild in guilds}) < 2:
            guilds[1] = server.guild("Two", [ann])
        channels = [server.text_channel(guild) for guild in guilds]
        async with living(server, store=store):
            await server.wait_for(lambda: len(server.gateway.live) == 2, timeout=15)
            for channel in channels:
                await answered(server, server.say(ann, channel, called(server, "one")))
        said = [server.say(ann, channel, called(server, "two")) for channel in channels]
        async with living(server, store=store) as life:
            for one in said:
                await server.reply(one.channel, after=one, timeout=15)
            assert sorted(life.asked()) == ["[Ann] two", "[Ann] two"]


async def test_told_to_stop_while_it_begins_a_session_it_stops(server: DiscordServer) -> None:
    async with living(server) as life:
        server.gateway.invalidate()
        await server.wait_for(lambda: server.gateway.sockets and not server.gateway.live)
        life.running.cancel()
        await until(life.running.done, seconds=3)
    await until(lambda: not [t for t in threading.enumerate() if isinstance(t, KeepAliveHandler)])


async def test_what_was_left_open_is_answered_at_the_next_start(server: DiscordServer) -> None:
    ann, store = server.person("Ann"), InMemoryStore()
    async with living(server, store=store, llm=(llm := held("Hello"))) as life:
        server.say(ann, ann, "hi")
        await until(lambda: llm.requests)
        await life.engine.aclose(0)
    assert texts(server.private(ann)) == []
    async with living(server, store=store):
        assert (await server.reply(ann)).text == "You said: hi"
