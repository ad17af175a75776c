"""Slash commands are the bot's own commands, as Discord takes them."""

from __future__ import annotations

import logging
import re
from typing import Any, Literal

import pytest
import simcord
from discord import AppCommandType

from adapters.discord.adapter import DiscordAdapter
from adapters.discord.commands import paths
from adapters.discord.syncing import declare
from core import Attachment, Bot, Context, Reply, command
from core.commands.command import Command, Commands
from tests.adapters.discord.people import alone, calls, club, said
from tests.adapters.discord.simulated import Simulated, simulated


@command
async def roll(
    context: Context, dice: int, loud: bool = False, colour: Literal["red", "blue"] = "red", why: str = "fun"
) -> str:
    """Roll dice."""
    return f"{dice} {loud} {colour} {why}"


@command
async def read(context: Context, file: Attachment, aloud: str = "") -> str:
    """Read a file."""
    return f"{file.name}: {file.text or file.data.decode()} {aloud}"


@command(name="memory view")
async def view(context: Context) -> str:
    """Show something else."""
    return "else"


def payloads(life: Simulated) -> list[dict[str, Any]]:
    tree = life.adapter.client.tree
    return [made.to_dict(tree) for made in tree.get_commands(type=AppCommandType.chat_input)]


def declared(life: Simulated) -> int:
    """Count how often the commands were declared."""
    return len(calls(life, "PUT", "/commands"))


def nodes(payload: dict[str, Any]) -> list[dict[str, Any]]:
    return [payload, *(node for option in payload.get("options", []) for node in nodes(option))]


async def test_every_command_is_there_by_its_name_and_a_group_has_its_bare_one_as_view() -> None:
    async with simulated() as life:
        place = club(life)
        shown = place.boss.available_commands(place.general)
        names = {c.name for c in life.engine.commands} - {"memory"} | {"memory view"}
        assert set(shown) == names
        assert len(shown) == len(set(shown))
        assert "I know no facts" in said(await place.ann.slash(place.general, "memory view"))


async def test_all_that_is_declared_keeps_discords_limits() -> None:
    async with simulated(bot=Bot(commands=[roll, read])) as life:
        for payload in payloads(life):
            assert payload["contexts"] == [0, 1, 2]
            for node in nodes(payload):
                assert 1 <= len(node["description"]) <= 100
                assert 1 <= len(node["name"]) <= 32
                assert node["name"] == node["name"].lower()


@pytest.mark.parametrize("locale", ["ru", "zh-CN"])
async def test_names_and_descriptions_are_translated_and_keep_discords_limits(locale: str) -> None:
    async with simulated(bot=Bot(commands=[roll])) as life:
        tree = life.adapter.client.tree
        assert tree.translator is not None
        commands = tree.get_commands(type=AppCommandType.chat_input)
        made = [await one.get_translated_payload(tree, tree.translator) for one in commands]
        for node in [node for payload in made for node in nodes(payload)]:
            inside = [one for one in node.get("options", []) if one["type"] in (1, 2)]
            named = [one["name_localizations"][locale] for one in inside]
            assert len(set(named)) == len(named)
            assert all(re.fullmatch(r"[-_\w]{1,32}", name) and name == name.lower() for name in named)
            assert len(node.get("description_localizations", {}).get(locale, "")) <= 100
        assert {bool(one["description_localizations"]) for one in made if one["name"] in ("help", "stop")} == {True}
        own = next(one for one in made if one["name"] == "roll")
        assert own["name_localizations"] == own["description_localizations"] == {}
        ours = [node for payload in made if payload is not own for node in nodes(payload)]
        options = [option for node in ours for option in node.get("options", []) if option["type"] not in (1, 2)]
        assert {option["name"] for option in options if locale not in option.get("name_localizations", {})} == set()


