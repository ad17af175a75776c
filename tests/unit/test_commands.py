"""Functions a person may call."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import Bot, Command, CommandError, Context, Reply, command
from core.commands.admin import ADMIN_COMMANDS
from core.commands.command import Commands
from core.commands.person import PERSON_COMMANDS
from core.messages import Choice
from tests.fakes import World

COMMANDS = Commands([*PERSON_COMMANDS, *ADMIN_COMMANDS])


@command
async def roll(context: Context, dice: int, sides: int = 6, loud: bool = False, why: str = "fun") -> str:
    """Roll dice.

    More about it.
    """
    return f"{dice}d{sides} {loud} {why}"


@command(name="Paint it", private=True)
async def paint(context: Context, colour: Literal["red", "blue"], rest: str | None = None) -> Reply:
    """Paint."""
    return Reply(f"{colour} {rest}", (Choice("Again", "/paint it red"),))


@command
async def mute(context: Context) -> str:
    """Say nothing."""
    return " \n"


@command
async def fail(context: Context) -> str:
    """Fail."""
    raise ValueError("a detail of the inside")


@command
async def refuse(context: Context) -> str:
    """Refuse."""
    raise CommandError("Not today.")


BOT = Bot(commands=[roll, paint, mute, fail, refuse])


def named(text: str) -> tuple[str, str] | None:
    found = COMMANDS.find(text)
    assert found is not None
    return (found[0].name, found[1]) if found[0] else None


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("/memory", "memory", ""),
        ("  /MEMORY  ", "memory", ""),
        ("/memory why age", "memory why", "age"),
        ("/memory   why\n favourite  food ", "memory why", "favourite  food "),
        ("/memory@mybot why age", "memory why", "age"),
        ("/memory_why age", "memory why", "age"),
        ("/admin_memory_view telegram:1", "admin memory view", "telegram:1"),
        ("/admin memory clear telegram:1 yes", "admin memory clear", "telegram:1 yes"),
        ("/memory whyever", "memory", "whyever"),
        ("/forget me yes", "forget", "me yes"),
        ("/start ref_42", "start", "ref_42"),
    ],
)
def test_the_longest_name_wins_however_it_is_written(text: str, name: str, arguments: str) -> None:
    assert named(text) == (name, arguments)


@pytest.mark.parametrize("text", ["/nonsense", "/admin", "/memoryyy", "/admin nothing"])
def test_an_unknown_command_is_one_all_the_same(text: str) -> None:
    assert COMMANDS.find(text) == (None, "")


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "/", "//", "/ memory", "/usr/bin/python", "/1", "/_x", "/-", "/@bot", "memory", "a /memory", "/²",
        "/\0", "/\ud800",
    ],
)  # fmt: skip
def test_what_only_begins_with_a_slash_is_a_message(text: str) -> None:
    assert COMMANDS.find(text) is None


tricky = st.one_of(
    st.text(max_size=40),
    st.text(st.sampled_from("/@_- \n\t\0\ud800🦊memorywhyİß.:"), max_size=30),
    st.builds("/{} {}".format, st.sampled_from([c.name for c in COMMANDS]), st.text(max_size=20)),
)


@given(tricky)
def test_any_text_can_be_read_as_a_command_or_not(text: str) -> None:
    found = COMMANDS.find(text)
    assert found is None or found[0] is None or found[1] in text


@given(st.lists(tricky, min_size=1, max_size=4))
async def test_any_text_gets_an_answer_and_breaks_nothing(texts: list[str]) -> None:
    world = World()
    for who in ("anna", "root"):
        for text in texts:
            reply = await world.say(text, who=who)
            assert reply is None or (reply.text.strip() and "went wrong" not in reply.text)
    assert not await world.store.verify()


def test_a_function_becomes_a_command_by_its_name_docstring_and_hints() -> None:
    assert (roll.name, roll.summary) == ("roll", "Roll dice.")
    assert roll.usage == "/roll DICE [SIDES] [LOUD] [WHY]"
    assert paint.usage == "/Paint it COLOUR [REST]"


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("/roll 2", "2d6 False fun"),
        ("/roll 2 20", "2d20 False fun"),
        ("/roll 2 20 yes because  I can", "2d20 True because  I can"),
        ("/roll", "Please say it as /roll DICE [SIDES] [LOUD] [WHY]"),
        ("/roll two", "dice: Input should be a valid integer, unable to parse string as an integer, not 'two'."),
        ("/paint it red", "red None"),
        ("/paint_it blue all of it", "blue all of it"),
        ("/paint it green", "colour: Input should be 'red' or 'blue', not 'green'."),
        ("/mute", "Done."),
        ("/refuse", "Not today."),
    ],
)
async def test_arguments_are_read_as_the_hints_say(text: str, reply: str) -> None:
    assert await World(bot=BOT).said(text) == reply


async def test_a_commands_bug_is_told_without_its_detail_and_the_bot_goes_on() -> None:
    world = World(bot=BOT)
    assert "went wrong" in await world.said("/fail")
    assert "inside" not in "".join(world.adapter.texts())
    assert await world.said("hi") == "You said: hi"


async def test_a_private_commands_reply_is_private_whatever_it_builds() -> None:
    world = World(bot=BOT)
    await world.say("/paint it red", chat="club", group=True)
    shown = world.adapter.shown[-1].out
    assert shown.only_for is not None
    assert shown.only_for.user == "anna"
    assert shown.choices == (Choice("Again", "/paint it red"),)


def test_what_cannot_be_a_command_is_refused_when_it_is_declared() -> None:
    def plain(context: Context) -> str:
        return ""

    async def bare() -> str:
        return ""

    for wrong in (plain, bare):
        with pytest.raises(TypeError, match=wrong.__name__):
            command(wrong)  # type: ignore[arg-type]


async def test_a_bots_own_command_takes_the_place_of_one_of_its_name() -> None:
    @command(name="start")
    async def hello(context: Context) -> str:
        """Greet."""
        return "Ahoy!"

    assert await World(bot=Bot(commands=[hello])).said("/start") == "Ahoy!"


async def test_a_forwarded_command_is_no_command() -> None:
    world = World()
    assert await world.said("/forget me yes", forwarded="Mallory") != "There was nothing to erase."
    assert world.llm.of("answer")


async def test_the_same_command_delivered_twice_runs_once() -> None:
    world = World()
    message = world.message("/start")
    assert await world.engine.handle(message)
    assert await world.engine.handle(message) is None


async def test_help_lists_each_command_once_with_how_it_is_written() -> None:
    world = World(bot=BOT)
    lines = (await world.said("/help")).splitlines()
    assert [line for line in lines if line.startswith("/forget last|KEY|chat|me – Erase your last turn (last), a fact")]
    assert "/memory – Show what I know about you here." in lines
    assert "/memory why KEY – Tell where a fact comes from, in your own words." in lines
    assert "/roll DICE [SIDES] [LOUD] [WHY] – Roll dice." in lines
    assert len(lines) == len({line.partition(" – ")[0] for line in lines})
    assert all(len(line) < 130 for line in lines)
    assert not [line for line in lines if line.startswith("/admin")]


async def test_help_shows_an_admin_their_commands_in_private_only() -> None:
    world = World()
    assert "/admin stats" in await world.said("/help", who="root")
    assert "/admin" not in await world.said("/help", who="root", chat="club", group=True)


def test_every_command_says_what_it_does() -> None:
    every: list[Command] = list(COMMANDS)
    assert all(c.summary.endswith(".") and c.name == c.name.lower() for c in every)
    assert {c.name for c in every if c.admin} == {c.name for c in every if c.name.startswith("admin ")}
    assert all(c.private for c in every if c.admin)
