"""The test server's commands, buttons, selects and forms: what people are shown, and the rules for answering."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import discord
import pytest
from discord import app_commands

from adapters.discord.server import Channel, DiscordServer, User, Using
from tests.adapters.discord.real_client import Client, running


class Time:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
async def server(time: Time) -> AsyncIterator[DiscordServer]:
    async with DiscordServer(clock=time) as server:
        yield server


@pytest.fixture
def ann(server: DiscordServer) -> User:
    return server.person("Ann", locale="ru")


@pytest.fixture
def channel(server: DiscordServer, ann: User) -> Channel:
    return server.text_channel(server.guild("Club", [server.person("Owner"), ann]))


@pytest.fixture
async def raw(server: DiscordServer) -> AsyncIterator["Raw"]:
    async with aiohttp.ClientSession() as session:
        yield Raw(session, server)


HELLO = {"name": "hello", "description": "Say hello"}
CHOICE = {"type": 3, "name": "kind", "description": "x" * 100}
LONG = [{"name": "x" * 100, "value": "y" * 100}] * 2
SAY = {"type": 4, "data": {"content": "hi"}}


class Raw:
    """Calls without any library of Discord's."""

    def __init__(self, session: aiohttp.ClientSession, server: DiscordServer) -> None:
        self.session, self.server = session, server

    async def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        given = {"Authorization": f"Bot {self.server.token}"}
        async with self.session.request(method, self.server.api_url + path, json=body, headers=given) as answer:
            return answer.status, await answer.json() if answer.status != 204 else None

    async def declare(self, *commands: dict[str, Any], guild: int = 0) -> tuple[int, Any]:
        place = f"/guilds/{guild}" if guild else ""
        return await self.call("PUT", f"/applications/{self.server.bot.id}{place}/commands", list(commands))

    async def answer(self, using: Using, body: dict[str, Any]) -> tuple[int, Any]:
        return await self.call("POST", f"/interactions/{using.id}/{using.token}/callback", body)

    async def webhook(self, using: Using, method: str, path: str = "", body: Any = None) -> tuple[int, Any]:
        return await self.call(method, f"/webhooks/{self.server.bot.id}/{using.token}{path}", body)


async def test_an_answer_after_three_seconds_comes_too_late(
    server: DiscordServer, raw: Raw, ann: User, time: Time
) -> None:
    await raw.declare(HELLO)
    in_time, late = server.use(ann, ann, "hello"), server.use(ann, ann, "hello")
    time.now += 3
    assert await raw.answer(in_time, SAY) == (204, None)
    time.now += 0.001
    assert late.is_late(time.now)
    assert await raw.answer(late, SAY) == (404, {"message": "Unknown interaction", "code": 10062})


async def test_it_is_answered_once(server: DiscordServer, raw: Raw, ann: User) -> None:
    await raw.declare(HELLO)
    using = server.use(ann, ann, "hello")
    await raw.answer(using, SAY)
    status, told = await raw.answer(using, SAY)
    assert (status, told["code"]) == (400, 40060)
    assert [message.text for message in server.private(ann).from_bot] == ["hi"]
    status, told = await raw.call("POST", f"/interactions/{using.id}/wrong/callback", SAY)
    assert (status, told["code"]) == (404, 10062)


async def test_before_the_answer_and_after_fifteen_minutes_nothing_more_is_said(
    server: DiscordServer, raw: Raw, ann: User, time: Time
) -> None:
    await raw.declare(HELLO)
    using = server.use(ann, ann, "hello")
    assert (await raw.webhook(using, "POST", body={"content": "x"}))[1]["code"] == 10015
    assert (await raw.webhook(using, "PATCH", "/messages/@original", {"content": "x"}))[1]["code"] == 10015
    await raw.answer(using, SAY)
    time.now += 900
    assert (await raw.webhook(using, "POST", body={"content": "more"}))[0] == 200
    time.now += 1
    assert (await raw.webhook(using, "POST", body={"content": "x"}))[1]["code"] == 50027


async def test_the_first_thing_said_after_a_deferral_takes_its_place_and_its_privacy(
    server: DiscordServer, raw: Raw, ann: User, channel: Channel
) -> None:
    await raw.declare(HELLO)
    using = server.use(ann, channel, "hello")
    await raw.answer(using, {"type": 5, "data": {"flags": 64}})
    assert using.response
    assert using.response.is_loading
    assert not using.is_done
    _, first = await raw.webhook(using, "POST", body={"content": "first"})
    _, second = await raw.webhook(using, "POST", body={"content": "second"})
    assert (first["id"], first["flags"], second["flags"]) == (str(using.response.id), 64, 0)
    assert [(message.text, message.seen_by) for message in using.messages] == [("first", ann), ("second", None)]


