"""How answers reach people on Telegram, whatever goes wrong on the way (cases A, B and C)."""

import asyncio

import pytest

from adapters.inmemory import InMemoryStore
from adapters.telegram.server import Limits, TelegramServer, User
from core.bot import Bot
from core.commands.command import Context, command
from core.llm import Completion, Request
from core.messages import Attachment, ChatKey, Choice, Reply
from core.sentences import BLANK
from core.text.letters import is_blank
from core.text.splitting import utf16_length
from tests.adapters.telegram.life import go_on, held, living, saying, until
from tests.fakes import FakeClock, ScriptedLLM


async def answers(server: TelegramServer, ann: User, text: str) -> list[str]:
    """Let the bot answer with a text after a preview; give the texts that are seen in the end."""
    async with living(server, llm=(llm := held(text))):
        server.say(ann, ann, "go")
        await until(lambda: llm.requests and (server.chat(ann).drafts or is_blank(text)))
        go_on(llm)
        await server.reply(ann)
        await server.quiet(0.1)
    assert not [call for call in server.calls if call.method != "getUpdates" and call.code != 200]
    return [message.text for message in server.chat(ann).from_bot]


async def test_a01_a_long_answer_is_sent_in_order_and_whole(server: TelegramServer, ann: User) -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "word " * 60 for number in range(40)).strip()
    shown = await answers(server, ann, text)
    assert len(shown) > 2
    assert all(utf16_length(one) <= 4096 for one in shown)
    assert "".join("".join(shown).split()) == "".join(text.split())


async def test_a02_emoji_count_as_telegram_counts(server: TelegramServer, ann: User) -> None:
    shown = await answers(server, ann, "😀" * 2049)
    assert "".join(shown) == "😀" * 2049
    assert len(shown) == 2


async def test_a04_length_is_measured_on_what_is_sent(server: TelegramServer, ann: User) -> None:
    assert await answers(server, ann, "!" * 4096) == ["!" * 4096]


async def test_a06_a_link_is_never_cut(server: TelegramServer, ann: User) -> None:
    link = f"[the page](https://x.example/{'a' * 300})"
    text = "\n".join(["word " * 200 + link] * 8)
    await answers(server, ann, text)
    links = [e for m in server.chat(ann).from_bot for e in m.entities if e["type"] == "text_link"]
    assert [one["url"] for one in links] == [f"https://x.example/{'a' * 300}"] * 8


async def test_a08_long_code_is_code_in_every_part(server: TelegramServer, ann: User) -> None:
    code = "\n".join(f"print({number})  # {'x' * 40}" for number in range(200))
    shown = await answers(server, ann, f"Look:\n\n```py\n{code}\n```\n\nDone.")
    found = [(e["type"], e.get("language")) for m in server.chat(ann).from_bot for e in m.entities]
    assert found == [("pre", "py")] * len(shown)
    assert "```" not in "".join(shown)
    assert "\n".join(shown).count("print(") == 200


@pytest.mark.parametrize("text", ["", "   ", "\n", "\u200b \u2060"])
async def test_a11_a_blank_answer_is_one_sentence(server: TelegramServer, ann: User, text: str) -> None:
    assert await answers(server, ann, text) == [BLANK]
    assert not [call for call in server.journal.of("sendMessage") if not call.text.strip()]


async def test_a15_a_long_preview_ends_as_the_whole_answer(server: TelegramServer, ann: User) -> None:
    text = "word " * 1200
    assert " ".join(await answers(server, ann, text)).split() == text.split()


@pytest.mark.parametrize(
    "text",
    [
        "translate ``` this",
        "**bold",
        "see https://x.example/a_b_c_d now",
        "i < len(s) && a > b",
        "<h1>Title</h1> <thinking>",
        "Chat(type=<ChatType.PRIVATE>)",
    ],
)
async def test_b_broken_markdown_arrives(server: TelegramServer, ann: User, text: str) -> None:
    assert await answers(server, ann, text) == [text]


