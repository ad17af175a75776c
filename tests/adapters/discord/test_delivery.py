"""How answers reach people on Discord, whatever goes wrong on the way (cases A, C and D)."""

from __future__ import annotations

import asyncio
from typing import Literal

import pytest

from adapters.discord.server import DiscordServer, Limits, Message
from adapters.discord.server.world import SUPPRESS_EMBEDS
from core.bot import Bot
from core.commands.command import Context, command
from core.llm import Completion, Request
from core.messages import Attachment, Reply
from core.sentences import BLANK
from tests.adapters.discord.life import Club, answered, called, go_on, held, living, saying, texts, until
from tests.fakes import FakeClock, ScriptedLLM


async def answers(server: DiscordServer, text: str, longest_code: int = 0) -> list[str]:
    """Let the bot answer with a text after a preview; give the texts that are seen in the end."""
    ann = server.person("Ann")
    channel = server.private(ann)
    async with living(server, llm=(llm := held(text)), pace=0.0, longest_code=longest_code) as life:
        server.say(ann, ann, "go")
        await until(lambda: llm.requests and (channel.from_bot or not text.strip()))
        go_on(llm)
        await until(lambda: life.engine.shared.deliveries["discord"].counts.sent)
        await life.engine.idle()
    assert not [call for call in server.calls if call.status >= 400]
    return texts(channel)


def letters(shown: list[str]) -> str:
    return "".join("".join(shown).split())


async def test_a07_a_long_answer_is_sent_in_order_and_whole(server: DiscordServer) -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "word " * 60 for number in range(40)).strip()
    shown = await answers(server, text)
    assert len(shown) > 5
    assert all(len(one) <= 2000 for one in shown)
    assert letters(shown) == letters([text])


async def test_a02_emoji_count_as_discord_counts(server: DiscordServer) -> None:
    assert await answers(server, "😀" * 2000) == ["😀" * 2000]
    assert [len(one) for one in await answers(server, "😀" * 2001)] == [2000, 1]


async def test_a06_a_link_is_never_cut(server: DiscordServer) -> None:
    link = f"[the page](https://x.example/{'a' * 300})"
    shown = await answers(server, "\n".join(["word " * 200 + link] * 8))
    assert sum(one.count(link) for one in shown) == 8


async def test_a08_long_code_is_code_in_every_part(server: DiscordServer) -> None:
    code = "\n".join(f"print({number})  # {'x' * 40}" for number in range(200))
    shown = await answers(server, f"Look:\n\n```py\n{code}\n```\n\nDone.")
    assert all(one.count("```") % 2 == 0 for one in shown)
    assert all("```py\n" in one for one in shown if "print(" in one)
    lines = [line for one in shown for line in one.splitlines() if line.startswith("print(")]
    assert lines == code.splitlines()


async def test_long_code_may_come_as_a_file(server: DiscordServer) -> None:
    code = "\n".join(f"print({number})" for number in range(400))
    ann = server.person("Ann")
    async with living(server, llm=ScriptedLLM(saying(f"Look:\n```python\n{code}\n```\nDone.")), longest_code=1000):
        said = server.say(ann, ann, "go")
        await server.reply(ann, after=said, where=lambda one: one.text == "Done.")
    shown = server.private(ann).from_bot
    assert [message.text for message in shown] == ["Look:", "", "Done."]
    assert [(file.name, file.data.decode()) for file in shown[1].files] == [("code.py", code + "\n")]


@command
async def code(context: Context) -> str:
    """Give much code."""
    return "Look:\n```python\n" + "x = 1\n" * 900 + "```\nDone."


async def test_long_code_of_a_command_may_come_as_a_file_too(server: DiscordServer, club: Club) -> None:
    async with living(server, bot=Bot(commands=[code]), longest_code=1000):
        server.use(club.ann, club.general, "code")
        await server.reply(club.general, where=lambda one: one.text == "Done.")
    assert texts(club.general) == ["Look:", "", "Done."]
    assert [file.data.decode() for file in club.general.from_bot[1].files] == ["x = 1\n" * 900]


async def test_an_answer_of_nothing_but_long_code_takes_the_place_of_its_preview(server: DiscordServer) -> None:
    code = "\n".join(f"let a{number} = 1;" for number in range(400))
    assert await answers(server, f"```rust\n{code}\n```", longest_code=1000) == [""]


