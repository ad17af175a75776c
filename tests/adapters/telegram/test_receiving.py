"""What people send on Telegram, and what becomes of it (cases E and M, groups, topics, migration)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import pytest

from adapters.inmemory import InMemoryStore
from adapters.telegram.groups import Groups
from adapters.telegram.sentences import JOINED_MENTION
from adapters.telegram.server import Chat, TelegramServer, User
from adapters.telegram.server.talk import PIXEL
from core import sentences
from core.errors import KeepmindError, LLMRejected, LLMUnavailable, StoreError
from core.llm import Completion
from core.messages import Message
from core.modes import OFF, OPEN
from core.sentences import TOO_OLD, UNREADABLE
from tests.adapters.telegram.life import Life, go_on, held, living, saying, until
from tests.fakes import FakeClock, ScriptedLLM

PICTURES = [PIXEL + b"1", PIXEL + b"2", PIXEL + b"3"]


async def test_e01_what_comes_quickly_is_kept_in_order(server: TelegramServer, ann: User) -> None:
    bob = server.person("Bob")
    async with living(server, quiet=0.0) as life:
        for number in range(20):
            server.say(ann, ann, f"number {number}")
        server.say(bob, bob, "me too")
        await server.wait_for(lambda: len(server.chat(ann).from_bot) == 20 and server.chat(bob).from_bot)
        assert [m.text for m in server.chat(ann).from_bot] == [f"You said: number {n}" for n in range(20)]
        assert await life.turns(ann.id) == [f"number {number}" for number in range(20)]


async def test_e04_nobody_waits_for_another(server: TelegramServer, ann: User) -> None:
    bob = server.person("Bob")
    async with living(server, llm=(llm := held("Hello"))):
        server.say(ann, ann, "think long")
        await server.wait_for(lambda: server.chat(ann).drafts)
        gate, llm.gate = llm.gate, None
        server.say(bob, bob, "hi")
        await server.reply(bob)
        assert not server.chat(ann).from_bot
        assert gate
        gate.set()
        await server.reply(ann)


async def test_a_slow_file_holds_up_its_own_chat_alone(server: TelegramServer, ann: User) -> None:
    bob = server.person("Bob")
    async with living(server) as life:
        server.delay("getFile", 0.6, times=1)
        server.document(ann, ann, "a.txt", b"the slow one", caption="first")
        server.say(ann, ann, "second")
        server.say(bob, bob, "hi")
        await server.reply(bob, timeout=0.55)
        assert server.api.updates.pending, "Telegram keeps what is not stored yet"
        await server.reply(ann)
        await server.quiet(0.1)
        said = await life.turns(ann.id)
        assert " | ".join(said) == "first | second"
        await until(lambda: not server.api.updates.pending)
    assert server.journal.counts["getFile"] == 1


async def test_e06_what_was_said_while_it_was_away_is_answered(server: TelegramServer, ann: User) -> None:
    server.say(ann, ann, "hi")
    async with living(server):
        assert (await server.reply(ann)).text == "You said: hi"


async def test_what_is_too_old_is_not_answered(ann: User) -> None:
    clock = FakeClock()
    async with TelegramServer(clock=lambda: clock.now().timestamp()) as server:
        ann = server.person("Ann")
        server.say(ann, ann, "hi")
        await clock.sleep(7 * 3600)
        async with living(server, clock=clock) as life:
            assert (await server.reply(ann)).text == TOO_OLD
            assert not life.llm.requests


async def test_e08_a_repeated_update_is_known(server: TelegramServer, ann: User) -> None:
    async with living(server) as life:
        for text in ("hi", "/memory off"):
            said = server.say(ann, ann, text)
            await server.reply(ann, after=said)
            server.api.updates.repeat(server.api.updates.log[-1])
            server.api.updates.repeat(server.api.updates.log[0])
        await server.quiet(0.1)
        assert len(server.chat(ann).from_bot) == 2
        assert len(life.llm.of("answer")) == 1


class Failing(InMemoryStore):
    """A store that can't be written to for a while."""

    failures = 0

    async def receive(self, message: Message, *, keep: bool = True) -> bool:
        if self.failures:
            self.failures -= 1
            raise StoreError("The database is locked.")
        return await super().receive(message, keep=keep)