async def test_b01_a_refused_part_is_sent_once_more_plain(server: TelegramServer, ann: User) -> None:
    async with living(server, llm=ScriptedLLM(saying("**bold** words"))):
        server.fail("sendMessage", 400, "Bad Request: can't parse entities: something")
        server.say(ann, ann, "go")
        assert (await server.reply(ann)).text == "**bold** words"
    assert [call.code for call in server.journal.of("sendMessage")] == [400, 200]


async def test_b11_previews_are_plain_and_the_end_is_formatted(server: TelegramServer, ann: User) -> None:
    await answers(server, ann, "**Once** upon a time")
    assert [call.arguments.json("entities") for call in server.journal.of("sendMessageDraft")] == [None] * len(
        server.chat(ann).drafts
    )
    assert server.chat(ann).drafts
    assert server.chat(ann).from_bot[0].entities[0]["type"] == "bold"


async def test_private_answers_stream_as_drafts_and_are_sent_once(server: TelegramServer, ann: User) -> None:
    assert await answers(server, ann, "Once upon a time") == ["Once upon a time"]
    assert server.chat(ann).drafts[0].text == "Once upo"
    assert server.journal.counts["sendMessage"] == 1
    assert server.journal.counts["editMessageText"] == 0


async def test_without_drafts_the_preview_is_a_message_that_grows(server: TelegramServer, ann: User) -> None:
    server.fail("sendMessageDraft", 404, "Not Found: method not found", times=-1)
    async with living(server, llm=(llm := held("Once upon a time"))):
        said = server.say(ann, ann, "go")
        answer = await server.reply(ann)
        go_on(llm)
        await server.wait_for(lambda: answer.versions == ["Once upo", "Once upon a time"])
        said = server.say(ann, ann, "go")
        await server.reply(ann, after=said)
    assert server.journal.counts["sendMessageDraft"] == 1, "it is not asked for again"


async def test_in_a_group_the_answer_replies_and_grows(server: TelegramServer, ann: User) -> None:
    group = server.supergroup("Club", [ann])
    async with living(server, llm=(llm := held("**Once** upon a time"))):
        said = server.say(ann, group, "@keepmind_bot a story")
        await server.reply(group)
        go_on(llm)
        answer = await server.reply(group, where=lambda m: bool(m.entities))
        assert (answer.text, answer.reply_to) == ("Once upon a time", said.id)
        assert answer.versions[0] == "**Once** u"
        assert len(group.from_bot) == 1


async def test_c01_a_flooded_group_is_left_alone_as_long_as_it_says(ann: User) -> None:
    clock = FakeClock()
    async with TelegramServer(clock=lambda: clock.now().timestamp()) as server:
        ann = server.person("Ann")
        group = server.supergroup("Club", [ann])
        async with living(server, clock=clock, llm=(llm := held("Once upon a time"))):
            server.fail("editMessageText", 429, retry_after=33)
            server.say(ann, group, "@keepmind_bot a story")
            await server.reply(group)
            go_on(llm)
            await server.wait_for(lambda: any(m.text == "Once upon a time" for m in group.from_bot))
        refused, *later = server.journal.of("editMessageText")
        assert later
        assert all(call.at >= refused.at + 33 for call in later)
        assert [message.text for message in group.from_bot] == ["Once upon a time"]


async def test_c06_an_unchanged_end_is_a_success(server: TelegramServer, ann: User) -> None:
    group = server.supergroup("Club", [ann])
    async with living(server, llm=(llm := held("Yes."))):
        server.fail("editMessageText", 400, "Bad Request: message is not modified: specified new message", times=-1)
        server.say(ann, group, "@keepmind_bot ready?")
        await server.reply(group)
        go_on(llm)
        await until(lambda: server.journal.counts["editMessageText"])
        await server.quiet(0.1)
    assert len(group.from_bot) == 1


async def test_c08_one_who_blocked_the_bot_costs_the_others_nothing(server: TelegramServer, ann: User) -> None:
    bob = server.person("Bob")
    llm = held("Hello")
    async with living(server, llm=llm):
        server.say(ann, ann, "hi")
        await server.wait_for(lambda: server.chat(ann).drafts)
        server.block(ann)
        go_on(llm)
        await until(lambda: server.journal.of("sendMessage", code=403))
        server.say(bob, bob, "hi")
        await server.reply(bob)
        server.unblock(ann)
        said = server.say(ann, ann, "again")
        assert (await server.reply(ann, after=said)).text == "Hello"
    assert len(server.journal.of("sendMessage", code=403)) == 1


