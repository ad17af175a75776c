"""What is said on Discord: whom the bot hears, whom it answers, and what it remembers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adapters.discord.groups import Groups
from adapters.discord.sentences import JOINED_ALL, JOINED_MENTION
from adapters.discord.server import DiscordServer
from adapters.discord.server.talk import PIXEL
from adapters.inmemory import InMemoryStore
from core import sentences
from core.errors import LLMRejected, StoreError
from core.messages import Message
from core.modes import LISTEN, OFF, OPEN
from core.rates import Rates
from core.store import ConversationStore
from tests.adapters.discord.life import (
    Club,
    answered,
    called,
    comes_true,
    go_on,
    held,
    key,
    living,
    saying,
    texts,
    until,
)
from tests.fakes import ScriptedLLM


async def test_a_direct_message_is_answered(server: DiscordServer) -> None:
    ann = server.person("Ann")
    async with living(server, llm=ScriptedLLM(saying("Hello!"))) as life:
        said = server.say(ann, ann, "hi")
        assert (await answered(server, said)).text == "Hello!"
        assert life.asked() == ["hi"]


async def test_two_people_are_two_conversations(server: DiscordServer) -> None:
    ann, bob = server.person("Ann"), server.person("Bob")
    async with living(server) as life:
        await answered(server, server.say(ann, ann, "I am Ann"))
        await answered(server, server.say(bob, bob, "I am Bob"))
        assert await life.turns(server.private(ann).id) == ["I am Ann"]
        assert await life.turns(server.private(bob).id) == ["I am Bob"]


async def test_in_a_server_a_mention_is_answered_and_other_talk_is_not_heard(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        server.say(club.bob, club.general, "nice weather")
        said = server.say(club.ann, club.general, called(server, "what is up?"))
        assert (await answered(server, said)).reply_to == said.id
        assert life.asked() == ["[Ann] what is up?"]
        assert await life.turns(club.general.id) == ["what is up?"]


@pytest.mark.parametrize("pinging", [True, False])
async def test_a_reply_to_the_bot_is_for_it_pinging_or_not(server: DiscordServer, club: Club, pinging: bool) -> None:
    async with living(server, llm=ScriptedLLM(saying("One. Two.", "More."))) as life:
        first = await answered(server, server.say(club.ann, club.general, called(server, "list")))
        said = server.say(club.bob, club.general, "expand point 2", reply_to=first, pinging=pinging)
        assert (await answered(server, said)).text == "More."
        assert "in reply to your message: «One. Two.»" in life.asked()[-1]


async def test_a_reply_to_somebody_else_is_not_for_the_bot(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        other = server.say(club.bob, club.general, "lunch?")
        server.say(club.ann, club.general, "yes", reply_to=other)
        await answered(server, server.say(club.ann, club.general, called(server, "hi")))
        assert len(life.asked()) == 1


async def test_what_is_replied_to_is_told_to_the_model_with_its_author(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        other = server.say(club.bob, club.general, "we meet at five")
        await answered(server, server.say(club.ann, club.general, called(server, "is he right?"), reply_to=other))
        assert "in reply to a message of Bob: «we meet at five»" in life.asked()[-1]


async def test_everyone_and_roles_are_not_the_bot(server: DiscordServer, club: Club) -> None:
    server.role(club.guild, "Mods", "mention_everyone", members=[club.ann])
    crew = server.role(club.guild, "Crew", members=[server.bot], open=True)
    async with living(server) as life:
        server.say(club.ann, club.general, "@everyone meeting at 5")
        server.say(club.ann, club.general, "@here too")
        server.say(club.ann, club.general, f"{crew.mention} assemble")
        await answered(server, server.say(club.ann, club.general, called(server, "hi")))
        assert life.asked() == ["[Ann] hi"]


async def test_mentions_are_told_to_the_model_by_their_names(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        words = called(server, f"tell {club.bob.mention} in {club.general.mention} <:wave:123>")
        await answered(server, server.say(club.ann, club.general, words))
        assert life.asked() == ["[Ann] tell @Bob in #general :wave:"]


async def test_a_mention_without_words_asks_nothing(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        server.say(club.ann, club.general, server.bot.mention)
        await answered(server, server.say(club.ann, club.general, called(server, "hi")))
        assert life.asked() == ["[Ann] hi"]


async def test_in_listen_mode_all_is_heard_and_what_is_addressed_answered(server: DiscordServer, club: Club) -> None:
    async with living(server, groups=Groups(LISTEN)) as life:
        server.say(club.bob, club.general, "we meet at five")
        await answered(server, server.say(club.ann, club.general, called(server, "when?")))
        assert await life.turns(club.general.id) == ["we meet at five", "when?"]
        assert len(texts(club.general)) == 1


async def test_modes_are_set_for_servers_channels_and_threads(server: DiscordServer, club: Club) -> None:
    quiet = server.text_channel(club.guild, "quiet")
    thread = server.thread(quiet, "talk", club.ann)
    modes = {str(club.guild.id): OPEN, str(quiet.id): OFF, str(thread.id): OPEN}
    async with living(server, groups=Groups(modes=modes)) as life:
        await answered(server, server.say(club.ann, club.general, "in the open"))
        server.say(club.ann, quiet, called(server, "hush"))
        await answered(server, server.say(club.ann, thread, "in the thread"))
        assert life.asked() == ["[Ann] in the open", "[Ann] in the thread"]


async def test_a_thread_is_a_chat_of_its_own_whose_facts_are_its_channels(server: DiscordServer, club: Club) -> None:
    thread = server.thread(club.general, "talk", club.ann)
    async with living(server) as life:
        said = server.say(club.ann, thread, called(server, "hi"))
        assert (await answered(server, said)).channel is thread
        assert await life.turns(club.general.id, thread.id) == ["hi"]
        assert await life.turns(club.general.id) == []
        assert (await life.store.load(key(club.general.id, thread.id), private=False)).scope == key(
            club.general.id
        ).scope


async def test_a_thread_that_slept_before_the_bot_came_is_known_as_one(server: DiscordServer, club: Club) -> None:
    thread = server.thread(club.general, "talk", club.ann)
    server.archive(thread)
    async with living(server) as life:
        await answered(server, server.say(club.ann, thread, called(server, "hi")))
        assert await life.turns(club.general.id, thread.id) == ["hi"]


async def test_a_post_in_a_forum_is_a_chat_of_its_own_and_its_title_is_read(server: DiscordServer, club: Club) -> None:
    forum = server.forum(club.guild)
    async with living(server) as life:
        said = server.post(forum, club.ann, "Help", called(server, "how does this work?"))
        assert (await answered(server, said)).channel is said.channel
        assert await life.turns(forum.id, said.channel.id) == ["Help\nhow does this work?"]
        server.edit(said, called(server, "how do I begin?"))
        await comes_true(lambda: life.store.holds("Help\nhow do I begin?"))
        await answered(server, server.say(club.ann, said.channel, called(server, "please")))
        assert life.asked()[-1] == "[Ann] please"


async def test_each_conversation_may_get_a_thread_in_which_no_mention_is_needed(
    server: DiscordServer, club: Club
) -> None:
    async with living(server, threads=True, llm=ScriptedLLM(saying("First.", "Second."))) as life:
        said = server.say(club.ann, club.general, called(server, "tell me about tea"))
        thread = await server.wait_for(lambda: said.thread)
        assert thread.name == "tell me about tea"
        assert (await server.reply(thread)).text == "First."
        assert (await answered(server, server.say(club.bob, thread, "and coffee?"))).text == "Second."
        assert await life.turns(club.general.id, thread.id) == ["tell me about tea", "and coffee?"]
        assert texts(club.general) == []


async def test_where_no_thread_may_be_opened_the_answer_comes_in_the_channel(server: DiscordServer, club: Club) -> None:
    server.deny(club.general, "create_public_threads")
    async with living(server, threads=True) as life:
        await answered(server, server.say(club.ann, club.general, called(server, "hi")))
        assert await life.turns(club.general.id) == ["hi"]


async def test_other_bots_and_webhooks_are_not_heard(server: DiscordServer, club: Club) -> None:
    other = server.other_bot("Other")
    server.join(club.guild, other)
    async with living(server, groups=Groups(OPEN)) as life:
        server.say(other, club.general, called(server, "hi"))
        server.say(server.webhook("News"), club.general, called(server, "hi"))
        await answered(server, server.say(club.ann, club.general, "hello"))
        assert life.asked() == ["[Ann] hello"]


async def test_other_bots_may_be_answered_when_they_mention_it_but_not_for_ever(
    server: DiscordServer, club: Club
) -> None:
    other = server.other_bot("Other")
    server.join(club.guild, other)
    async with living(server, groups=Groups(OPEN, bots=2)) as life:
        server.say(other, club.general, "no mention")
        for number in range(4):
            server.say(other, club.general, called(server, f"{number}"))
        await answered(server, server.say(club.ann, club.general, "stop it"))
        await answered(server, server.say(other, club.general, called(server, "again")))
        assert life.asked() == ["[Other] 0\n[Other] 1", "[Ann] stop it", "[Other] again"]


async def test_a_webhook_that_is_answered_is_nobody_in_particular(server: DiscordServer, club: Club) -> None:
    async with living(server, groups=Groups(bots=1)) as life:
        await answered(server, server.say(server.webhook("News"), club.general, called(server, "hi")))
        conversation = await life.store.load(key(club.general.id), private=False)
        assert conversation.turns[0].message.anonymous


async def test_what_discord_itself_says_is_not_taken_for_talk(server: DiscordServer, club: Club) -> None:
    async with living(server, groups=Groups(OPEN)) as life:
        server.welcome(club.bob, club.general)
        await answered(server, server.say(club.ann, club.general, "hello"))
        assert life.asked() == ["[Ann] hello"]


async def test_a_message_that_comes_twice_is_answered_once(server: DiscordServer) -> None:
    ann = server.person("Ann")
    async with living(server) as life:
        said = server.say(ann, ann, "hi")
        server.gateway.repeat(server.gateway.of("MESSAGE_CREATE")[-1])
        await answered(server, said)
        await answered(server, server.say(ann, ann, "bye"))
        assert await life.turns(server.private(ann).id) == ["hi", "bye"]
        assert len(server.private(ann).from_bot) == 2


async def test_one_persons_slow_answer_keeps_nobody_else_waiting(server: DiscordServer) -> None:
    ann, bob = server.person("Ann"), server.person("Bob")
    llm = ScriptedLLM(saying("at once"))
    async with living(server, llm=llm):
        llm.gate = asyncio.Event()
        slow = server.say(ann, ann, "think hard")
        await until(lambda: llm.requests)
        gate, llm.gate = llm.gate, None
        assert (await answered(server, server.say(bob, bob, "hi"))).text == "at once"
        gate.set()
        assert (await answered(server, slow)).text == "at once"


async def test_a_burst_is_one_turn(server: DiscordServer) -> None:
    ann = server.person("Ann")
    async with living(server, quiet=0.2) as life:
        for part in ("so", "I was thinking", "about lunch"):
            server.say(ann, ann, part)
        await server.reply(ann)
        assert await life.turns(server.private(ann).id) == ["so | I was thinking | about lunch"]


async def test_an_edit_changes_what_is_remembered_and_is_not_answered(server: DiscordServer) -> None:
    ann = server.person("Ann")
    async with living(server, llm=ScriptedLLM(saying("Noted."))) as life:
        said = server.say(ann, ann, "I live in Rome")
        await answered(server, said)
        server.edit(said, "I live in Oslo")
        await comes_true(lambda: life.store.holds("Oslo"))
        assert not await life.store.holds("I live in Rome")
        assert len(server.private(ann).from_bot) == 1


async def test_a_preview_of_a_link_is_no_edit(server: DiscordServer) -> None:
    ann = server.person("Ann")
    async with living(server) as life:
        said = server.say(ann, ann, "look: https://example.org")
        await answered(server, said)
        server.embed_link(said, {"type": "link", "url": "https://example.org", "title": "Example"})
        await answered(server, server.say(ann, ann, "seen?"))
        assert (await life.turns(server.private(ann).id))[0] == "look: https://example.org"


async def test_a_deleted_message_is_forgotten_with_its_turn(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        said = server.say(club.ann, club.general, called(server, "the key is under the mat"))
        await answered(server, said)
        await answered(server, server.say(club.bob, club.general, called(server, "hi")))
        server.delete(said)
        await comes_true(lambda: _is_gone(life.store, "under the mat"))
        assert await life.turns(club.general.id) == ["hi"]


async def _is_gone(store: ConversationStore, text: str) -> bool:
    return not await store.holds(text)


async def test_many_messages_deleted_at_once_are_all_forgotten(server: DiscordServer, club: Club) -> None:
    async with living(server, groups=Groups(LISTEN)) as life:
        said = [server.say(club.bob, club.general, f"secret {number}") for number in range(3)]
        await answered(server, server.say(club.ann, club.general, called(server, "hi")))
        server.delete_all(*said)
        await comes_true(lambda: _is_gone(life.store, "secret"))
        assert await life.turns(club.general.id) == ["hi"]


async def test_what_was_said_in_a_deleted_thread_or_channel_is_forgotten(server: DiscordServer, club: Club) -> None:
    talk, tea = (server.thread(club.general, name, club.ann) for name in ("talk", "tea"))
    other = server.text_channel(club.guild, "other")
    places = {"red": talk, "green": tea, "blue": club.general, "white": other}
    async with living(server) as life:
        for word, place in places.items():
            await answered(server, server.say(club.ann, place, called(server, f"my word is {word}")))
        await life.engine.idle()

        async def kept(*words: str) -> bool:
            return [word for word in places if await life.store.holds(f"my word is {word}")] == list(words)

        server.delete_channel(talk)
        await comes_true(lambda: kept("green", "blue", "white"))
        server.delete_channel(club.general)
        await comes_true(lambda: kept("white"))


async def test_a_channel_deleted_while_it_is_answered_gets_no_answer(server: DiscordServer, club: Club) -> None:
    llm = held("Under the mat, you say?")
    async with living(server, llm=llm) as life:
        server.say(club.ann, club.general, called(server, "the key is under the mat"))
        await until(lambda: llm.requests)
        server.delete_channel(club.general)
        await until(lambda: not life.engine.busy)
        go_on(llm)
        await life.engine.idle()
        assert not await life.store.holds("the mat")


async def test_edits_and_deletions_reach_a_conversation_in_its_thread(server: DiscordServer, club: Club) -> None:
    async with living(server, threads=True) as life:
        said = server.say(club.ann, club.general, called(server, "I live in Rome"))
        thread = await server.wait_for(lambda: said.thread)
        await server.reply(thread)
        server.edit(said, called(server, "I live in Oslo"))
        await comes_true(lambda: life.store.holds("Oslo"))
        server.delete(said)
        await comes_true(lambda: _is_gone(life.store, "Oslo"))


async def test_a_message_deleted_while_it_is_answered_gets_no_answer(server: DiscordServer) -> None:
    ann = server.person("Ann")
    llm = held("Under the mat, you say?")
    async with living(server, llm=llm) as life:
        said = server.say(ann, ann, "the key is under the mat")
        await until(lambda: llm.requests)
        server.delete(said)
        await comes_true(lambda: _is_gone(life.store, "under the mat"))
        assert await life.turns(server.private(ann).id) == []


class Unstorable:
    """A store in which the first messages can't be kept."""

    def __init__(self, inner: ConversationStore, times: int) -> None:
        self._inner, self._times = inner, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def receive(self, message: Message, *, keep: bool = True) -> bool:
        await asyncio.sleep(0)
        if self._times:
            self._times -= 1
            raise StoreError("The database is locked.")
        return await self._inner.receive(message, keep=keep)