async def test_e09_what_can_not_be_stored_comes_again_in_order(server: TelegramServer, ann: User) -> None:
    store = Failing()
    store.failures = 2
    async with living(server, store=store, quiet=0.0) as life:
        server.api.updates.hold()
        for text in ("one", "two", "three"):
            server.say(ann, ann, text)
        server.api.updates.release()
        await server.wait_for(lambda: len(server.chat(ann).from_bot) == 3)
        assert await life.turns(ann.id) == ["one", "two", "three"]
        assert not life.running.done()


async def test_e11_a_long_paste_is_one_turn(server: TelegramServer, ann: User) -> None:
    async with living(server, quiet=0.3) as life:
        parts = server.paste(ann, ann, text := "".join(f"word{n} " for n in range(3000)))
        assert len(parts) > 5
        await server.reply(ann)
        await server.quiet(0.1)
        assert len(life.llm.of("answer")) == 1
        assert life.asked() == [text], "joined without added text"


async def test_m01_an_edit_is_remembered_and_not_answered(server: TelegramServer, ann: User) -> None:
    async with living(server) as life:
        said = server.say(ann, ann, "my cat is Tom")
        await server.reply(ann)
        server.edit(said, "my cat is Tim")
        server.edit(server.say(ann, ann, "/help"), "/privacy")
        await until(lambda: len(server.chat(ann).from_bot) == 2)
        await server.quiet(0.1)
        assert await life.turns(ann.id) == ["my cat is Tim"]
        assert len(server.chat(ann).from_bot) == 2


@pytest.mark.parametrize("kind", ["sticker", "poll", "dice"])
async def test_m02_what_can_not_be_read_is_said_in_private_alone(server: TelegramServer, ann: User, kind: str) -> None:
    group = server.supergroup("Club", [ann])
    async with living(server) as life:
        for chat in (group, server.chat(ann)):
            if kind == "poll":
                server.poll(ann, chat, "When?", ["Now", "Later"])
            else:
                getattr(server, kind)(ann, chat)
        assert (await server.reply(ann)).text == UNREADABLE
        server.api.updates.repeat(server.api.updates.log[-1])
        await server.quiet(0.1)
        assert not group.from_bot
        assert len(server.chat(ann).from_bot) == 1
        assert not life.llm.requests


def video(server: TelegramServer) -> dict[str, Any]:
    file = server.api.world.add_file("a.mp4", "video/mp4", b"moving")
    return {"video": file.shape() | {"width": 1, "height": 1, "duration": 2}}


async def test_m02_the_model_knows_of_a_video_that_came_with_words(server: TelegramServer, ann: User) -> None:
    async with living(server) as life:
        server.send(ann, ann, video(server) | {"caption": "what happens here?"})
        await server.reply(ann)
        assert life.asked()[-1].startswith("what happens here?\n(file: video)\n(not read; tell the person: ")


async def test_m02_an_album_of_videos_is_answered_by_one_sentence(server: TelegramServer, ann: User) -> None:
    async with living(server):
        for _ in range(3):
            server.send(ann, ann, video(server) | {"media_group_id": "13000000000001"})
        await server.reply(ann)
        await server.quiet(0.2)
        assert [message.text for message in server.chat(ann).from_bot] == [sentences.UNREADABLE]


async def test_places_and_contacts_reach_the_model(server: TelegramServer, ann: User) -> None:
    async with living(server, quiet=0.0) as life:
        server.location(ann, ann, 50.45, 30.52)
        server.contact(ann, ann, "+380441234567", "Bob")
        await server.wait_for(lambda: len(server.chat(ann).from_bot) == 2)
        assert await life.turns(ann.id) == [
            "(a location: 50.450000, 30.520000)",
            "(a contact: Bob, +380441234567)",
        ]


async def test_m03_a_reply_brings_what_it_answers(server: TelegramServer, ann: User) -> None:
    async with living(server, llm=ScriptedLLM(saying("1. a 2. b"))) as life:
        server.say(ann, ann, "list")
        answer = await server.reply(ann)
        said = server.say(ann, ann, "expand it", reply_to=answer, quote="2. b")
        await server.reply(ann, after=said)
        assert "2. b" in life.asked()[-1]
        assert "your message" in life.asked()[-1]