async def test_c11_a_deleted_question_is_answered_without_the_link(server: TelegramServer, ann: User) -> None:
    group = server.supergroup("Club", [ann])

    def answer(_: Request) -> Completion:
        server.delete(group.messages[-1])
        return Completion("Here you are")

    async with living(server, llm=ScriptedLLM(answer)):
        server.say(ann, group, "@keepmind_bot help")
        shown = await server.reply(group, where=lambda m: m.text == "Here you are")
        assert shown.reply_to is None


async def test_c13_a_reply_in_general_is_answered_in_general(server: TelegramServer, ann: User) -> None:
    forum = server.supergroup("Club", [ann], forum=True)
    async with living(server):
        first = server.say(ann, forum, "@keepmind_bot hi")
        answer = await server.reply(forum)
        said = server.say(ann, forum, "why?", reply_to=answer)
        answer = await server.reply(forum, after=said)
        assert answer.topic is None
    assert not [call for call in server.calls if call.code == 400]
    assert first.topic is None


async def test_c14_a_topic_is_its_own_talk(server: TelegramServer, ann: User) -> None:
    forum = server.supergroup("Club", [ann], forum=True)
    topic, other = server.topic(forum, "Books", ann), server.topic(forum, "Films", ann)
    async with living(server) as life:
        said = server.say(ann, forum, "@keepmind_bot in books", topic=topic)
        assert (await server.reply(forum, after=said)).topic == topic
        said = server.say(ann, forum, "@keepmind_bot in films", topic=other)
        assert (await server.reply(forum, after=said)).topic == other
        await server.quiet(0.1)
        assert await life.turns(forum.id, topic) == ["@keepmind_bot in books"]
        assert {action[2] for action in server.api.world.actions} <= {topic, other}


async def test_a_topic_that_is_gone_ends_the_delivery(server: TelegramServer, ann: User) -> None:
    forum = server.supergroup("Club", [ann], forum=True)
    topic = server.topic(forum, "Books", ann)
    llm = held("Hello")
    async with living(server, llm=llm) as life:
        server.say(ann, forum, "@keepmind_bot hi", topic=topic)
        await until(lambda: llm.requests)
        await server.quiet(0.1)
        server.delete_topic(forum, topic)
        go_on(llm)
        await until(lambda: server.journal.of("sendMessage", code=400))
        await server.quiet(0.1)
        assert not [message for message in forum.from_bot if message.text == "Hello"]
        assert not await life.store.open_turns()


async def test_c16_the_rest_goes_on_after_a_refused_part(server: TelegramServer, ann: User) -> None:
    text = "\n\n".join(letter * 3000 for letter in "abc")
    async with living(server, llm=ScriptedLLM(saying(text))) as life:
        server.fail("sendMessage", 400, "Bad Request: strange", skip=1)
        server.say(ann, ann, "go")
        await server.wait_for(lambda: len(server.chat(ann).from_bot) == 2)
        await server.quiet(0.1)
        assert [message.text[0] for message in server.chat(ann).from_bot] == ["a", "c"]
        assert life.engine.shared.deliveries["telegram"].counts.refused == 1


async def test_c17_after_a_wait_only_the_refused_part_comes_again(ann: User) -> None:
    clock = FakeClock()
    text = "\n\n".join(letter * 3000 for letter in "abc")
    async with TelegramServer(clock=lambda: clock.now().timestamp()) as server:
        ann = server.person("Ann")
        async with living(server, clock=clock, llm=ScriptedLLM(saying(text))):
            server.fail("sendMessage", 429, retry_after=9, skip=1)
            server.say(ann, ann, "go")
            await server.wait_for(lambda: len(server.chat(ann).from_bot) == 3)
        assert [message.text[0] for message in server.chat(ann).from_bot] == ["a", "b", "c"]


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_send_nobody_can_tell_of_is_not_repeated_but_counted(
    server: TelegramServer, ann: User, when: str
) -> None:
    async with living(server, llm=ScriptedLLM(saying("Hello"))) as life:
        server.drop("sendMessage", when)  # type: ignore[arg-type]
        server.say(ann, ann, "hi")
        await until(lambda: life.engine.shared.deliveries["telegram"].counts.ambiguous)
        await server.quiet(0.1)
    assert len(server.chat(ann).from_bot) == (when == "after")
    assert server.journal.counts["sendMessage"] == 1


