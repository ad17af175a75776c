"""How the bot on Telegram starts, stops and comes to its end (cases N), by polling and by webhook."""

from __future__ import annotations

import asyncio
import io
import logging
import socket

import aiohttp
import pytest

from adapters.inmemory import InMemoryStore
from adapters.telegram.groups import Groups
from adapters.telegram.rivalry import Rivalry
from adapters.telegram.server import TelegramServer, User
from adapters.telegram.webhook import HEADER, Address
from core.errors import ConfigError, StoreError
from core.messages import Message
from tests.adapters.telegram.life import living, until

SECRET = "a-secret_1"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def address() -> Address:
    port = free_port()
    return Address(f"http://127.0.0.1:{port}/telegram", SECRET, port, "127.0.0.1")


async def test_n01_another_poller_that_never_stops_is_explained_once_and_given_way_to(
    server: TelegramServer, ann: User, caplog: pytest.LogCaptureFixture
) -> None:
    server.fail("getUpdates", 409, "Conflict: terminated by other getUpdates request", times=-1)
    async with living(server, rivalry=0.2) as life:
        with pytest.raises(ConfigError, match="another process"):
            await life.running
    assert len([record for record in caplog.records if "another process" in record.getMessage()]) == 1


async def test_n01_a_conflict_that_passes_is_forgiven(server: TelegramServer, ann: User) -> None:
    server.fail("getUpdates", 409, "Conflict: terminated by other getUpdates request", times=2)
    async with living(server, rivalry=5):
        server.say(ann, ann, "hi")
        await server.reply(ann)


async def test_n01_of_two_that_begin_at_once_exactly_one_goes_on(server: TelegramServer, ann: User) -> None:
    async with living(server, rivalry=0.3) as one, living(server, rivalry=0.3) as other:
        both = {one.running, other.running}
        (yields,), (stays,) = await asyncio.wait(both, timeout=10, return_when=asyncio.FIRST_COMPLETED)
        assert isinstance(yields.exception(), ConfigError)
        for text in ("hello", "hello again"):
            server.say(ann, ann, text)
            assert (await server.reply(ann)).text == f"You said: {text}"
        await server.quiet(0.5)
        assert not stays.done()
        assert len(server.chat(ann).from_bot) == 2