async def test_m06_a_file_too_large_is_not_fetched(server: TelegramServer, ann: User) -> None:
    async with living(server) as life:
        server.document(ann, ann, "big.txt", b"x", size=25 * 2**20)
        assert (await server.reply(ann)).text == sentences.TOO_LARGE.format(megabytes=20)
        said = server.document(ann, ann, "big.txt", b"x", size=25 * 2**20, caption="what is in it?")
        await server.reply(ann, after=said)
        assert "tell the person: This file is too large" in life.asked()[-1]
    assert not server.journal.counts["getFile"]


async def test_m07_a_recording_is_written_down_or_an_error_is_told(server: TelegramServer, ann: User) -> None:
    errors = {
        b"noise": KeepmindError("invalid format"),
        b"late": LLMUnavailable("overloaded"),
        b"deaf": LLMRejected("no such model"),
    }
    told = {b"late": sentences.DEAF_NOW, b"deaf": sentences.NO_EARS}

    async def transcribe(name: str, media_type: str, data: bytes) -> str:
        if error := errors.get(data):
            raise error
        return "" if data == b"silence" else f"{data.decode()} of {media_type}"

    async with living(server, transcribe=transcribe) as life:
        for data in (*errors, b"silence"):
            said = server.voice(ann, ann, data)
            assert (await server.reply(ann, after=said)).text == told.get(data, sentences.UNHEARD)
        assert not await life.turns(ann.id)
        said = server.voice(ann, ann, b"words")
        await server.reply(ann, after=said)
        assert "words of audio/ogg" in life.asked()[-1]
        said = server.audio(ann, ann, "song.mp3", b"a song")
        await server.reply(ann, after=said)
        assert "song.mp3" in life.asked()[-1]


async def test_without_ears_a_recording_is_answered_honestly(server: TelegramServer, ann: User) -> None:
    async with living(server) as life:
        server.voice(ann, ann, b"ogg")
        assert (await server.reply(ann)).text == sentences.NO_EARS
        assert not life.llm.requests


@pytest.mark.parametrize(
    ("name", "media_type", "data", "found"),
    [
        ("a.txt", "text/plain", b"plain words", "plain words"),
        ("notes.md", "application/octet-stream", b"# Notes", "# Notes"),
        ("a.py", "text/x-python", b"print(1)", "print(1)"),
        ("a.csv", "", b"a,b\r\n1,2", "1,2"),
        ("a.json", "application/json", b'{"a": 1}', '{"a": 1}'),
        ("a.txt", "text/plain", b"caf\xe9", "caf\ufffd"),
        ("utf16.txt", "text/plain", "Wörter".encode("utf-16"), "Wörter"),
        ("a.pdf", "application/pdf", b"PDF", "Hello PDF"),
    ],
)
async def test_m10_documents_are_read(
    server: TelegramServer, ann: User, name: str, media_type: str, data: bytes, found: str
) -> None:
    async with living(server) as life:
        server.document(ann, ann, name, pdf("Hello PDF") if data == b"PDF" else data, media_type)
        await server.reply(ann)
        assert name.split(".")[0] in life.asked()[-1]
        assert found in life.asked()[-1]


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.zip", b"PK", sentences.UNSUPPORTED),
        ("a.pdf", b"%PDF-broken", sentences.BROKEN),
    ],
)
async def test_a_document_that_can_not_be_read_is_said_so(
    server: TelegramServer, ann: User, name: str, data: bytes, sentence: str
) -> None:
    async with living(server):
        server.document(ann, ann, name, data, "application/octet-stream")
        assert (await server.reply(ann)).text == sentence