async def test_what_could_not_be_stored_is_tried_again_in_order(server: DiscordServer) -> None:
    ann = server.person("Ann")
    store: Any = Unstorable(InMemoryStore(), 2)
    async with living(server, store=store, quiet=0.0) as life:
        server.say(ann, ann, "one")
        server.say(ann, ann, "two")
        await until(lambda: len(life.asked()) == 2)
        assert life.asked() == ["one", "two"]


async def test_e03_what_is_said_during_a_long_answer_waits_its_turn(server: DiscordServer) -> None:
    ann = server.person("Ann")
    llm = held("The answer")
    async with living(server, llm=llm) as life:
        server.say(ann, ann, "one")
        await until(lambda: llm.requests)
        server.say(ann, ann, "two")
        go_on(llm)
        await until(lambda: len(server.private(ann).from_bot) == 2)
        assert await life.turns(server.private(ann).id) == ["one", "two"]


async def test_e13_the_first_messages_of_somebody_new_are_one_conversation(server: DiscordServer) -> None:
    ann = server.person("Ann")
    async with living(server, quiet=0.0) as life:
        for number in range(20):
            server.say(ann, ann, str(number))
        await until(lambda: len(server.private(ann).from_bot) == 20)
        assert await life.turns(server.private(ann).id) == [str(number) for number in range(20)]