@pytest.mark.parametrize("text", ["", "   ", "\n"])
async def test_a11_a_blank_answer_is_one_sentence(server: DiscordServer, text: str) -> None:
    assert await answers(server, text) == [BLANK]


async def test_a15_a_long_preview_ends_as_the_whole_answer(server: DiscordServer) -> None:
    text = "word " * 1200
    assert " ".join(await answers(server, text)).split() == text.split()


async def test_what_discord_refuses_in_a_text_is_replaced(server: DiscordServer) -> None:
    assert await answers(server, "a\x00b \ud800 c") == ["a b � c"]


async def test_the_answer_grows_in_its_message(server: DiscordServer, club: Club) -> None:
    async with living(server, llm=(llm := held("Once upon a time")), pace=0.0):
        said = server.say(club.ann, club.general, called(server, "a story"))
        answer = await answered(server, said)
        go_on(llm)
        await server.wait_for(lambda: answer.text == "Once upon a time")
        assert answer.versions == ["Once upo", "Once upon a time"]
        assert len(club.general.from_bot) == 1
        assert club.general in {channel for channel, _ in server.api.world.typing}
        assert answer.flags & SUPPRESS_EMBEDS


async def test_c19_a_long_stream_stays_below_the_limits(club: Club) -> None:
    """Ten times as fast as Discord and the bot are, so that it takes a tenth of the time."""
    faster = Limits({"create_message": (5, 0.5), "edit_message": (5, 0.5), "typing": (5, 0.5)})
    async with DiscordServer(limits=faster) as server:
        ann = server.person("Ann")
        async with living(server, llm=Chatty(), pace=0.12):
            said = server.say(ann, ann, "go on")
            await server.reply(ann, after=said, where=lambda one: "149" in one.text, timeout=10)
        assert not [call for call in server.calls if call.status == 429]
        assert server.journal.counts["edit_message"] >= 5


class Chatty(ScriptedLLM):
    """A model that says a word every hundredth of a second."""

    async def complete(self, request: Request, on_text: object = None) -> Completion:
        self.requests.append(request)
        text = ""
        for number in range(150):
            text += f"{number} "
            await asyncio.sleep(0.01)
            if callable(on_text):
                await on_text(text)
        return Completion(text)


async def test_c01_a_flooded_channel_is_left_alone_as_long_as_it_says() -> None:
    clock = FakeClock()
    async with DiscordServer(clock=lambda: clock.now().timestamp()) as server:
        ann = server.person("Ann")
        channel = server.private(ann)
        async with living(server, clock=clock, llm=(llm := held("Once upon a time")), pace=0.0):
            server.fail("edit_message", 429, retry_after=33)
            server.say(ann, ann, "a story")
            await server.reply(ann)
            go_on(llm)
            await server.wait_for(lambda: texts(channel) == ["Once upon a time"])
        refused, *later = server.journal.of("edit_message")
        assert later
        assert all(call.at >= refused.at + 33 for call in later)


async def test_a_short_wait_is_waited_and_nothing_is_lost(server: DiscordServer) -> None:
    ann = server.person("Ann")
    async with living(server, llm=ScriptedLLM(saying("Hello"))):
        server.fail("create_message", 429, retry_after=0.2)
        assert (await answered(server, server.say(ann, ann, "hi"))).text == "Hello"
    refused, taken = server.journal.of("create_message")
    assert taken.at - refused.at >= 0.2


async def test_c17_after_a_wait_only_the_refused_part_comes_again() -> None:
    clock = FakeClock()
    text = "\n\n".join(letter * 1500 for letter in "abc")
    async with DiscordServer(clock=lambda: clock.now().timestamp()) as server:
        ann = server.person("Ann")
        async with living(server, clock=clock, llm=ScriptedLLM(saying(text))):
            server.fail("create_message", 429, retry_after=40, skip=1)
            server.say(ann, ann, "go")
            await server.wait_for(lambda: len(server.private(ann).from_bot) == 3)
        assert [message.text[0] for message in server.private(ann).from_bot] == ["a", "b", "c"]