def pdf(text: str) -> bytes:
    """Write a PDF of one page with one line."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    body, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    end = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(body))
    return body + head + table + end


async def test_m12_a_photo_without_words_is_seen(server: TelegramServer, ann: User) -> None:
    async with living(server) as life:
        server.photo(ann, ann, PIXEL + b"x")
        await server.reply(ann)
        [image] = life.llm.of("answer")[-1].messages[-1].images
        assert (image.data, image.media_type) == (PIXEL + b"x", "image/png")


async def test_an_album_is_one_turn(server: TelegramServer, ann: User) -> None:
    async with living(server, quiet=0.3) as life:
        server.album(ann, ann, PICTURES, caption="which is best?")
        await server.reply(ann)
        await server.quiet(0.1)
        assert len(server.chat(ann).from_bot) == 1
        images = life.llm.of("answer")[-1].messages[-1].images
        assert [image.data for image in images] == PICTURES


async def test_an_album_whose_pictures_come_slowly_is_one_turn(server: TelegramServer, ann: User) -> None:
    server.delay("getFile", 0.3)
    async with living(server, quiet=0.1) as life:
        server.album(ann, ann, PICTURES, caption="which is best?")
        await server.reply(ann)
        await server.quiet(0.5)
        assert len(server.chat(ann).from_bot) == 1
        images = life.llm.of("answer")[-1].messages[-1].images
        assert [image.data for image in images] == PICTURES


async def test_m13_forwards_are_one_turn_with_their_origin(server: TelegramServer, ann: User) -> None:
    channel = server.channel("News")
    async with living(server, quiet=0.3) as life:
        for number in range(5):
            server.say(ann, ann, f"post {number}", forward_from=channel)
        server.say(ann, ann, "which is true?")
        await server.reply(ann)
        await server.quiet(0.1)
        assert len(life.llm.of("answer")) == 1
        assert life.asked()[-1].count("forwarded from News") == 5


async def test_a_forwarded_command_is_no_command(server: TelegramServer, ann: User) -> None:
    async with living(server) as life:
        server.say(ann, ann, "/memory_off", forward_from=server.person("Bob"))
        await server.reply(ann)
        assert "/memory_off" in life.asked()[-1]


@pytest.mark.parametrize("text", ["/memory history", "/memory_history", "/Memory_History@Keepmind_bot"])
async def test_commands_are_known_both_ways(server: TelegramServer, ann: User, text: str) -> None:
    async with living(server):
        server.say(ann, ann, text)
        assert (await server.reply(ann)).text == "Nothing has changed yet."


async def test_commands_in_a_group(server: TelegramServer, ann: User) -> None:
    group = server.supergroup("Club", [ann])
    async with living(server, groups=modes("open")) as life:
        for text in ("/help@other_bot", "/unknown", "/roll_dice 6"):
            server.say(ann, group, text)
        server.say(ann, group, "/privacy@keepmind_bot")
        assert "language model" in (await server.reply(group)).text
        await server.quiet(0.1)
        assert len(group.from_bot) == 1
        assert not server.chat(ann).from_bot
        assert not life.llm.requests


def modes(mode: str) -> object:
    from adapters.telegram.groups import Groups

    return Groups(mode)


async def test_a_group_that_listens_remembers_what_it_does_not_answer(server: TelegramServer, ann: User) -> None:
    bob = server.person("Bob")
    group = server.supergroup("Club", [ann, bob])
    async with living(server, groups=modes("listen"), quiet=0.0) as life:
        server.say(bob, group, "the meeting is at noon")
        server.document(bob, group, "a.txt", b"agenda")
        server.say(ann, group, "@keepmind_bot when is it?")
        await server.reply(group)
        await server.quiet(0.1)
        assert len(await life.turns(group.id)) == 3
        prompt = "\n".join(message.content for message in life.llm.of("answer")[-1].messages)
        assert "[Bob] the meeting is at noon" in prompt
        assert "[Ann] @keepmind_bot when is it?" in prompt
    assert not server.journal.counts["getFile"], "a file that is not for the bot is not fetched"


async def test_a_group_that_mentions_keeps_only_what_is_for_the_bot(server: TelegramServer, ann: User) -> None:
    group = server.supergroup("Club", [ann])
    async with living(server) as life:
        server.say(ann, group, "just talk")
        server.say(ann, group, "@keepmind_bot hi")
        await server.reply(group)
        await server.quiet(0.1)
        assert await life.turns(group.id) == ["@keepmind_bot hi"]


async def moved_in(life: Life, chat: Chat) -> None:
    """Wait until the memory of a group has moved to a supergroup."""
    async with asyncio.timeout(5):
        while not await life.turns(chat.id):  # noqa: ASYNC110 -- the store rings no bell
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("notices", [["to", "from"], ["from", "to"], ["from"], ["to"]], ids=" ".join)
async def test_c09_a_group_that_becomes_a_supergroup_keeps_its_memory(
    server: TelegramServer, ann: User, notices: Sequence[str]
) -> None:
    group = server.group("Family", [ann])
    async with living(server, allowed=[f"telegram:{group.id}"]) as life:
        server.say(ann, group, "@keepmind_bot one")
        await server.reply(group)
        upgraded = server.migrate(group, ann, notices)
        await moved_in(life, upgraded)
        server.say(ann, upgraded, "@keepmind_bot two")
        await server.reply(upgraded)
        assert await life.turns(upgraded.id) == ["@keepmind_bot one", "@keepmind_bot two"]
        assert await life.turns(group.id) == []
        assert "one" in str(life.llm.of("answer")[-1].messages)


async def test_c09_an_answer_on_its_way_follows_the_group(server: TelegramServer, ann: User) -> None:
    group = server.group("Family", [ann])
    async with living(server, llm=(llm := held("Hello"))) as life:
        server.say(ann, group, "@keepmind_bot hi")
        await server.reply(group)
        server.api.updates.hold()
        upgraded = server.migrate(group, ann)
        go_on(llm)
        assert (await server.reply(upgraded, where=lambda m: m.text == "Hello")).text == "Hello"
        await moved_in(life, upgraded)
        server.api.updates.release()
        await server.quiet(0.1)
        assert await life.turns(upgraded.id) == ["@keepmind_bot hi"]
        assert len([m for m in upgraded.from_bot if m.text == "Hello"]) == 1


async def test_the_mode_of_a_group_stays_when_it_becomes_a_supergroup_also_after_a_restart(
    server: TelegramServer, ann: User
) -> None:
    group, store = server.group("Family", [ann]), InMemoryStore()
    modes = {str(group.id): OPEN}
    async with living(server, store=store, groups=Groups(modes=modes)) as life:
        server.say(ann, group, "one")
        await server.reply(group)
        upgraded = server.migrate(group, ann)
        await moved_in(life, upgraded)
        said = server.say(ann, upgraded, "two")
        assert (await server.reply(upgraded, after=said)).text.endswith("two")
    async with living(server, store=store, groups=Groups(modes=modes)):
        said = server.say(ann, upgraded, "three")
        assert (await server.reply(upgraded, after=said)).text.endswith("three")
    async with living(server, store=store, groups=Groups(modes={**modes, str(upgraded.id): OFF})):
        server.say(ann, upgraded, "four")
        said = server.say(ann, ann, "five")
        await server.reply(ann, after=said)
        assert not [one for one in upgraded.from_bot if "four" in one.text]


async def test_the_bot_says_what_it_keeps_when_it_joins_a_group(server: TelegramServer, ann: User) -> None:
    group = server.supergroup("Club", [ann], bot=False)
    async with living(server, allowed=[f"telegram:{ann.id}"]):
        server.add_bot(group, ann)
        said = await server.reply(group)
        assert JOINED_MENTION in said.text
        assert "/memory off" in said.text
        server.api.updates.repeat(server.api.updates.log[0])
        other = server.supergroup("Strangers", [server.person("Eve")], bot=False)
        server.add_bot(other, server.person("Mallory"))
        await server.quiet(0.1)
        assert len(group.from_bot) == 1
        assert not other.from_bot


async def test_a_bug_with_one_update_stops_nothing(server: TelegramServer, ann: User) -> None:
    async def transcribe(name: str, media_type: str, data: bytes) -> str:
        raise ZeroDivisionError

    async with living(server, transcribe=transcribe) as life:
        server.voice(ann, ann, b"ogg")
        server.say(ann, ann, "hi")
        assert (await server.reply(ann)).text == "You said: hi"
        assert not life.running.done()


async def test_an_outage_of_telegram_loses_nothing(
    server: TelegramServer, ann: User, caplog: pytest.LogCaptureFixture
) -> None:
    async with living(server):
        await server.stop()
        server.say(ann, ann, "hi")
        await until(lambda: "can't be reached" in caplog.text)
        await server.start()
        assert (await server.reply(ann)).text == "You said: hi"


async def test_a_stop_is_prompt_and_acknowledges(server: TelegramServer, ann: User) -> None:
    async with living(server):
        server.say(ann, ann, "hi")
        await server.reply(ann)
        started = time.monotonic()
    assert time.monotonic() - started < 2
    assert not server.api.updates.pending


async def test_stop_ends_the_turn_in_progress(server: TelegramServer, ann: User) -> None:
    async with living(server, llm=(llm := held("A long story"))) as life:
        server.say(ann, ann, "tell me")
        await until(lambda: llm.requests)
        server.say(ann, ann, "/stop")
        assert "Stopped" in (await server.reply(ann)).text
        llm.gate, llm.answer = None, lambda _: Completion("Hello")
        said = server.say(ann, ann, "hi")
        assert (await server.reply(ann, after=said)).text == "Hello"
        assert await life.turns(ann.id) == ["tell me", "hi"]