async def test_an_edit_of_what_was_never_heard_changes_nothing(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        unheard = server.say(club.bob, club.general, "nothing for the bot")
        server.edit(unheard, "a secret of Bob's")
        server.delete(unheard)
        await answered(server, server.say(club.ann, club.general, called(server, "hi")))
        assert await life.turns(club.general.id) == ["hi"]
        assert not await life.store.holds("secret")


async def test_too_much_at_once_is_told_once_and_not_heard(server: DiscordServer) -> None:
    ann = server.person("Ann")
    async with living(server, quiet=0.0, rates=Rates(person=2)) as life:
        for number in range(6):
            server.say(ann, ann, str(number))
        await until(lambda: sentences.TOO_MUCH in texts(server.private(ann)))
        await life.engine.idle()
        assert texts(server.private(ann)).count(sentences.TOO_MUCH) == 1
        assert len(life.asked()) < 6


@pytest.mark.parametrize("media_type", ["image/png", ""])
async def test_a_picture_is_shown_to_the_model(server: DiscordServer, media_type: str) -> None:
    ann = server.person("Ann")
    picture = server.file(server.private(ann), "picture.png", PIXEL, media_type)
    async with living(server) as life:
        server.attach(ann, ann, picture, text="what is this?")
        await server.reply(ann)
        assert [image.data for image in life.llm.requests[0].messages[-1].images] == [PIXEL]


async def test_text_files_are_read_also_a_long_paste(server: DiscordServer) -> None:
    ann = server.person("Ann")
    async with living(server) as life:
        await answered(server, server.say(ann, ann, "compare", files=[("a.md", b"# tea"), ("b.csv", b"a,b")]))
        assert life.asked()[-1] == "compare\n(file: a.md)\n# tea\n(file: b.csv)\na,b"
        await answered(server, server.paste(ann, ann, "lorem " * 500))
        assert life.asked()[-1].startswith("(file: message.txt)\nlorem lorem")


async def test_a_voice_message_is_written_down(server: DiscordServer) -> None:
    async def transcribe(name: str, media_type: str, data: bytes) -> str:
        await asyncio.sleep(0)
        return {b"tea": "I like tea"}[data]

    ann = server.person("Ann")
    async with living(server, transcribe=transcribe) as life:
        await answered(server, server.voice(ann, ann, b"tea"))
        assert life.asked()[-1].endswith("I like tea")


async def test_what_can_not_be_read_is_told_in_a_sentence(server: DiscordServer) -> None:
    async def transcribe(name: str, media_type: str, data: bytes) -> str:
        await asyncio.sleep(0)
        raise LLMRejected("no")

    ann = server.person("Ann")
    channel = server.private(ann)
    large = server.file(channel, "a.txt", b"x", size=21 * 2**20)
    async with living(server, transcribe=transcribe) as life:
        told = [
            (server.attach(ann, channel, large), sentences.TOO_LARGE.format(megabytes=20)),
            (server.say(ann, ann, files=[("a.zip", b"PK")]), sentences.UNSUPPORTED),
            (server.say(ann, ann, files=[("a.pdf", b"%PDF-broken")]), sentences.BROKEN),
            (server.say(ann, ann, files=[("a.mp4", b"x")]), sentences.UNREADABLE),
            (server.voice(ann, ann, b"tea"), sentences.NO_EARS),
        ]
        await server.wait_for(lambda: len(channel.from_bot) == len(told))
        assert {(one.reply_to, one.text) for one in channel.from_bot} == {(said.id, words) for said, words in told}
        assert life.asked() == []


async def test_m02_a_sticker_gets_a_sentence_in_private_and_silence_in_a_server(
    server: DiscordServer, club: Club
) -> None:
    async with living(server, groups=Groups(OPEN)) as life:
        server.sticker(club.ann, club.general)
        assert (await answered(server, server.sticker(club.ann, club.ann))).text == sentences.UNREADABLE
        await answered(server, server.say(club.ann, club.general, "hi"))
        assert len(club.general.from_bot) == 1
        assert len(life.asked()) == 1


async def test_a_file_that_is_gone_is_told(server: DiscordServer) -> None:
    ann = server.person("Ann")
    file = server.file(server.private(ann), "a.txt", b"x")
    server.api.world.files.clear()
    async with living(server):
        assert (await answered(server, server.attach(ann, ann, file))).text == sentences.UNFETCHED


async def test_what_is_forwarded_is_marked_as_somebody_elses(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        original = server.say(club.bob, club.general, "I live in Rome")
        await answered(server, server.forward(club.ann, club.ann, original))
        assert life.asked() == ["(forwarded from somebody: «I live in Rome»)"]
        conversation = await life.store.load(key(server.private(club.ann).id))
        assert conversation.turns[0].message.own_words == ""


@pytest.mark.parametrize(("mode", "kept"), [("mention", JOINED_MENTION), ("listen", JOINED_ALL)])
async def test_a_server_is_greeted_once_with_what_is_kept(server: DiscordServer, mode: str, kept: str) -> None:
    guild = server.guild("Club", [server.person("Ann")], bot=False)
    general = server.text_channel(guild)
    guild.system_channel = general
    async with living(server, groups=Groups(mode)) as life:
        await until(life.adapter.client.is_ready)
        server.add_bot(guild)
        assert kept in (await server.reply(general)).text


async def test_a_server_is_greeted_that_the_bot_was_added_to_shortly_before_it_started(server: DiscordServer) -> None:
    store, guild = InMemoryStore(), server.guild("Club", [server.person("Ann")], bot=False)
    hidden, general = server.text_channel(guild, "boards"), server.text_channel(guild)
    server.deny(hidden, "view_channel", user=guild.roles[guild.id])
    server.add_bot(guild)
    server.allow(hidden, "view_channel", user=server.bot)
    for _ in range(2):
        async with living(server, store=store) as life:
            await until(life.adapter.client.is_ready)
            await server.wait_for(lambda: general.from_bot)
            await server.quiet(0.1)
    assert (len(general.from_bot), texts(hidden)) == (1, [])
    assert JOINED_MENTION in texts(general)[0]


async def test_a_server_that_the_bot_has_long_been_in_is_not_greeted(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        await until(life.adapter.client.is_ready)
        await server.quiet(0.1)
        assert texts(club.general) == []


async def test_a_server_is_greeted_in_the_language_it_has_chosen(server: DiscordServer) -> None:
    guild = server.guild("Клуб", [server.person("Аня")], bot=False, locale="ru")
    general = server.text_channel(guild)
    server.add_bot(guild)
    async with living(server):
        assert (await server.reply(general)).text.startswith("Здравствуйте")


async def test_who_has_called_something_is_spoken_to_in_their_language(server: DiscordServer, club: Club) -> None:
    vera = server.person("Вера", locale="ru")
    server.join(club.guild, vera)
    async with living(server, llm=ScriptedLLM(saying(""))):
        assert (await answered(server, server.say(vera, vera, "привет"))).text == sentences.BLANK
        await server.answered(server.use(vera, vera, "stop"))
        for place in (vera, club.general):
            said = server.say(vera, place, called(server, "привет"))
            assert (await answered(server, said)).text == "У меня не нашлось слов. Спросите, пожалуйста, по-другому."
        said = server.say(club.ann, club.general, called(server, "hi"))
        assert (await answered(server, said)).text == sentences.BLANK


async def test_a_stranger_gets_one_sentence_with_their_id_and_no_answer(server: DiscordServer) -> None:
    ann = server.person("Ann")
    async with living(server, allowed=()) as life:
        told = await answered(server, server.say(ann, ann, "hi"))
        assert f"discord:{ann.id}" in told.text
        server.say(ann, ann, "hello?")
        await server.quiet(0.1)
        assert len(server.private(ann).from_bot) == 1
        assert life.llm.requests == []
        assert not await life.store.holds("hello?")


async def test_a_whole_server_is_let_in_by_its_id(server: DiscordServer, club: Club) -> None:
    boss = server.person("Boss")
    thread = server.thread(club.general, "talk", club.ann)
    async with living(server, allowed=(), admins=[f"discord:{boss.id}"]) as life:
        await server.answered(server.use(boss, boss, "admin allow", whom=f"discord:{club.guild.id}"))
        for place in (club.general, thread):
            await answered(server, server.say(club.bob, place, called(server, "hi")))
        assert "/forget" in (await server.answered(server.use(club.bob, club.general, "help"))).text
        assert "don't know you" in (await answered(server, server.say(club.bob, club.bob, "hi"))).text
        assert len(life.llm.of("answer")) == 2
