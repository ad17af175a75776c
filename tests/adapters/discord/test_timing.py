"""An interaction has three seconds to be acknowledged and a quarter of an hour to be answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from adapters.discord.server import DiscordServer
from adapters.discord.server.using import IN_TIME, LIFETIME
from adapters.inmemory import InMemoryStore
from core import Attachment, Bot, Choice, Context, Reply, command
from core.commands.command import Command
from core.messages import Person
from tests.adapters.discord.life import Club, a_club, answered, called, living, texts, until


class Watch:
    """The server's clock, which can be put forward."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


class SlowDoor(InMemoryStore):
    """A store whose first word takes its time."""

    def __init__(self) -> None:
        super().__init__()
        self.door = asyncio.Event()
        self.asked = asyncio.Event()

    async def allowed(self) -> list[str]:
        self.asked.set()
        await self.door.wait()
        return ["discord:*"]


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
async def server(watch: Watch) -> AsyncIterator[DiscordServer]:
    async with DiscordServer(clock=watch) as server:
        yield server


@pytest.fixture
def club(server: DiscordServer) -> Club:
    return a_club(server)


def waiting(gate: asyncio.Event, *, private: bool = False) -> Command:
    @command(name="wait", private=private)
    async def wait(context: Context) -> Reply:
        """Wait for something."""
        await gate.wait()
        return Reply("at last", (Choice("Again", "/wait"),))

    return wait


async def test_a_command_that_takes_ten_seconds_is_answered(server: DiscordServer, club: Club, watch: Watch) -> None:
    gate = asyncio.Event()
    async with living(server, bot=Bot(commands=[waiting(gate)])):
        using = server.use(club.ann, club.general, "wait")
        await server.wait_for(lambda: using.answer)
        watch.ahead = 10
        gate.set()
        assert (await server.answered(using)).text == "at last"


async def test_it_is_acknowledged_before_the_store_says_anything(server: DiscordServer, club: Club) -> None:
    store = SlowDoor()
    async with living(server, store=store, allowed=()):
        using = server.use(club.ann, club.general, "privacy")
        await server.wait_for(lambda: using.answer)
        await store.asked.wait()
        assert not using.is_done
        store.door.set()
        assert "I keep what is said" in (await server.answered(using)).text


async def test_one_that_comes_too_late_is_not_run(server: DiscordServer, club: Club, watch: Watch) -> None:
    async with living(server) as life:
        server.delay("respond", 0.05, times=1)
        using = server.use(club.ann, club.general, "memory set", key="name", value="Ann")
        watch.ahead = IN_TIME + 1
        await server.wait_for(lambda: server.journal.of("respond", status=404))
        again = server.use(club.ann, club.general, "memory view")
        assert "I know no facts" in (await server.answered(again)).text
        assert not using.is_done
        assert not await life.store.scopes(Person("discord", str(club.ann.id)))


@pytest.mark.parametrize("private", [True, False])
async def test_an_answer_after_a_quarter_of_an_hour_comes_as_a_message(
    server: DiscordServer, club: Club, watch: Watch, private: bool
) -> None:
    gate = asyncio.Event()
    async with living(server, bot=Bot(commands=[waiting(gate, private=private)])):
        using = server.use(club.ann, club.general, "wait")
        await server.wait_for(lambda: using.answer)
        watch.ahead = LIFETIME + 1
        gate.set()
        shown = await server.reply(club.ann if private else club.general, where=lambda message: bool(message.text))
        assert shown.text == "at last"
        assert texts(club.general).count("at last") == (0 if private else 1)


async def test_a_button_in_ones_own_chat_speaks_of_the_server_it_came_from(
    server: DiscordServer, club: Club, watch: Watch
) -> None:
    async with living(server, allowed=[f"discord:{club.guild.id}"]) as life:
        await server.answered(server.use(club.ann, club.general, "memory set", key="city", value="Rome"))
        server.fail("edit_response", 401, 50027)
        server.use(club.ann, club.general, "memory view")
        card = await server.reply(club.ann)
        assert card.text.startswith("city: Rome\n")
        server.choose(club.ann, card, "city")
        await server.wait_for(lambda: "Edit" in [button["label"] for button in card.buttons])
        server.submit(await server.opened(server.press(club.ann, card, "Edit")), {"city": "Oslo"})
        await server.wait_for(lambda: card.text.startswith("city: Oslo\n"))
        assert await life.store.scopes(Person("discord", str(club.ann.id))) == [f"discord:{club.general.id}"]