async def test_c16_the_rest_goes_on_after_a_refused_part(server: DiscordServer) -> None:
    text = "\n\n".join(letter * 1500 for letter in "abc")
    ann = server.person("Ann")
    async with living(server, llm=ScriptedLLM(saying(text))) as life:
        server.fail("create_message", 400, 50035, "Invalid Form Body", skip=1)
        server.say(ann, ann, "go")
        await server.wait_for(lambda: len(server.private(ann).from_bot) == 2)
        assert [message.text[0] for message in server.private(ann).from_bot] == ["a", "c"]
        assert life.engine.shared.deliveries["discord"].counts.refused == 1


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_message_without_a_reply_is_sent_again_and_seen_once(
    server: DiscordServer, when: Literal["before", "after"]
) -> None:
    ann = server.person("Ann")
    async with living(server, llm=ScriptedLLM(saying("Hello"))) as life:
        server.drop("create_message", when)
        assert (await answered(server, server.say(ann, ann, "hi"))).text == "Hello"
        await until(lambda: life.engine.shared.deliveries["discord"].counts.sent)
    assert texts(server.private(ann)) == ["Hello"]
    first, second = server.journal.of("create_message")
    assert first.body["nonce"] == second.body["nonce"]
    assert second.body["enforce_nonce"]


@pytest.mark.parametrize("status", [500, 503])
async def test_a_server_in_trouble_is_asked_again(server: DiscordServer, status: int) -> None:
    ann = server.person("Ann")
    async with living(server, llm=ScriptedLLM(saying("Hello"))) as life:
        server.fail("create_message", status, when="after")
        await answered(server, server.say(ann, ann, "hi"))
        await until(lambda: life.engine.shared.deliveries["discord"].counts.sent)
    assert texts(server.private(ann)) == ["Hello"]


async def test_what_never_gets_a_reply_is_counted_and_given_up(server: DiscordServer) -> None:
    ann = server.person("Ann")
    async with living(server, llm=ScriptedLLM(saying("Hello")), pause=0.01) as life:
        server.fail("create_message", 503, times=-1)
        server.say(ann, ann, "hi")
        await until(lambda: life.engine.shared.deliveries["discord"].counts.ambiguous)
    assert server.journal.counts["create_message"] == 4


async def test_a_new_bot_repeats_no_nonce_of_an_older_one(server: DiscordServer) -> None:
    ann = server.person("Ann")
    for _ in range(2):
        async with living(server, llm=ScriptedLLM(saying("Hello"))):
            await answered(server, server.say(ann, ann, "hi"))
    assert texts(server.private(ann)) == ["Hello", "Hello"]


class Patient(FakeClock):
    """A clock on which waiting takes until it is told that time has passed."""

    def __init__(self) -> None:
        super().__init__()
        self.passed = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        await self.passed.wait()
        await super().sleep(seconds)


async def test_an_answer_waits_for_the_network() -> None:
    clock = Patient()
    async with DiscordServer(clock=lambda: clock.now().timestamp()) as server:
        ann = server.person("Ann")
        llm = held("Hello")
        async with living(server, clock=clock, llm=llm) as life:
            server.say(ann, ann, "hi")
            await until(lambda: llm.requests)
            await server.stop()
            go_on(llm)
            counts = life.engine.shared.deliveries["discord"].counts
            await until(lambda: counts.waits)
            await server.start()
            clock.passed.set()
            assert (await server.reply(ann)).text == "Hello"
    assert texts(server.private(ann)) == ["Hello"]


async def test_c11_a_deleted_question_is_answered_without_the_reference(server: DiscordServer, club: Club) -> None:
    asked: list[Message] = []

    def answer(_: Request) -> Completion:
        club.general.by_id.pop(asked[0].id)
        return Completion("Here you are")

    async with living(server, llm=ScriptedLLM(answer)):
        asked.append(server.say(club.ann, club.general, called(server, "help")))
        shown = await server.reply(club.general, after=asked[0])
        assert (shown.text, shown.reply_to) == ("Here you are", None)


async def test_where_it_may_not_reply_it_answers_all_the_same(server: DiscordServer, club: Club) -> None:
    server.deny(club.general, "read_message_history")
    async with living(server, llm=ScriptedLLM(saying("Hello"))):
        said = server.say(club.ann, club.general, called(server, "hi"))
        shown = await server.reply(club.general, after=said)
        assert (shown.text, shown.reply_to) == ("Hello", None)