async def test_what_an_argument_is_called_and_stands_for_is_translated() -> None:
    async with simulated() as life:
        tree = life.adapter.client.tree
        assert tree.translator is not None
        memory = await next(c for c in tree.get_commands() if c.name == "memory").get_translated_payload(
            tree, tree.translator
        )
        assert memory["description_localizations"]["ru"] == "/память …"
        set_ = next(one for one in memory["options"] if one["name"] == "set")
        assert [option["name_localizations"]["ru"] for option in set_["options"]] == ["ключ", "значение"]
        assert [option["description_localizations"]["ru"] for option in set_["options"]] == ["КЛЮЧ", "ЗНАЧЕНИЕ"]


async def test_the_admins_commands_are_hidden_from_members_and_refused_to_managers_who_are_no_admins() -> None:
    async with simulated() as life:
        place = club(life)
        assert not [name for name in place.ann.available_commands(place.general) if name.startswith("admin")]
        result = await place.boss.slash(place.general, "admin stats")
        assert (said(result), alone(result)) == ("Only an admin can do that.", True)


async def test_an_admin_sees_what_is_stored_alone() -> None:
    store = simulated(admins=["discord:*"])
    async with store as life:
        place = club(life)
        result = await place.boss.slash(place.general, "admin memory view")
        assert alone(result)
        assert said(result).startswith("Nothing is stored of discord:")
        assert [entry.action for entry in await life.store.audited()] == ["/admin memory view"]


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ({"dice": 2}, "2 False red fun"),
        ({"dice": 2, "loud": True, "colour": "blue", "why": "because  I can"}, "2 True blue because  I can"),
        ({"dice": 2, "colour": "blue"}, "Please say it as /roll DICE [LOUD] [COLOUR] [WHY], leaving nothing out"),
    ],
)
async def test_a_new_command_appears_with_its_options_of_their_types(given: dict[str, Any], answer: str) -> None:
    async with simulated(bot=Bot(commands=[roll])) as life:
        place = club(life)
        assert said(await place.ann.slash(place.general, "roll", **given)).startswith(answer)
        options = next(payload for payload in payloads(life) if payload["name"] == "roll")["options"]
        assert [option["type"] for option in options] == [4, 5, 3, 3]
        assert [choice["value"] for choice in options[2]["choices"]] == ["red", "blue"]


async def test_a_value_of_several_words_is_one_argument() -> None:
    async with simulated() as life:
        place = club(life)
        result = await place.ann.slash(place.general, "memory set", key="favourite colour", value="deep blue")
        assert said(result) == "Saved. favourite_colour: deep blue"


def test_commands_of_many_words_find_their_place() -> None:
    async def nothing(context: Context) -> str:
        """Do nothing."""
        return ""

    made = [Command(name, nothing, "", ()) for name in ("a", "a b", "a b c", "a b c d", "Déjà vu!", "z")]
    assert {path: c.name for path, c in paths(Commands(made)).items()} == {
        ("a", "view"): "a",
        ("a", "b", "view"): "a b",
        ("a", "b", "c"): "a b c",
        ("a", "b", "c_d"): "a b c d",
        ("déjà", "vu_"): "Déjà vu!",
        ("z",): "z",
    }


async def test_a_bare_command_beside_one_that_is_called_view_is_called_show() -> None:
    async with simulated(bot=Bot(commands=[view])) as life:
        place = club(life)
        assert said(await place.ann.slash(place.general, "memory view")) == "else"
        assert "I know no facts" in said(await place.ann.slash(place.general, "memory show"))


async def test_what_discord_would_not_take_is_left_out_with_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    @command(name="🦊")
    async def fox(context: Context) -> str:
        """Say what it says."""
        return "?"

    many = [Command(f"crowd c{number:02}", fox.body, "One of many.", ()) for number in range(27)]
    async with simulated(bot=Bot(commands=[*many, roll])) as life:
        place = club(life)
        shown = place.ann.available_commands(place.general)
        assert "roll" in shown
        assert len([name for name in shown if name.startswith("crowd")]) == 25
        assert "the command /crowd c26 is left out on Discord" in caplog.text