async def test_an_answer_waits_for_the_network(ann: User) -> None:
    clock = FakeClock()
    async with TelegramServer(clock=lambda: clock.now().timestamp()) as server:
        ann = server.person("Ann")
        llm = held("Hello")
        async with living(server, clock=clock, llm=llm) as life:
            server.say(ann, ann, "hi")
            await server.wait_for(lambda: server.chat(ann).drafts)
            await server.stop()
            go_on(llm)
            counts = life.engine.shared.deliveries["telegram"].counts
            await until(lambda: counts.waits)
            await server.start()
            assert (await server.reply(ann)).text == "Hello"
            await server.quiet(0.1)
            assert len(server.chat(ann).from_bot) == 1


async def test_c19_minutes_of_streaming_stays_below_the_limits() -> None:
    clock = FakeClock()

    async with TelegramServer(limits=Limits(), clock=lambda: clock.now().timestamp()) as server:
        ann = server.person("Ann")
        group = server.supergroup("Club", [ann])
        llm = Chatty(clock)
        now = lambda: clock.now().timestamp()  # noqa: E731
        async with living(server, clock=clock, llm=llm, private_pace=1.0, group_pace=4.0, now=now):
            for _ in range(3):
                said = server.say(ann, group, "@keepmind_bot go on")
                await server.reply(group, after=said, where=lambda m: "119" in m.text, timeout=10)
                await clock.sleep(5)
        assert not [call for call in server.calls if call.code == 429]
        assert server.journal.counts["editMessageText"] > 60