async def test_what_one_person_sees_is_nowhere_else(
    server: DiscordServer, raw: Raw, ann: User, channel: Channel
) -> None:
    await raw.declare(HELLO)
    using = server.use(ann, channel, "hello")
    await raw.answer(using, {"type": 4, "data": {"content": "psst", "flags": 64}})
    _, shown = await raw.webhook(using, "GET", "/messages/@original")
    assert await raw.call("GET", f"/channels/{channel.id}/messages") == (200, [])
    place = f"/channels/{channel.id}/messages/{shown['id']}"
    assert (await raw.call("PATCH", place, {"content": "x"}))[1]["code"] == 10008
    assert server.gateway.of("MESSAGE_CREATE") == []
    assert (await raw.webhook(using, "PATCH", "/messages/@original", {"content": "changed"}))[0] == 200
    assert using.response
    with pytest.raises(LookupError, match="does not see"):
        server.press(server.person("Bob"), using.response, "x")
    assert (await raw.webhook(using, "DELETE", "/messages/@original"))[0] == 204
    assert channel.messages == []


async def test_a_thought_that_was_dismissed_can_not_be_spoken(server: DiscordServer, raw: Raw, ann: User) -> None:
    await raw.declare(HELLO)
    using = server.use(ann, ann, "hello")
    await raw.answer(using, {"type": 5})
    assert using.response
    server.delete(using.response)
    assert (await raw.webhook(using, "POST", body={"content": "x"}))[1]["code"] == 10008


@pytest.mark.parametrize("kind", [6, 7, 8, 1, "4"])
async def test_a_command_is_answered_as_a_command(server: DiscordServer, raw: Raw, ann: User, kind: Any) -> None:
    await raw.declare(HELLO)
    status, told = await raw.answer(server.use(ann, ann, "hello"), {"type": kind, "data": {"content": "hi"}})
    assert (status, told["code"]) == (400, 50035)


async def test_an_answer_is_checked_like_a_message(server: DiscordServer, raw: Raw, ann: User) -> None:
    await raw.declare(HELLO)
    using = server.use(ann, ann, "hello")
    assert (await raw.answer(using, {"type": 4, "data": {"content": "x" * 2001}}))[1]["code"] == 50035
    assert (await raw.answer(using, {"type": 4, "data": {"content": ""}}))[1]["code"] == 50006
    assert (await raw.answer(using, SAY))[0] == 204


FIELD = {"type": 4, "custom_id": "words", "label": "Words", "style": 1, "min_length": 2, "max_length": 5}
FORM = {"title": "Edit", "custom_id": "edit", "components": [{"type": 1, "components": [FIELD]}]}


@pytest.mark.parametrize(
    "wrong",
    [
        {**FORM, "title": "x" * 46},
        {**FORM, "title": ""},
        {**FORM, "custom_id": "x" * 101},
        {**FORM, "components": FORM["components"] * 6},  # type: ignore[operator]
        {**FORM, "components": []},
        {**FORM, "components": [{"type": 1, "components": [FIELD, FIELD]}]},
        {**FORM, "components": [{"type": 1, "components": [{**FIELD, "label": "x" * 46}]}]},
        {**FORM, "components": [{"type": 1, "components": [{**FIELD, "value": "too long"}]}]},
        {**FORM, "components": [{"type": 1, "components": [{"type": 2, "style": 1, "label": "x", "custom_id": "x"}]}]},
    ],
)
async def test_a_wrong_form_is_refused(server: DiscordServer, raw: Raw, ann: User, wrong: dict[str, Any]) -> None:
    await raw.declare(HELLO)
    status, told = await raw.answer(server.use(ann, ann, "hello"), {"type": 9, "data": wrong})
    assert (status, told["code"]) == (400, 50035)


