"""The test server's people, other bots and webhooks: what they say and do, as a real discord.py sees it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import discord
import pytest

from adapters.discord.server import Channel, DiscordServer, Guild, User
from tests.adapters.discord.real_client import Client, running, until


@pytest.fixture
def ann(server: DiscordServer) -> User:
    return server.person("Ann")


@pytest.fixture
def guild(server: DiscordServer, ann: User) -> Guild:
    return server.guild("Club", [ann, server.person("Bob")])


@pytest.fixture
def channel(server: DiscordServer, guild: Guild) -> Channel:
    return server.text_channel(guild)


class Watcher(Client):
    """A bot that says nothing and notes all it is told."""

    def __init__(self) -> None:
        intents = discord.Intents.default()
        intents.message_content = intents.members = True
        super().__init__(intents, echoes=False)
        self.told: list[tuple[str, Any]] = []

    def dispatch(self, event: str, /, *arguments: Any, **named: Any) -> None:
        self.told.append((event, arguments[-1] if arguments else None))
        super().dispatch(event, *arguments, **named)

    def of(self, event: str) -> list[Any]:
        return [argument for name, argument in self.told if name == event]

    async def first(self, event: str, count: int = 1) -> Any:
        await until(lambda: len(self.of(event)) >= count)
        return self.of(event)[count - 1]


@asynccontextmanager
async def watching(server: DiscordServer) -> AsyncIterator[Watcher]:
    watcher = Watcher()
    async with running(server, watcher):
        yield watcher


async def test_a_mention_a_reply_and_a_ping_of_all_are_told_apart(
    server: DiscordServer, ann: User, guild: Guild, channel: Channel
) -> None:
    role = server.role(guild, "Crew", open=True)
    async with watching(server) as watcher:
        place = watcher.get_channel(channel.id)
        assert isinstance(place, discord.TextChannel)
        sent = await place.send("hello")
        mine = channel.from_bot[0]
        server.say(ann, channel, f"{server.bot.mention} yes?")
        server.say(ann, channel, "yes?", reply_to=mine)
        server.say(ann, channel, "yes?", reply_to=mine, pinging=False)
        server.say(ann, channel, f"{role.mention} all")
        server.say(ann, channel, "@everyone all")
        await until(lambda: len(watcher.heard) == 5)
        mention, reply, quiet, crew, everyone = watcher.heard
        me = watcher.user
        assert [me in message.mentions for message in watcher.heard] == [True, True, False, False, False]
        assert [one.reference and one.reference.message_id for one in (mention, reply, quiet)] == [None, *[sent.id] * 2]
        assert isinstance(reply.reference and reply.reference.resolved, discord.Message)
        assert [one.name for one in crew.role_mentions] == ["Crew"]
        assert everyone.mention_everyone
        server.delete(mine)
        server.say(ann, channel, "what was that?", reply_to=mine)
        await until(lambda: len(watcher.heard) == 6)
        gone = watcher.heard[-1].reference
        assert isinstance(gone and gone.resolved, discord.DeletedReferencedMessage)


async def test_only_who_may_ping_all_does(server: DiscordServer, guild: Guild, channel: Channel) -> None:
    bob = next(member.user for member in guild.members.values() if member.user.name == "bob")
    assert not server.say(bob, channel, "@everyone all").mention_everyone
    server.role(guild, "Loud", "mention_everyone", members=[bob])
    assert server.say(bob, channel, "@here all").mention_everyone


async def test_other_bots_and_webhooks_are_known_for_such(
    server: DiscordServer, guild: Guild, channel: Channel
) -> None:
    other, hook = server.other_bot("Parrot"), server.webhook("News")
    server.join(guild, other)
    async with watching(server) as watcher:
        server.say(other, channel, "squawk")
        server.say(hook, channel, "extra")
        await until(lambda: len(watcher.heard) == 2)
        bot, webhook = watcher.heard
        assert (bot.author.bot, bot.webhook_id) == (True, None)
        assert (webhook.author.bot, webhook.author.name, webhook.webhook_id) == (True, "News", hook.id)


async def test_what_is_said_is_changed_and_taken_back(server: DiscordServer, ann: User, channel: Channel) -> None:
    async with watching(server) as watcher:
        said = [server.say(ann, channel, text) for text in ("one", "two", "three")]
        server.edit(said[0], "one!")
        edited = await watcher.first("raw_message_edit")
        assert (edited.message.content, edited.message.edited_at is not None) == ("one!", True)
        server.embed_link(said[1], {"type": "link", "url": "https://example.org", "title": "Example"})
        preview = await watcher.first("raw_message_edit", 2)
        assert (preview.message.content, preview.message.edited_at) == ("two", None)
        assert preview.message.embeds[0].title == "Example"
        server.delete(said[0])
        assert (await watcher.first("raw_message_delete")).message_id == said[0].id
        server.delete_all(*said[1:])
        assert (await watcher.first("raw_bulk_message_delete")).message_ids == {message.id for message in said[1:]}


async def test_what_is_not_only_words_is_said(server: DiscordServer, ann: User, channel: Channel) -> None:
    async with watching(server) as watcher:
        server.photo(ann, channel, text="look")
        server.voice(ann, channel, b"OggS", seconds=2.5)
        server.sticker(ann, channel)
        server.welcome(ann, channel)
        server.forward(ann, channel, server.say(ann, ann, "psst"))
        await until(lambda: len(watcher.heard) == 6)
        photo, voice, sticker, welcome, _, forwarded = watcher.heard
        assert (photo.content, photo.attachments[0].content_type) == ("look", "image/png")
        assert photo.attachments[0].width
        assert (voice.attachments[0].is_voice_message(), voice.attachments[0].duration) == (True, 2.5)
        assert (sticker.content, sticker.type) == ("", discord.MessageType.default)
        assert welcome.type is discord.MessageType.new_member
        assert [one.content for one in forwarded.message_snapshots] == ["psst"]
        server.type(ann, channel)
        assert (await watcher.first("raw_typing")).channel_id == channel.id


async def test_nobody_speaks_where_they_can_not(server: DiscordServer, ann: User, channel: Channel) -> None:
    stranger = server.person("Eve")
    with pytest.raises(ValueError, match="not in Club"):
        server.say(stranger, channel, "hi")
    with pytest.raises(ValueError, match="direct messages"):
        server.say(stranger, server.private(ann), "hi")
    with pytest.raises(ValueError, match="2000"):
        server.say(ann, channel, "x" * 2001)


async def test_the_bot_comes_and_goes(server: DiscordServer, ann: User) -> None:
    async with watching(server) as watcher:
        guild = server.guild("New", [ann], bot=False)
        assert watcher.get_guild(guild.id) is None
        server.add_bot(guild)
        assert (await watcher.first("guild_join")).name == "New"
        server.rename_guild(guild, "Newer")
        assert (await watcher.first("guild_update")).name == "Newer"
        server.set_unavailable(guild)
        await watcher.first("guild_unavailable")
        server.set_unavailable(guild, False)
        await watcher.first("guild_available")
        server.remove_bot(guild)
        assert (await watcher.first("guild_remove")).id == guild.id
        with pytest.raises(discord.NotFound):
            await watcher.fetch_guild(guild.id)


async def test_channels_threads_and_roles_come_and_go(
    server: DiscordServer, ann: User, guild: Guild, channel: Channel
) -> None:
    async with watching(server) as watcher:
        made = server.news(guild)
        assert (await watcher.first("guild_channel_create")).is_news()
        thread = server.thread(channel, "Aside", ann, of=(said := server.say(ann, channel, "aside")))
        assert thread.id == said.id
        assert (await watcher.first("thread_create")).name == "Aside"
        hidden = server.thread(channel, "Hidden", ann, private=True)
        assert (await watcher.first("thread_create", 2)).is_private()
        server.archive(hidden)
        await watcher.first("raw_thread_update")
        server.say(ann, hidden, "awake")
        assert not hidden.is_archived, "it wakes when somebody speaks"
        server.delete_channel(thread)
        await watcher.first("raw_thread_delete")
        server.delete_channel(made)
        assert (await watcher.first("guild_channel_delete")).id == made.id
        role = server.role(guild, "Crew")
        assert (await watcher.first("guild_role_create")).name == "Crew"
        server.give(guild, ann, role)
        assert "Crew" in [one.name for one in (await watcher.first("member_update")).roles]
        server.rename(guild, ann, "Annie")
        assert (await watcher.first("member_update", 2)).nick == "Annie"


async def test_who_is_where_can_be_asked(server: DiscordServer, ann: User, guild: Guild, channel: Channel) -> None:
    server.thread(channel, "Aside", ann)
    async with watching(server) as watcher:
        known = await watcher.fetch_guild(guild.id)
        assert (await known.fetch_member(ann.id)).name == "ann"
        with pytest.raises(discord.NotFound):
            await known.fetch_member(1)
        assert [one.name for one in await known.fetch_channels()] == ["general"]
        assert [one.name for one in await known.active_threads()] == ["Aside"]
        assert [one.name for one in await known.fetch_roles()] == ["@everyone", "Keepmind"]
        assert [one.name async for one in watcher.fetch_guilds()] == ["Club"]
        thread = (await known.active_threads())[0]
        await thread.join()
        assert server.bot.id in server.channel(thread.id).members
        await thread.leave()
        assert server.bot.id not in server.channel(thread.id).members
        with pytest.raises(discord.Forbidden):
            await thread.edit(name="Mine")
        await known.leave()
        assert server.bot.id not in guild.members