class Chatty(ScriptedLLM):
    """A model that says a word a second for two minutes."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self.clock = clock

    async def complete(self, request: Request, on_text: object = None) -> Completion:
        self.requests.append(request)
        text = ""
        for number in range(120):
            text += f"{number} "
            await self.clock.sleep(1)
            await asyncio.sleep(0.005)
            if callable(on_text):
                await on_text(text)
        return Completion(text)


@command(private=True)
async def secret(context: Context) -> Reply:
    """Tell something in private."""
    return Reply("Only for you", (Choice("Sure", "/secret"), Choice("Long", "/secret " + "x" * 64)), private=True)


@command
async def paper(context: Context, words: str = "Here") -> Reply:
    """Give a file."""
    return Reply(words, file=Attachment("file", "a.json", "application/json", data=b"{}"))


async def test_a_private_reply_in_a_group_goes_to_the_private_chat(server: TelegramServer, ann: User) -> None:
    group = server.supergroup("Club", [ann])
    async with living(server, bot=Bot(commands=[secret])):
        server.say(ann, group, "/secret")
        answer = await server.reply(ann)
        assert answer.text == "Only for you"
        assert [button["text"] for button in answer.buttons] == ["Sure", "Long"]
        assert not group.from_bot


async def test_one_who_has_not_started_the_bot_gets_a_link(server: TelegramServer) -> None:
    shy = server.person("Shy", started=False)
    group = server.supergroup("Club", [shy])
    async with living(server, bot=Bot(commands=[secret])):
        server.say(shy, group, "/secret")
        [button] = (await server.reply(group)).buttons
        assert button["url"].startswith("https://t.me/keepmind_bot?start=")
        assert not server.chat(shy).messages


async def test_a_button_runs_its_command_even_after_a_restart(server: TelegramServer, ann: User) -> None:
    store = InMemoryStore()
    async with living(server, bot=Bot(commands=[secret]), store=store):
        server.say(ann, ann, "/secret")
        shown = await server.reply(ann)
    async with living(server, bot=Bot(commands=[secret]), store=store):
        query = server.press(ann, shown, "Sure")
        await server.answered(query)
        assert (await server.reply(ann, after=shown)).text == "Only for you"


@pytest.mark.parametrize("label", ["Where", "Long"])
async def test_a_button_of_a_private_reply_speaks_to_the_group_it_came_from(
    server: TelegramServer, ann: User, label: str
) -> None:
    @command(private=True)
    async def where(context: Context, more: str = "") -> Reply:
        """Tell where."""
        return Reply(f"{context.scope} {more}", (Choice("Where", "/where"), Choice("Long", "/where " + "x" * 64)))

    group, store = server.supergroup("Club", [ann]), InMemoryStore()
    async with living(server, bot=Bot(commands=[where]), store=store):
        server.say(ann, group, "/where@keepmind_bot")
        shown = await server.reply(ann)
        assert shown.text.strip() == f"telegram:{group.id}"
    async with living(server, bot=Bot(commands=[where]), store=store):
        await server.answered(server.press(ann, shown, label))
        assert (await server.reply(ann, after=shown)).text.startswith(f"telegram:{group.id}")
        assert not group.from_bot


async def test_a_button_pressed_by_another_does_nothing(server: TelegramServer, ann: User) -> None:
    bob = server.person("Bob")
    async with living(server, bot=Bot(commands=[secret])) as life:
        server.say(ann, ann, "/secret")
        shown = await server.reply(ann)
        await server.answered(server.press(bob, shown, "Sure"))
        await server.answered(server.press_data(ann, shown, "nonsense"))
        await server.quiet(0.1)
        assert len(server.chat(ann).from_bot) == 1
        assert not server.chat(bob).from_bot
        assert not life.running.done()


async def test_a_groups_buttons_are_the_askers(server: TelegramServer, ann: User) -> None:
    @command
    async def ask(context: Context) -> Reply:
        """Ask."""
        return Reply("Sure?", (Choice("Yes", "/said yes"),))

    @command
    async def said(context: Context, what: str) -> str:
        """Say."""
        return f"{context.person.user} said {what}"

    bob = server.person("Bob")
    group = server.supergroup("Club", [ann, bob])
    async with living(server, bot=Bot(commands=[ask, said])):
        server.say(ann, group, "/ask@keepmind_bot")
        shown = await server.reply(group)
        await server.answered(server.press(bob, shown, "Yes"))
        await server.answered(server.press(ann, shown, "Yes"))
        assert (await server.reply(group, after=shown)).text == f"{ann.id} said yes"
        await server.quiet(0.1)
        assert len(group.from_bot) == 2


async def test_files_are_documents(server: TelegramServer, ann: User) -> None:
    async with living(server, bot=Bot(commands=[paper])):
        server.say(ann, ann, "/paper **Here**")
        answer = await server.reply(ann)
        assert (answer.text, answer.data["document"]["file_name"]) == ("Here", "a.json")
        said = server.say(ann, ann, "/paper " + "long " * 300)
        await server.reply(ann, after=said, where=lambda m: "document" in m.data)
        assert len(server.chat(ann).from_bot) == 3, "a text too long for a caption goes before its file"


async def test_a_restart_goes_on_where_the_answer_stopped(server: TelegramServer, ann: User) -> None:
    store, group = InMemoryStore(), server.supergroup("Club", [ann])
    llm = held("Once upon a time")
    async with living(server, store=store, llm=llm) as life:
        server.say(ann, group, "@keepmind_bot a story")
        await server.wait_for(lambda: group.from_bot)
        await server.quiet(0.1)
        [turn] = await store.open_turns()
        assert turn.preview == str(group.from_bot[0].id)
        for lane in life.engine._lanes._lanes.values():  # as a killed process would
            assert lane.worker
            lane.worker.cancel()
    async with living(server, store=store, llm=ScriptedLLM(saying("The end"))):
        await server.wait_for(lambda: group.from_bot[0].text == "The end")
        await server.quiet(0.1)
    assert len(group.from_bot) == 1
    assert await store.turn(turn.id)
    assert turn.chat == ChatKey("telegram", str(group.id))