async def test_a_form_takes_what_its_fields_take(server: DiscordServer, raw: Raw, ann: User) -> None:
    await raw.declare(HELLO)
    using = server.use(ann, ann, "hello")
    with pytest.raises(LookupError):
        server.submit(using)
    assert (await raw.answer(using, {"type": 9, "data": FORM}))[0] == 204
    for words, error in [
        ({"Words": "x"}, ValueError),
        ({"Words": "x" * 6}, ValueError),
        ({"Words": "fine", "Else": "x"}, LookupError),
    ]:
        with pytest.raises(error):
            server.submit(using, words)
    sent = server.submit(using, {"words": "fine"})
    assert sent.data["components"][0]["components"][0]["value"] == "fine"
    assert (await raw.answer(sent, {"type": 9, "data": FORM}))[1]["code"] == 50035


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "Hello", "description": "x"},
        {"name": "hello there", "description": "x"},
        {"name": "x" * 33, "description": "x"},
        {"name": "", "description": "x"},
        {"name": "hello", "description": ""},
        {"name": "hello", "description": "x" * 101},
        {**HELLO, "name_localizations": {"xx": "hello"}},
        {**HELLO, "name_localizations": {"ru": "Привет"}},
        {**HELLO, "description_localizations": {"ru": "x" * 101}},
        {**HELLO, "options": [{"type": 3, "name": f"o{n}", "description": "x"} for n in range(26)]},
        {**HELLO, "options": [{"type": 3, "name": "a", "description": "x"}] * 2},
        {**HELLO, "options": [{"type": 12, "name": "a", "description": "x"}]},
        {
            **HELLO,
            "options": [
                {"type": 3, "name": "a", "description": "x"},
                {"type": 3, "name": "b", "description": "x", "required": True},
            ],
        },
        {
            **HELLO,
            "options": [{"type": 1, "name": "a", "description": "x"}, {"type": 3, "name": "b", "description": "x"}],
        },
        {**HELLO, "options": [{**CHOICE, "choices": [{"name": str(n), "value": "x"} for n in range(26)]}]},
        {**HELLO, "default_member_permissions": "manage"},
        {**HELLO, "contexts": [5]},
        {"name": "Do this", "type": 3, "description": "x"},
        {"name": "x" * 33, "type": 3},
        {**HELLO, "options": [{**CHOICE, "name": f"o{n}", "choices": LONG} for n in range(20)]},
    ],
)
async def test_a_wrong_command_is_refused(raw: Raw, wrong: dict[str, Any]) -> None:
    status, told = await raw.declare(wrong)
    assert (status, told["code"]) == (400, 50035)


async def test_names_are_unique_but_for_their_kind(raw: Raw) -> None:
    assert (await raw.declare(HELLO, HELLO))[1]["code"] == 50035
    assert (await raw.declare(HELLO, {"name": "hello", "type": 3}, {"name": "Do this", "type": 2}))[0] == 200


async def test_commands_keep_their_ids_and_are_given_back(server: DiscordServer, raw: Raw) -> None:
    localized = {**HELLO, "name_localizations": {"ru": "привет"}}
    _, first = await raw.declare(localized)
    _, second = await raw.declare(HELLO, {**HELLO, "name": "other"})
    assert second[0]["id"] == first[0]["id"]
    await raw.declare(localized)
    place = f"/applications/{server.bot.id}/commands"
    _, short = await raw.call("GET", place)
    assert "name_localizations" not in short[0]
    _, full = await raw.call("GET", place + "?with_localizations=true")
    assert full[0]["name_localizations"] == {"ru": "привет"}
    assert (await raw.call("DELETE", f"{place}/{first[0]['id']}"))[0] == 204
    assert await raw.call("GET", place) == (200, [])


async def test_people_are_shown_what_is_for_them(server: DiscordServer, raw: Raw, ann: User, channel: Channel) -> None:
    assert channel.guild
    await raw.declare(
        {**HELLO, "name_localizations": {"ru": "привет"}},
        {**HELLO, "name": "guilds", "contexts": [0]},
        {**HELLO, "name": "dms", "contexts": [1]},
        {**HELLO, "name": "admin", "default_member_permissions": str(1 << 5)},
        {**HELLO, "name": "memory", "options": [{"type": 1, "name": "view", "description": "x"}]},
    )
    await raw.declare({**HELLO, "name": "here"}, guild=channel.guild.id)
    assert server.menu_names(ann, ann) == ["привет", "dms", "admin", "memory view"]
    assert server.menu_names(ann, channel) == ["here", "привет", "guilds", "memory view"]
    with pytest.raises(LookupError):
        server.use(ann, channel, "admin")
    server.role(channel.guild, "Staff", "manage_guild", members=[ann])
    assert "admin" in server.menu_names(ann, channel)


async def test_options_are_sent_as_the_app_would(server: DiscordServer, raw: Raw, ann: User, channel: Channel) -> None:
    options = [
        {"type": 6, "name": "who", "description": "x", "required": True},
        {"type": 4, "name": "page", "description": "x", "min_value": 1, "max_value": 9},
        {"type": 3, "name": "kind", "description": "x", "choices": [{"name": "All", "value": "all"}]},
        {"type": 11, "name": "file", "description": "x"},
    ]
    await raw.declare({**HELLO, "options": options})
    with pytest.raises(ValueError, match="must be given"):
        server.use(ann, channel, "hello")
    wrong: list[dict[str, Any]] = [{"page": 10}, {"page": "1"}, {"kind": "none"}]
    for more in wrong:
        with pytest.raises(ValueError, match=r"bounds|else|one of"):
            server.use(ann, channel, "hello", who=ann, **more)
    with pytest.raises(LookupError):
        server.use(ann, channel, "hello", who=ann, color="red")
    using = server.use(ann, channel, "hello", who=ann, page=2, kind="all", file=server.file(channel, "a.txt", b"a"))
    assert [option["value"] for option in using.data["options"]][:3] == [str(ann.id), 2, "all"]
    assert using.data["resolved"]["users"][str(ann.id)]["username"] == "ann"
    assert next(iter(using.data["resolved"]["attachments"].values()))["filename"] == "a.txt"