async def test_a_preview_that_somebody_deleted_is_sent_anew(server: DiscordServer) -> None:
    ann = server.person("Ann")
    async with living(server, llm=(llm := held("Once upon a time")), pace=0.0):
        said = server.say(ann, ann, "a story")
        server.delete(await answered(server, said))
        go_on(llm)
        shown = await server.reply(ann, after=said, where=lambda one: one.text == "Once upon a time")
    assert server.private(ann).from_bot == [shown]


async def test_in_a_thread_archived_meanwhile_the_answer_comes_anew(server: DiscordServer, club: Club) -> None:
    thread = server.thread(club.general, "talk", club.ann)
    async with living(server, llm=(llm := held("Once upon a time")), pace=0.0):
        said = server.say(club.ann, thread, called(server, "a story"))
        await answered(server, said)
        server.archive(thread)
        go_on(llm)
        await server.reply(thread, after=said, where=lambda one: one.text == "Once upon a time")


async def test_c08_where_nothing_can_be_said_any_more_the_delivery_ends(server: DiscordServer, club: Club) -> None:
    llm = held("Hello")
    async with living(server, llm=llm) as life:
        server.say(club.ann, club.general, called(server, "hi"))
        await until(lambda: llm.requests)
        server.deny(club.general, "send_messages")
        go_on(llm)
        await until(lambda: server.journal.of("create_message", status=403))
        await life.engine.idle()
        assert not await life.store.open_turns()
        ann = server.say(club.ann, club.ann, "hi")
        assert (await answered(server, ann)).text == "Hello"
    assert len(server.journal.of("create_message", status=403)) == 1


@command(private=True)
async def secret(context: Context) -> Reply:
    """Tell a secret."""
    await asyncio.sleep(0)
    return Reply("Psst: @everyone", private=True, file=Attachment("file", "it.txt", text="the file"))


@command
async def shout(context: Context) -> str:
    """Shout."""
    await asyncio.sleep(0)
    return "@everyone hear me"


async def test_a_private_reply_to_a_written_command_comes_in_private(server: DiscordServer, club: Club) -> None:
    async with living(server, bot=Bot(commands=[secret])):
        said = server.say(club.ann, club.general, called(server, "/secret"))
        shown = await server.reply(club.ann, after=said)
        assert [file.data for file in shown.files] == [b"the file"]
        assert club.general.from_bot == []


async def test_who_takes_no_direct_messages_is_told_so_in_the_channel(server: DiscordServer, club: Club) -> None:
    server.close_dms(club.ann)
    async with living(server, bot=Bot(commands=[secret])):
        said = server.say(club.ann, club.general, called(server, "/secret"))
        shown = await answered(server, said)
        assert shown.text.startswith("This is for your eyes only")


async def test_d12_nobody_is_pinged_but_who_is_answered(server: DiscordServer, club: Club) -> None:
    server.give(club.guild, server.bot, server.role(club.guild, "Boss", "mention_everyone", "administrator"))
    crew = server.role(club.guild, "Crew", members=[club.bob], open=True)
    text = f"@everyone @here {crew.mention} {club.bob.mention} and more"
    async with living(server, llm=(llm := held(text)), bot=Bot(commands=[shout, secret]), pace=0.0):
        answer = await answered(server, server.say(club.ann, club.general, called(server, "go")))
        go_on(llm)
        await server.wait_for(lambda: answer.text == text)
        await answered(server, server.say(club.ann, club.general, called(server, "/shout")))
        await server.reply(club.ann, after=server.say(club.ann, club.general, called(server, "/secret")))
    everything = [*club.general.from_bot, *server.private(club.ann).from_bot]
    assert len(everything) == 3
    assert not any(message.mention_everyone or message.mention_roles for message in everything)
    assert {user.name for message in everything for user in message.mentions} == {"ann"}
    shown = [call for name in ("create_message", "edit_message") for call in server.journal.of(name)]
    assert {str(call.body["allowed_mentions"]["parse"]) for call in shown} == {"[]"}


async def test_what_is_being_answered_at_the_end_is_still_sent(server: DiscordServer) -> None:
    ann = server.person("Ann")
    async with living(server, llm=(llm := held("Hello"))) as life:
        server.say(ann, ann, "hi")
        await until(lambda: llm.requests)
        life.running.cancel()
        await until(life.running.done)
        go_on(llm)
        assert (await server.reply(ann)).text == "Hello"
