"""The test server, as a real discord.py sees it over sockets."""

from collections.abc import AsyncIterator
from typing import Any

import discord
import pytest

from adapters.discord.server import DiscordServer, User
from tests.adapters.discord.real_client import Client, running


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    async with DiscordServer() as server:
        yield server


@pytest.fixture
def ann(server: DiscordServer) -> User:
    return server.person("Ann")


async def test_a_bot_answers_in_direct_messages_and_in_a_guild(server: DiscordServer, ann: User) -> None:
    channel = server.text_channel(server.guild("Club", [ann]))
    client = Client()
    async with running(server, client):
        server.say(ann, ann, "hi")
        assert (await server.reply(ann)).text == "echo hi"
        server.say(ann, channel, "hello")
        assert (await server.reply(channel)).text == "echo hello"
    in_dm, in_guild = client.heard
    assert isinstance(in_dm.channel, discord.DMChannel)
    assert isinstance(in_guild.author, discord.Member)
    assert in_guild.author.display_name == "Ann"
    assert in_guild.channel == client.get_channel(channel.id)


async def test_a_message_is_edited_and_deleted(server: DiscordServer, ann: User) -> None:
    client = Client(echoes=False)
    async with running(server, client):
        said = server.say(ann, ann, "hi")
        await server.wait_for(lambda: server.gateway.of("MESSAGE_CREATE"))
        place = await client.fetch_channel(said.channel.id)
        assert isinstance(place, discord.DMChannel)
        sent = await place.send("one")
        await sent.edit(content="two")
        assert [message.text for message in server.private(ann).from_bot] == ["two"]
        assert server.private(ann).from_bot[0].versions == ["one", "two"]
        await sent.delete()
        assert server.private(ann).from_bot == []


class Tree(Client):
    """A bot with a slash command that takes its time, and buttons."""

    async def setup_hook(self) -> None:
        @self.tree.command(description="Say something later")
        async def later(interaction: discord.Interaction, words: str) -> None:
            await interaction.response.defer(ephemeral=True, thinking=True)
            await interaction.followup.send(f"later {words}")

        @self.tree.command(description="Show a card")
        async def card(interaction: discord.Interaction) -> None:
            await interaction.response.send_message("a card", view=Card())

        await self.tree.sync()


class Ask(discord.ui.Modal, title="Edit"):
    words: discord.ui.TextInput[Any] = discord.ui.TextInput(label="Words", default="old", max_length=20)

    async def on_submit(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_message(f"set to {self.words.value}", ephemeral=True)


class Card(discord.ui.View):
    @discord.ui.button(label="Next", custom_id="card:next")
    async def next(self, interaction: discord.Interaction, _: discord.ui.Button[Any]) -> None:
        await interaction.response.edit_message(content="page two")

    @discord.ui.button(label="Edit", custom_id="card:edit")
    async def change(self, interaction: discord.Interaction, _: discord.ui.Button[Any]) -> None:
        await interaction.response.send_modal(Ask())

    @discord.ui.select(
        custom_id="card:select", options=[discord.SelectOption(label="Tea"), discord.SelectOption(label="Milk")]
    )
    async def pick(self, interaction: discord.Interaction, select: discord.ui.Select[Any]) -> None:
        await interaction.response.defer()
        await interaction.followup.send(f"picked {select.values[0]}")


async def test_a_slash_command_is_deferred_and_followed_up(server: DiscordServer, ann: User) -> None:
    channel = server.text_channel(server.guild("Club", [ann]))
    async with running(server, Tree()):
        for place in (channel, server.private(ann)):
            using = server.use(ann, place, "later", words="tea")
            message = await server.answered(using)
            assert (message.text, message.seen_by, using.answer) == ("later tea", ann, 5)
            assert message.is_ephemeral
            assert not message.is_loading


async def test_buttons_selects_and_forms_are_used(server: DiscordServer, ann: User) -> None:
    channel = server.text_channel(server.guild("Club", [ann]))
    async with running(server, Tree()):
        card = await server.answered(server.use(ann, channel, "card"))
        assert [button["label"] for button in card.buttons] == ["Next", "Edit"]
        assert (await server.answered(server.press(ann, card, "Next"))).text == "page two"
        form = await server.opened(server.press(ann, card, "Edit"))
        assert (await server.answered(server.submit(form, {"Words": "new"}))).text == "set to new"
        picked = server.choose(ann, card, "Milk")
        assert (await server.answered(picked)).id == card.id
        assert picked.messages[0].text == "picked Milk"