async def test_the_commands_are_declared_again_only_when_they_are_others() -> None:
    async with simulated() as life:
        tree = life.adapter.client.tree
        assert declared(life) == 1
        await declare(tree, None)
        assert declared(life) == 1
        tree.remove_command("help")
        await declare(tree, None)
        assert declared(life) == 2


async def test_a_restart_with_the_same_commands_declares_nothing() -> None:
    async with simulated() as life:
        again = DiscordAdapter("token")
        again.attach(life.engine)
        await life.discord.restart_bot(again.client)
        assert declared(life) == 1


async def test_in_development_they_are_declared_to_one_guild_alone(caplog: pytest.LogCaptureFixture) -> None:
    async with simulated() as life:
        guild = life.discord.create_guild()
        tree = life.adapter.client.tree
        for _ in range(2):
            await declare(tree, guild.id)
        assert len(calls(life, "PUT", f"/guilds/{guild.id}/commands")) == 1
        assert declared(life) == 2, "once everywhere, when it started, and once there"
        assert f"commands are declared everywhere as well, so the guild {guild.id} shows them twice" in caplog.text


async def test_a_declaration_that_fails_costs_no_start(caplog: pytest.LogCaptureFixture) -> None:
    adapter = DiscordAdapter("token")
    async with simulated() as life:
        adapter.attach(life.engine)
        tree = adapter.client.tree
        life.discord.inject_error("GET", "*/commands", status=403, code=50001)
        await life.discord.restart_bot(adapter.client)
        ann = life.discord.create_user("ann")
        await ann.send_dm("hi")
        assert tree.get_commands()
        assert life.asked() == ["hi"]
        assert "the commands could not be declared to Discord: Forbidden" in caplog.text


async def test_who_calls_what_the_bot_no_longer_has_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async with simulated() as life:
        place = club(life)
        life.adapter.client.tree.remove_command("help")
        result = await place.ann.slash(place.general, "help")
        assert said(result).startswith("This command has changed since you saw it.")
        assert alone(result)
        assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_a_command_is_called_in_a_direct_message() -> None:
    async with simulated() as life:
        ann = life.discord.create_user("ann")
        result = await ann.slash("memory set", key="name", value="Ann")
        assert (said(result), alone(result)) == ("Saved. name: Ann", False)


async def test_keys_of_ones_own_facts_are_suggested() -> None:
    async with simulated() as life:
        place = club(life)
        await place.ann.slash(place.general, "memory set", key="name", value="Ann")
        await place.ann.slash(place.general, "memory set", key="age", value="30")
        await place.bob.slash(place.general, "memory set", key="bobs_own", value="x")

        async def suggested(who: simcord.MemberActor, name: str, option: str, begun: str) -> list[str]:
            return [choice["value"] for choice in await who.autocomplete(place.general, name, option, begun)]

        assert await suggested(place.ann, "memory why", "key", "") == ["age", "name"]
        assert await suggested(place.ann, "memory why", "key", "NA") == ["name"]
        assert await suggested(place.ann, "forget", "what", "") == ["last", "chat", "me", "age", "name"]
        assert await suggested(place.bob, "memory pin", "key", "") == ["bobs_own"]


async def test_a_command_that_gives_a_file_or_choices_shows_them() -> None:
    async with simulated() as life:
        place = club(life)
        result = await place.ann.slash(place.general, "export")
        assert alone(result)
        assert result.response is not None
        assert [file.filename[:16] for file in result.response.attachments] == ["keepmind-export-"]


async def test_replies_name_nobody() -> None:
    @command
    async def shout(context: Context) -> Reply:
        """Shout."""
        return Reply("@everyone and <@&1> " + "x" * 3000)

    async with simulated(bot=Bot(commands=[shout])) as life:
        place = club(life)
        assert len(said(await place.ann.slash(place.general, "shout"))) > 3000
        shown = [*calls(life, "PATCH", "/webhooks/"), *calls(life, "POST", "/webhooks/")]
        assert len(shown) > 1
        assert all(body["allowed_mentions"]["parse"] == [] for body in shown)