class Slow(InMemoryStore):
    """A store that stores what is said once it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()

    async def receive(self, message: Message, *, keep: bool = True) -> bool:
        await self.gate.wait()
        return await super().receive(message, keep=keep)


async def test_n01_who_gives_way_ends_no_question_of_the_other_by_acknowledging_what_it_has_taken(
    server: TelegramServer, ann: User
) -> None:
    server.api.updates.pace, slow = 0.3, Slow()
    async with living(server, store=slow, rivalry=0.1) as one, living(server, rivalry=2) as other:
        server.say(ann, ann, "hello")
        await server.reply(ann)
        await asyncio.wait({one.running}, timeout=2.5)  # both hold on for less
        slow.gate.set()
        await asyncio.wait({one.running, other.running}, return_when=asyncio.FIRST_COMPLETED)
        server.say(ann, ann, "hello again")
        await server.reply(ann, where=lambda answer: answer.text == "You said: hello again")
        await server.quiet(1)
        assert [one.running.done(), other.running.done()].count(True) == 1


def test_n01_who_has_asked_for_longer_holds_on_for_longer() -> None:
    time = [0.0]
    old = Rivalry(10, lambda: time[0])
    time[0] = 100.0
    assert not old.is_lost(), "it has asked for 100 seconds"
    new = Rivalry(10, lambda: time[0])
    lost = {}
    for time[0] in (101.0, 105.0, 112.0, 150.0, 201.0):
        lost[time[0]] = (old.is_lost(), new.is_lost())
    assert lost == {
        101.0: (False, False),
        105.0: (False, False),
        112.0: (False, True),
        150.0: (False, True),
        201.0: (True, True),
    }


def test_n01_a_conflict_of_long_ago_is_forgotten(caplog: pytest.LogCaptureFixture) -> None:
    time = [0.0]
    rivalry = Rivalry(10, lambda: time[0])
    for time[0] in (1.0, 100.0, 200.0):
        assert not rivalry.is_lost()
    time[0] = 300.0
    rivalry.rests()
    assert "no other process" in caplog.messages[-1]


@pytest.mark.parametrize("token", ["123456789:AAwrong-token-for-the-local-server-0", "nonsense"])
async def test_n03_a_wrong_token_is_one_sentence_that_names_the_variable(server: TelegramServer, token: str) -> None:
    async with living(server, token=token) as life:
        with pytest.raises(ConfigError, match="TELEGRAM_BOT_TOKEN") as caught:
            await life.running
    assert token not in str(caught.value)


async def test_a_token_that_is_taken_back_ends_it(server: TelegramServer, ann: User) -> None:
    async with living(server) as life:
        server.say(ann, ann, "hi")
        await server.reply(ann)
        server.token = "123456789:AAanother-token-for-the-local-server"
        server.say(ann, ann, "hi")
        with pytest.raises(ConfigError, match="TELEGRAM_BOT_TOKEN"):
            await life.running


async def test_it_starts_as_soon_as_telegram_can_be_reached(caplog: pytest.LogCaptureFixture) -> None:
    server = TelegramServer(port=free_port())
    ann = server.person("Ann")
    server.say(ann, ann, "hi")
    async with living(server):
        await until(lambda: "can't be reached" in caplog.text)
        await server.start()
        assert (await server.reply(ann)).text == "You said: hi"
    await server.stop()


async def test_menus_that_can_not_be_set_only_warn(
    server: TelegramServer, ann: User, caplog: pytest.LogCaptureFixture
) -> None:
    server.fail("setMyCommands", 400, "Bad Request: BOT_COMMAND_INVALID", times=-1)
    with caplog.at_level(logging.WARNING, logger="keepmind"):
        async with living(server):
            server.say(ann, ann, "hi")
            await server.reply(ann)
            await until(lambda: server.journal.counts["setMyCommands"] == 12)
    assert "menu" in caplog.text


@pytest.mark.parametrize(
    ("privacy", "mode", "warned"), [(True, "listen", True), (True, "mention", False), (False, "open", False)]
)
async def test_privacy_mode_is_warned_of_where_groups_are_to_be_heard(
    privacy: bool, mode: str, warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with TelegramServer(privacy=privacy) as server, living(server, groups=Groups(mode)):
        await until(lambda: server.journal.counts["getUpdates"])
    assert ("/setprivacy" in caplog.text) is warned


async def test_menus_wait_as_long_as_telegram_asks(server: TelegramServer, ann: User) -> None:
    server.fail("setMyCommands", 429, retry_after=1, times=2)
    async with living(server):
        await until(lambda: server.journal.counts["setMyCommands"] == 14)
    assert len(server.api.world.commands) == 12


async def test_a_webhook_is_set_with_its_secret_and_answered(
    server: TelegramServer, ann: User, address: Address
) -> None:
    async with living(server, webhook=address) as life:
        await until(lambda: server.api.webhook.url == address.url)
        assert server.api.webhook.secret == SECRET
        server.say(ann, ann, "hi")
        assert (await server.reply(ann)).text == "You said: hi"
        server.api.webhook.copies = 3
        said = server.say(ann, ann, "thrice at once")
        await server.reply(ann, after=said)
        await server.quiet(0.1)
        assert await life.turns(ann.id) == ["hi", "thrice at once"], "E09: repeats do nothing"
        assert not server.api.updates.pending
    assert server.api.webhook.url == address.url, "what comes while it is away is kept for it"
    assert not server.journal.counts["getUpdates"]


async def test_only_telegram_may_post(server: TelegramServer, ann: User, address: Address) -> None:
    async with living(server, webhook=address) as life:
        await until(lambda: server.api.webhook.url)
        async with aiohttp.ClientSession() as session:
            update = {"update_id": 1, "message": {"message_id": 1}}
            for secret in ("", "wrong", "\udcffno text"):
                async with session.post(address.url, json=update, headers={HEADER: secret}) as response:
                    assert response.status == 403
            for body in (b"no json", b"\xff", b"[]", b"{}", io.BytesIO(b" " * 2**21)):
                async with session.post(address.url, data=body, headers={HEADER: SECRET}) as response:
                    assert response.status == 400
            async with session.get(address.url) as response:
                assert response.status == 405
        assert not life.llm.requests
        server.say(ann, ann, "hi")
        await server.reply(ann)


@pytest.mark.parametrize("by", ["polling", "webhook"])
async def test_an_update_that_can_not_be_read_holds_nothing_up(
    server: TelegramServer, ann: User, address: Address, by: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with living(server, webhook=address if by == "webhook" else None) as life:
        server.api.updates.put("message", {"message_id": 1, "chat": {"id": ann.id}, "text": "a secret"})
        server.say(ann, ann, "hi")
        assert (await server.reply(ann)).text == "You said: hi"
        assert not life.running.done()
    assert not server.api.updates.pending
    assert "can't be read" in caplog.text
    assert "a secret" not in caplog.text


class Failing(InMemoryStore):
    failures = 1

    async def receive(self, message: Message, *, keep: bool = True) -> bool:
        if self.failures:
            self.failures -= 1
            raise StoreError("The database is locked.")
        return await super().receive(message, keep=keep)


async def test_e09_a_webhook_that_can_not_store_is_posted_to_again(
    server: TelegramServer, ann: User, address: Address
) -> None:
    async with living(server, webhook=address, store=Failing()):
        await until(lambda: server.api.webhook.url)
        server.say(ann, ann, "hi")
        assert (await server.reply(ann)).text == "You said: hi"
    assert "503" in server.api.webhook.last_error


async def test_a_port_that_is_taken_is_named(server: TelegramServer, address: Address) -> None:
    with socket.create_server(("127.0.0.1", address.port)):
        async with living(server, webhook=address) as life:
            with pytest.raises(ConfigError, match="TELEGRAM_WEBHOOK_PORT"):
                await life.running