class Tree(Client):
    """A bot that tells what it was given."""

    async def setup_hook(self) -> None:
        group = app_commands.Group(name="memory", description="What is remembered")

        @group.command(description="See it")
        @app_commands.describe(who="Of whom")
        async def view(interaction: discord.Interaction, who: discord.User | None = None, page: int = 1) -> None:
            where = interaction.guild.name if interaction.guild else "DM"
            await interaction.response.send_message(f"{interaction.locale} {where} {who} {page}", ephemeral=True)

        @self.tree.context_menu(name="Forget this message")
        async def forget(interaction: discord.Interaction, message: discord.Message) -> None:
            await interaction.response.send_message(f"forgot {message.content}", ephemeral=True)

        @self.tree.context_menu(name="Who")
        async def who(interaction: discord.Interaction, user: discord.User) -> None:
            await interaction.response.send_message(f"{user.display_name}", ephemeral=True)

        @self.tree.command(description="Pick a fruit")
        async def pick(interaction: discord.Interaction, fruit: str, file: discord.Attachment | None = None) -> None:
            text = (await file.read()).decode() if file else ""
            created = await interaction.response.send_message(f"{fruit} {text}".strip())
            assert created.message_id
            await interaction.edit_original_response(content=f"{fruit}!")

        @pick.autocomplete("fruit")
        async def fruits(_: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
            return [app_commands.Choice(name=one, value=one) for one in ("apple", "pear") if one.startswith(typed)]

        self.tree.add_command(group)
        await self.tree.sync()


async def test_discord_py_is_told_who_where_and_in_which_language(
    server: DiscordServer, ann: User, channel: Channel
) -> None:
    async with running(server, Tree()):
        message = await server.answered(server.use(ann, channel, "memory view", who=ann, page=2))
        assert message.text == "ru Club ann 2"
        assert (await server.answered(server.use(ann, ann, "memory view"))).text == "ru DM None 1"


async def test_menus_of_messages_and_people_work(server: DiscordServer, ann: User, channel: Channel) -> None:
    async with running(server, Tree()):
        said = server.say(ann, channel, "a secret")
        await server.reply(channel)
        message = await server.answered(server.use_on(ann, said, "Forget this message"))
        assert (message.text, message.seen_by) == ("forgot a secret", ann)
        assert (await server.answered(server.use_on(ann, ann, "Who", channel))).text == "Ann"


async def test_what_is_typed_is_completed_and_files_are_options(server: DiscordServer, ann: User) -> None:
    async with running(server, Tree()):
        typed = server.complete(ann, ann, "pick", "fruit", "p")
        await server.wait_for(lambda: typed.is_done)
        assert typed.choices == [{"name": "pear", "value": "pear"}]
        file = server.file(server.private(ann), "a.txt", b"ripe")
        using = server.use(ann, ann, "pick", fruit="pear", file=file)
        message = await server.answered(using)
        await server.wait_for(lambda: message.text == "pear!")
        assert message.versions == ["pear ripe", "pear!"]


async def test_a_stranger_s_button_and_one_that_is_gone_can_be_pressed(server: DiscordServer, ann: User) -> None:
    """Discord lets everybody press what they see, and knows nothing of what the bot has forgotten."""
    bob = server.person("Bob")
    channel = server.text_channel(server.guild("Club", [ann, bob]))
    heard: list[tuple[str, str]] = []

    class Buttons(Client):
        async def on_interaction(self, interaction: discord.Interaction) -> None:
            data: Any = interaction.data
            heard.append((interaction.user.name, data["custom_id"]))
            await interaction.response.defer()

    async with running(server, Buttons()) as _, aiohttp.ClientSession() as session:
        body = {"content": "a card", "components": [{"type": 1, "components": [_BUTTON]}]}
        await Raw(session, server).call("POST", f"/channels/{channel.id}/messages", body)
        card = channel.from_bot[0]
        pressed = server.press(bob, card, "Next")
        await server.wait_for(lambda: pressed.answer)
        server.delete(card)
        pressed = server.press_id(ann, card, "next")
        await server.wait_for(lambda: pressed.answer)
    assert heard == [("bob", "next"), ("ann", "next")]


_BUTTON = {"type": 2, "style": 2, "label": "Next", "custom_id": "next"}