class Forgetful(InMemoryStore):
    """A store that, once it is told to, never says which button was pressed."""

    asleep = False

    async def pressed(self, id: int) -> tuple[str, Person] | None:
        if self.asleep:
            await asyncio.Event().wait()
        return await super().pressed(id)


async def test_a_form_that_can_not_be_opened_in_time_is_told(server: DiscordServer, club: Club) -> None:
    @command
    async def note(context: Context, words: str = "") -> Reply:
        """Note something."""
        return Reply("Note it?", (Choice("Write", "/note " + "word " * 40, asks=True),))

    store = Forgetful()
    async with living(server, bot=Bot(commands=[note]), store=store):
        offered = await server.answered(server.use(club.ann, club.general, "note"))
        store.asleep = True
        assert "went wrong" in (await server.answered(server.press(club.ann, offered, "Write"))).text


async def test_a_file_is_given_with_a_command(server: DiscordServer, club: Club) -> None:
    @command(private=True)
    async def read(context: Context, file: Attachment) -> str:
        """Read a file."""
        return f"{file.name}: {file.data.decode()}"

    async with living(server, bot=Bot(commands=[read])):
        file = server.file(club.general, "letter.txt", b"Dear Ann")
        using = server.use(club.ann, club.general, "read", file=file)
        assert (await server.answered(using)).text == "letter.txt: Dear Ann"


async def test_a_connection_that_broke_shows_the_reply_once(server: DiscordServer, club: Club) -> None:
    async with living(server):
        server.drop("edit_response")
        using = server.use(club.ann, club.general, "privacy")
        await server.answered(using)
        await until(lambda: len(server.journal.of("edit_response")) >= 2)
        assert len([text for text in texts(club.general) if "I keep what is said" in text]) == 1


async def test_the_answer_that_is_waited_for_is_stopped_by_a_slash_command(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        life.llm.gate = asyncio.Event()
        server.say(club.ann, club.general, called(server, "tell me all"))
        await until(lambda: life.llm.of("answer"))
        stopped = await server.answered(server.use(club.ann, club.general, "stop"))
        assert stopped.text == "Stopped. What you said is kept."
        life.llm.gate.set()
        await answered(server, server.say(club.ann, club.general, called(server, "go on")))


async def test_many_who_call_at_once_are_each_answered_their_own(server: DiscordServer, club: Club) -> None:
    people = [server.person(f"person{number}") for number in range(10)]
    place = server.text_channel(server.guild("Crowd", people))
    async with living(server):
        setting = [server.use(one, place, "memory set", key="name", value=one.name) for one in people]
        for one, using in zip(people, setting, strict=True):
            assert (await server.answered(using)).text == f"Saved. name: {one.name}"
        seeing = [(one, server.use(one, place, "memory view")) for one in reversed(people)]
        for one, using in seeing:
            card = await server.answered(using)
            assert card.text.startswith(f"name: {one.name}\n")
            assert card.seen_by == one


async def test_a_command_in_a_thread_is_about_the_thread(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        thread = server.thread(club.general, "Tea", club.ann)
        await server.answered(server.use(club.ann, thread, "memory set", key="tea", value="green"))
        card = await server.answered(server.use(club.ann, thread, "memory view"))
        server.choose(club.ann, card, "tea")
        await server.wait_for(lambda: card.text.startswith("tea: green\nTold"))
        person = Person("discord", str(club.ann.id))
        (change,) = await life.store.changes(person, f"discord:{club.general.id}")
        assert change.after is not None
        assert change.after.items[0].source.chat == f"discord:{club.general.id}/{thread.id}"
