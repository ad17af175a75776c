"""The test server, as a real python-telegram-bot sees it over sockets."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from telegram import (
    Bot,
    BotCommand,
    BotCommandScopeAllPrivateChats,
    BotCommandScopeChat,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    MessageEntity,
    ReplyParameters,
    Update,
)
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TimedOut,
)
from telegram.ext import Application, ApplicationBuilder, CallbackQueryHandler, ContextTypes, MessageHandler, filters
from telegram.request import HTTPXRequest

from adapters.telegram.server import TOKEN, Fault, Limits, Refusal, TelegramServer, User
from adapters.telegram.server.markup import parse
from tests.adapters.telegram.life import until

App = Application[Any, Any, Any, Any, Any, Any]
SECRET = "a-secret"


@pytest.fixture(autouse=True)
def time_limits_are_timedeltas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTB_TIMEDELTA", "true")  # else the library warns at each RetryAfter


@pytest.fixture
async def server() -> AsyncIterator[TelegramServer]:
    async with TelegramServer() as server:
        yield server


@pytest.fixture
def ann(server: TelegramServer) -> User:
    return server.person("Ann", username="ann")


def quick() -> HTTPXRequest:
    """Make what speaks HTTP without loading certificates, which takes long."""
    return HTTPXRequest(httpx_kwargs={"verify": False})


@asynccontextmanager
async def bot_of(server: TelegramServer, token: str = TOKEN) -> AsyncIterator[Bot]:
    bot = Bot(token, server.base_url, server.base_file_url, quick(), quick())
    async with bot:
        yield bot


@pytest.fixture
async def bot(server: TelegramServer) -> AsyncIterator[Bot]:
    async with bot_of(server) as bot:
        yield bot


async def echo(update: Update, _: ContextTypes.DEFAULT_TYPE) -> None:
    message = update.effective_message
    if message and message.text and update.effective_user:
        topic = message.message_thread_id if message.is_topic_message else None
        await message.get_bot().send_message(message.chat_id, f"echo {message.text}", message_thread_id=topic)


async def answer(update: Update, _: ContextTypes.DEFAULT_TYPE) -> None:
    if update.callback_query:
        await update.callback_query.answer(f"got {update.callback_query.data}")


@asynccontextmanager
async def application(server: TelegramServer) -> AsyncIterator[App]:
    app = (
        ApplicationBuilder()
        .token(server.token)
        .base_url(server.base_url)
        .base_file_url(server.base_file_url)
        .request(quick())
        .get_updates_request(quick())
        .concurrent_updates(True)
        .build()
    )
    app.add_handler(MessageHandler(filters.TEXT & filters.UpdateType.MESSAGE, echo))
    app.add_handler(CallbackQueryHandler(answer))
    async with app:
        await app.start()
        yield app
        assert app.updater
        if app.updater.running:
            await app.updater.stop()
        await app.stop()


@asynccontextmanager
async def polling(server: TelegramServer) -> AsyncIterator[App]:
    async with application(server) as app:
        assert app.updater
        await app.updater.start_polling(poll_interval=0, timeout=5, allowed_updates=Update.ALL_TYPES)
        yield app


def all_as_python_telegram_bot_reads_them(server: TelegramServer) -> list[Update]:
    """Read every update; what the library does not know would land in api_kwargs."""
    updates = [Update.de_json(update) for update in server.api.updates.log]
    for update in updates:
        message = update.effective_message
        assert not update.api_kwargs
        assert message is None or not message.api_kwargs
    return updates


async def test_a_bot_that_polls_answers(server: TelegramServer, ann: User) -> None:
    async with polling(server):
        server.say(ann, ann, "hi")
        assert (await server.reply(ann)).text == "echo hi"
        forum = server.supergroup("Club", [ann], forum=True)
        topic = server.topic(forum, "Books", ann)
        server.say(ann, forum, "in a topic", topic=topic)
        assert (await server.reply(forum)).topic == topic
    await server.wait_for(lambda: True)
    assert server.journal.counts["sendMessage"] == 2


async def test_what_was_said_before_the_start_is_answered(server: TelegramServer, ann: User) -> None:
    said = server.say(ann, ann, "hi")
    async with polling(server):
        assert (await server.reply(ann, after=said)).text == "echo hi"


async def test_an_update_comes_until_it_is_acknowledged(server: TelegramServer, ann: User, bot: Bot) -> None:
    for text in ("a", "b", "c"):
        server.say(ann, ann, text)
    first = await bot.get_updates(limit=2)
    assert [update.update_id for update in first] == [update.update_id for update in await bot.get_updates(limit=2)]
    rest = await bot.get_updates(offset=first[1].update_id + 1)
    assert [update.message and update.message.text for update in rest] == ["c"]
    assert await bot.get_updates(offset=-1) == rest
    assert await bot.get_updates(offset=rest[0].update_id + 1) == ()


async def test_only_kinds_asked_for_come(server: TelegramServer, ann: User, bot: Bot) -> None:
    await bot.get_updates(allowed_updates=["callback_query"])
    server.say(ann, ann, "hi")
    assert await bot.get_updates() == ()
    await bot.get_updates(allowed_updates=[])
    server.say(ann, ann, "hi")
    assert len(await bot.get_updates()) == 1


async def test_a_second_poller_ends_the_first(server: TelegramServer, bot: Bot) -> None:
    first = asyncio.create_task(bot.get_updates(timeout=5))
    await until(lambda: server.api.updates.polls)
    async with bot_of(server) as other:
        await other.get_updates(timeout=0)
    with pytest.raises(Conflict, match="terminated by other getUpdates request"):
        await first


async def test_updates_can_be_repeated_and_reordered(server: TelegramServer, ann: User, bot: Bot) -> None:
    server.api.updates.hold()
    for text in ("a", "b"):
        server.say(ann, ann, text)
    server.api.updates.release(reversed)
    updates = await bot.get_updates()
    assert [update.message and update.message.text for update in updates] == ["b", "a"]
    assert updates[0].update_id < updates[1].update_id
    await bot.get_updates(offset=updates[1].update_id + 1)
    server.api.updates.repeat(server.api.updates.log[0])
    assert len(await bot.get_updates(offset=updates[1].update_id + 1)) == 1


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_a_bot_with_a_webhook_answers(server: TelegramServer, ann: User) -> None:
    hits: list[tuple[str, int]] = []

    async def receive(request: web.Request) -> web.Response:
        update = await request.json()
        hits.append((request.headers.get("X-Telegram-Bot-Api-Secret-Token", ""), update["update_id"]))
        if len(hits) == 1:
            return web.Response(status=500)
        await app.update_queue.put(Update.de_json(update, app.bot))
        return web.Response()

    hook = web.Application()
    hook.router.add_post("/hook", receive)
    runner = web.AppRunner(hook)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    async with application(server) as app:
        await app.bot.set_webhook(f"http://127.0.0.1:{port}/hook", secret_token=SECRET)
        server.say(ann, ann, "hi")
        assert (await server.reply(ann)).text == "echo hi"
        info = await app.bot.get_webhook_info()
        assert info.pending_update_count == 0
        assert info.last_error_message == "Wrong response from the webhook: 500 Internal Server Error"
        with pytest.raises(Conflict, match="while webhook is active"):
            await app.bot.get_updates()
        server.api.webhook.copies = 3
        server.say(ann, ann, "thrice")
        await server.wait_for(lambda: len(server.chat(ann).from_bot) == 4)
        await app.bot.delete_webhook()
    await runner.cleanup()
    assert len(hits) == 5
    assert {secret for secret, _ in hits} == {SECRET}
    assert hits[0] == hits[1], "refused, so repeated"


async def test_a_webhook_that_is_not_there_is_tried_again(server: TelegramServer, ann: User, bot: Bot) -> None:
    await bot.set_webhook(f"http://127.0.0.1:{free_port()}/")
    server.say(ann, ann, "hi")
    await until(lambda: server.api.webhook.last_error)
    info = await bot.get_webhook_info()
    assert info.pending_update_count == 1
    assert "Connection failed" in (info.last_error_message or "")
    await bot.delete_webhook(drop_pending_updates=True)
    assert await bot.get_updates() == ()


async def test_a_wrong_token_is_refused(server: TelegramServer) -> None:
    with pytest.raises(InvalidToken):
        async with bot_of(server, "123456789:AAwrong-token-for-the-local-server"):
            pass
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{server.base_url}{TOKEN[:-1]}x/getMe") as response:
            assert response.status == 401
        async with session.get(f"{server.base_url}{TOKEN}/noSuchMethod") as response:
            assert (response.status, await response.json()) == (
                404,
                {"ok": False, "error_code": 404, "description": "Not Found: method not found"},
            )
        async with session.post(f"{server.base_url}{TOKEN}/getme", json={}) as response:
            assert (await response.json())["result"]["username"] == "keepmind_bot"


refused: list[tuple[str, Callable[[Bot, int], Awaitable[object]]]] = [
    ("Message text is empty", lambda bot, chat: bot.send_message(chat, "")),
    ("Text must be non-empty", lambda bot, chat: bot.send_message(chat, " \n")),
    ("Message is too long", lambda bot, chat: bot.send_message(chat, "😀" * 2049)),
    ("Message caption is too long", lambda bot, chat: bot.send_document(chat, b"x", caption="a" * 1025)),
    ("Chat not found", lambda bot, chat: bot.send_message(12345, "a")),
    ("Message to be replied not found", lambda bot, chat: bot.send_message(chat, "a", reply_to_message_id=999)),
    ("Message thread not found", lambda bot, chat: bot.send_message(chat, "a", message_thread_id=999)),
    ("Message to edit not found", lambda bot, chat: bot.edit_message_text("a", chat, 999)),
    ("Message to delete not found", lambda bot, chat: bot.delete_message(chat, 999)),
    ("Wrong parameter action", lambda bot, chat: bot.send_chat_action(chat, "dancing")),
    ("Query is too old", lambda bot, chat: bot.answer_callback_query("1")),
    ("Wrong file_id", lambda bot, chat: bot.get_file("x")),
    ("can't find end of bold", lambda bot, chat: bot.send_message(chat, "*a", parse_mode="MarkdownV2")),
    ("character '.' is reserved", lambda bot, chat: bot.send_message(chat, "a.", parse_mode="MarkdownV2")),
    ("byte offset 3", lambda bot, chat: bot.send_message(chat, "é *a", parse_mode="Markdown")),
    ('unsupported start tag "h1"', lambda bot, chat: bot.send_message(chat, "<h1>a</h1>", parse_mode="HTML")),
    ("unmatched end tag", lambda bot, chat: bot.send_message(chat, "<b><i>a</b></i>", parse_mode="HTML")),
    ("can't find end tag", lambda bot, chat: bot.send_message(chat, "<b>a", parse_mode="HTML")),
    ("unexpected end tag", lambda bot, chat: bot.send_message(chat, "a</b>", parse_mode="HTML")),
    ("unsupported parse_mode", lambda bot, chat: bot.send_message(chat, "a", parse_mode="Textile")),
    ("BUTTON_DATA_INVALID", lambda bot, chat: bot.send_message(chat, "a", reply_markup=button("x", "é" * 33))),
    ("BOT_COMMAND_INVALID", lambda bot, _: bot.set_my_commands([BotCommand("Upper", "a")])),
    ("ends after the end of the text", lambda bot, chat: bot.send_message(chat, "a", entities=[bold(0, 2)])),
    ("middle of a UTF-16 symbol", lambda bot, chat: bot.send_message(chat, "😀", entities=[bold(0, 1)])),
]


def button(label: str, data: str) -> InlineKeyboardMarkup:
    return InlineKeyboardMarkup([[InlineKeyboardButton(label, callback_data=data)]])


def bold(offset: int, length: int) -> MessageEntity:
    return MessageEntity("bold", offset, length)


@pytest.mark.parametrize(("reason", "call"), refused, ids=[reason for reason, _ in refused])
async def test_what_telegram_refuses_is_refused(
    server: TelegramServer, ann: User, bot: Bot, reason: str, call: Callable[[Bot, int], Awaitable[object]]
) -> None:
    with pytest.raises(BadRequest, match=f"(?i){reason}"):
        await call(bot, ann.id)
    assert server.chat(ann).messages == []


async def test_edits(server: TelegramServer, ann: User, bot: Bot) -> None:
    sent = await bot.send_message(ann.id, "one", reply_markup=button("Yes", "1"))
    with pytest.raises(BadRequest, match="Message is not modified"):
        await bot.edit_message_text("one", ann.id, sent.message_id, reply_markup=button("Yes", "1"))
    await bot.edit_message_text("two", ann.id, sent.message_id)
    with pytest.raises(BadRequest, match="Message is not modified"):
        await bot.edit_message_reply_markup(ann.id, sent.message_id)
    await bot.edit_message_reply_markup(ann.id, sent.message_id, reply_markup=button("No", "0"))
    [seen] = server.chat(ann).messages
    assert (seen.text, seen.versions, seen.buttons[0]["text"]) == ("two", ["one", "two", "two"], "No")
    said = server.say(ann, ann, "mine")
    with pytest.raises(BadRequest, match="Message can't be edited"):
        await bot.edit_message_text("yours", ann.id, said.id)
    await bot.delete_message(ann.id, sent.message_id)
    assert [message.text for message in server.chat(ann).messages] == ["mine"]


async def test_text_arrives_as_telegram_shows_it(server: TelegramServer, ann: User, bot: Bot) -> None:
    link = MessageEntity("text_link", 3, 2, url="https://x.example/")
    sent = await bot.send_message(ann.id, " \ra\x00bc d https://y.example/_a. ", entities=[link])
    assert sent.text == "a bc d https://y.example/_a."
    assert sent.parse_entities() == {
        MessageEntity("text_link", 1, 2, url="https://x.example/"): " b",
        MessageEntity("url", 7, 20): "https://y.example/_a",
    }
    many = [bold(index * 2, 1) for index in range(150)]
    assert len((await bot.send_message(ann.id, "a " * 150, entities=many)).entities) == 100


@pytest.mark.parametrize(
    ("mode", "text", "plain", "found"),
    [
        ("HTML", "<b>a &lt;<i>b</i></b> &amp;", "a <b &", [("bold", 0, 4), ("italic", 3, 1)]),
        ("HTML", '<a href="https://x.example/?a=1&amp;b">l</a>', "l", [("text_link", 0, 1)]),
        ("HTML", "<pre><code class='language-py'>x</code></pre>", "x", [("pre", 0, 1)]),
        ("MarkdownV2", "*a _b_* ||c|| __d__ ~e~ \\.", "a b c d e .", "bold italic spoiler underline strikethrough"),
        ("MarkdownV2", "```py\nx = `1`\n```", "x = `1`\n", [("pre", 0, 8)]),
        ("MarkdownV2", "`a\\`b` [l](https://x.example/\\))", "a`b l", [("code", 0, 3), ("text_link", 4, 1)]),
        ("MarkdownV2", ">q\n>r\ns", "q\nr\ns", [("blockquote", 0, 3)]),
        ("Markdown", "*a* _b_ `c` [d](e) \\*", "a b c d *", "bold italic code text_link"),
    ],
)
def test_markup_is_parsed(mode: str, text: str, plain: str, found: str | list[tuple[str, int, int]]) -> None:
    result, entities = parse(text, mode)
    assert result == plain
    if isinstance(found, str):
        assert [entity["type"] for entity in entities] == found.split()
    else:
        assert [(one["type"], one["offset"], one["length"]) for one in entities] == found


async def test_who_may_be_written_to(server: TelegramServer, ann: User, bot: Bot) -> None:
    stranger = server.person("Cy", started=False)
    with pytest.raises(Forbidden, match="bot can't initiate conversation with a user"):
        await bot.send_message(stranger.id, "a")
    server.say(stranger, stranger, "/start")
    await bot.send_message(stranger.id, "a")
    server.block(stranger)
    with pytest.raises(Forbidden, match="bot was blocked by the user"):
        await bot.send_message(stranger.id, "a")
    server.unblock(stranger)
    await bot.send_message(stranger.id, "a")
    group = server.group("Family", [ann], bot=False)
    with pytest.raises(Forbidden, match="bot is not a member of the group chat"):
        await bot.send_message(group.id, "a")
    server.add_bot(group, ann)
    await bot.send_message(group.id, "a")
    server.remove_bot(group, ann)
    with pytest.raises(Forbidden, match="bot was kicked from the group chat"):
        await bot.send_message(group.id, "a")
    kinds = [(update.my_chat_member is not None) for update in all_as_python_telegram_bot_reads_them(server)]
    assert kinds == [False, True, True, True, False, True]


async def test_a_group_becomes_a_supergroup(server: TelegramServer, ann: User, bot: Bot) -> None:
    group = server.group("Family", [ann])
    upgraded = server.migrate(group, ann, notices=["from", "to"])
    with pytest.raises(ChatMigrated) as caught:
        await bot.send_message(group.id, "a")
    assert (caught.value.new_chat_id, upgraded.id) == (upgraded.id, -1001502049385)
    await bot.send_message(upgraded.id, "a")
    first, second = all_as_python_telegram_bot_reads_them(server)
    assert first.message
    assert second.message
    assert first.message.migrate_from_chat_id == second.message.chat_id == group.id
    assert second.message.migrate_to_chat_id == first.message.chat_id == upgraded.id


async def test_topics(server: TelegramServer, ann: User, bot: Bot) -> None:
    forum = server.supergroup("Club", [ann], forum=True)
    topic = server.topic(forum, "Books", ann)
    said = server.say(ann, forum, "hi", topic=topic)
    sent = await bot.send_message(forum.id, "in it", reply_to_message_id=said.id)
    assert sent.is_topic_message
    assert sent.message_thread_id == topic
    in_general = server.say(ann, forum, "in general", reply_to=server.say(ann, forum, "one"))
    assert in_general.data["message_thread_id"]
    with pytest.raises(BadRequest, match="Message thread not found"):
        await bot.send_message(forum.id, "a", message_thread_id=in_general.data["message_thread_id"])
    server.close_topic(forum, topic)
    with pytest.raises(BadRequest, match=r"(?i)topic_closed"):
        await bot.send_message(forum.id, "a", message_thread_id=topic)
    server.delete_topic(forum, topic)
    with pytest.raises(BadRequest, match="Message thread not found"):
        await bot.send_message(forum.id, "a", message_thread_id=topic)
    updates = all_as_python_telegram_bot_reads_them(server)
    assert updates[1].message
    assert updates[1].message.reply_to_message
    assert updates[1].message.reply_to_message.forum_topic_created, "as Telegram does in every topic"


async def test_a_deleted_question_may_be_answered_all_the_same(server: TelegramServer, ann: User, bot: Bot) -> None:
    said = server.say(ann, ann, "hi")
    replied = await bot.send_message(ann.id, "a", reply_parameters=ReplyParameters(said.id))
    assert replied.reply_to_message
    assert replied.reply_to_message.text == "hi"
    server.delete(said)
    with pytest.raises(BadRequest, match="Message to be replied not found"):
        await bot.send_message(ann.id, "a", reply_to_message_id=said.id)
    await bot.send_message(ann.id, "a", reply_parameters=ReplyParameters(said.id, allow_sending_without_reply=True))


async def test_buttons(server: TelegramServer, ann: User) -> None:
    async with polling(server) as app:
        await app.bot.send_message(ann.id, "sure?", reply_markup=button("Yes", "forget:1"))
        query = server.press(ann, server.chat(ann).messages[-1], "Yes")
        assert (await server.answered(query))["text"] == "got forget:1"
        with pytest.raises(BadRequest, match="Query is too old"):
            await app.bot.answer_callback_query(query)
        with pytest.raises(LookupError):
            server.press(ann, server.chat(ann).messages[-1], "No")
    all_as_python_telegram_bot_reads_them(server)


async def test_drafts_are_shown_until_the_message_comes(server: TelegramServer, ann: User, bot: Bot) -> None:
    await bot.send_message_draft(ann.id, 7, "Once")
    await bot.send_message_draft(ann.id, 7, "Once upon")
    chat = server.chat(ann)
    assert (chat.draft, chat.messages) == (chat.drafts[-1], [])
    assert [draft.text for draft in chat.drafts] == ["Once", "Once upon"]
    await bot.send_message(ann.id, "Once upon a time.")
    assert not chat.draft
    with pytest.raises(BadRequest, match=r"(?i)TEXTDRAFT_PEER_INVALID"):
        await bot.send_message_draft(server.group("Family", [ann]).id, 7, "a")


async def test_the_menu_is_the_narrowest_in_the_language(server: TelegramServer, ann: User, bot: Bot) -> None:
    await bot.set_my_commands([BotCommand("help", "Help")])
    await bot.set_my_commands([BotCommand("memory", "Memory")], BotCommandScopeAllPrivateChats())
    await bot.set_my_commands([BotCommand("memory", "Память")], BotCommandScopeAllPrivateChats(), "ru")
    await bot.set_my_commands([BotCommand("admin", "Admin")], BotCommandScopeChat(ann.id))
    vera = server.person("Vera", language="ru")
    assert server.menu(ann, ann) == [{"command": "admin", "description": "Admin"}]
    assert server.menu(vera, vera) == [{"command": "memory", "description": "Память"}]
    assert server.menu(vera, server.group("Family", [ann, vera]))[0]["command"] == "help"
    assert await bot.get_my_commands(BotCommandScopeAllPrivateChats(), "ru") == (BotCommand("memory", "Память"),)
    await bot.delete_my_commands(BotCommandScopeChat(ann.id))
    assert server.menu(ann, ann)[0]["command"] == "memory"


async def test_files_go_both_ways(server: TelegramServer, ann: User, bot: Bot) -> None:
    sent = await bot.send_document(ann.id, b"a,b", filename="a.csv", caption="Here")
    assert sent.document
    assert (sent.document.file_name, sent.caption) == ("a.csv", "Here")
    assert bytes(await (await bot.get_file(sent.document.file_id)).download_as_bytearray()) == b"a,b"
    photo = await bot.send_photo(ann.id, b"png")
    assert (await bot.send_photo(ann.id, photo.photo[-1].file_id)).photo
    server.document(ann, ann, "notes.md", b"# Notes")
    server.document(ann, ann, "big.zip", b"x", size=25 * 2**20)
    notes, big = all_as_python_telegram_bot_reads_them(server)
    assert notes.message
    assert notes.message.document
    assert big.message
    assert big.message.document
    assert bytes(await (await bot.get_file(notes.message.document.file_id)).download_as_bytearray()) == b"# Notes"
    with pytest.raises(BadRequest, match="File is too big"):
        await bot.get_file(big.message.document.file_id)


async def test_everything_people_send_is_shaped_as_the_library_reads_it(server: TelegramServer, ann: User) -> None:
    bob = server.person("Bob")
    group = server.supergroup("Club", [ann, bob], username="club")
    channel = server.channel("News", discussion=group)
    said = server.say(ann, group, "@keepmind_bot look at https://x.example/a and /help@keepmind_bot #now")
    server.say(bob, group, "that", reply_to=said, quote="look at")
    server.say(ann, group, "from Bob", forward_from=bob)
    server.say(ann, group, "from somebody", forward_from="Somebody")
    server.say(ann, group, "from the news", forward_from=channel)
    server.say(group, group, "the admin, anonymously")
    server.say(channel, group, "as the channel")
    server.post(channel, "news!")
    server.photo(ann, group, caption="me")
    server.album(ann, group, [b"1", b"2", b"3"], caption="us")
    server.voice(ann, group, b"ogg")
    server.audio(ann, group, "song.mp3", b"mp3")
    server.sticker(ann, group)
    server.location(ann, group, 50.45, 30.52)
    server.contact(ann, group, "+380441234567", "Bob")
    server.poll(ann, group, "When?", ["Now", "Later"])
    server.dice(ann, group)
    server.edit(said, "other words")
    server.paste(ann, ann, "😀" * 4100)
    server.set_status(group, server.person("Eve"), "member")
    updates = all_as_python_telegram_bot_reads_them(server)
    messages = [update.effective_message for update in updates if update.effective_message]
    assert len(messages) == 24
    assert [entity.type for entity in messages[0].entities] == ["mention", "url", "bot_command", "hashtag"]
    assert messages[1].quote
    assert messages[1].quote.text == "look at"
    origins = [message.forward_origin.type for message in messages if message.forward_origin]
    assert origins == ["user", "hidden_user", "channel", "channel"]
    senders = [message.from_user.id for message in messages if message.sender_chat and message.from_user]
    assert senders == [1087968824, 136817688, 777000]
    assert messages[7].is_automatic_forward
    assert len({message.media_group_id for message in messages}) == 2
    assert updates[-5].edited_message
    assert [len(message.text or "") for message in messages[-4:-1]] == [2048, 2048, 4]
    assert ann.id > 2**32


async def test_privacy_mode_hides_what_is_not_for_the_bot(ann: User) -> None:
    async with TelegramServer(privacy=True) as server, bot_of(server) as bot:
        ann = server.person("Ann")
        group = server.supergroup("Club", [ann])
        server.say(ann, group, "just talk")
        sent = await bot.send_message(group.id, "hello")
        server.say(ann, group, "to you", reply_to=group.by_id[sent.message_id])
        server.say(ann, group, "@keepmind_bot hi")
        server.say(ann, group, "/help")
        server.say(ann, group, "/help@other_bot")
        texts = [update.message and update.message.text for update in await bot.get_updates()]
        assert texts == ["to you", "@keepmind_bot hi", "/help"]
        assert not (await bot.get_me()).can_read_all_group_messages


async def test_chats_and_members_can_be_asked_for(server: TelegramServer, ann: User, bot: Bot) -> None:
    group = server.supergroup("Club", [ann, server.person("Bob")], username="club")
    server.set_status(group, server.bot, "administrator", ann)
    assert (await bot.get_chat("@club")).id == group.id
    assert (await bot.get_chat_member(group.id, ann.id)).status == "creator"
    assert [member.status for member in await bot.get_chat_administrators(group.id)] == ["creator", "administrator"]
    await bot.set_my_description("I remember.", language_code="en")
    assert (await bot.get_my_description("en")).description == "I remember."
    await bot.leave_chat(group.id)
    with pytest.raises(Forbidden):
        await bot.send_message(group.id, "a")


async def test_faults_come_on_demand(server: TelegramServer, ann: User, bot: Bot) -> None:
    server.fail("sendMessage", 429, retry_after=33)
    with pytest.raises(RetryAfter) as caught:
        await bot.send_message(ann.id, "a")
    assert caught.value.retry_after == timedelta(seconds=33)
    server.fail("sendMessage", 502, chat=ann, when="after")
    with pytest.raises(NetworkError, match="Bad Gateway"):
        await bot.send_message(ann.id, "shown, though it failed")
    server.drop("sendMessage", "before")
    with pytest.raises(NetworkError):
        await bot.send_message(ann.id, "not shown")
    server.drop("sendMessage")
    with pytest.raises(NetworkError):
        await bot.send_message(ann.id, "shown, but who knows")
    server.delay("sendMessage", 0.3, times=1)
    with pytest.raises(TimedOut):
        await bot.send_message(ann.id, "late", read_timeout=0.1)
    await bot.send_message(ann.id, "well")
    await server.wait_for(lambda: len(server.chat(ann).messages) == 4)
    shown = sorted(message.text for message in server.chat(ann).messages)
    assert shown == ["late", "shown, but who knows", "shown, though it failed", "well"]
    assert [call.code for call in server.journal.of("sendMessage", ann.id)] == [429, 502, 0, 0, 200, 200]
    server.faults.add(Fault("getMe", refusal=Refusal(500, "Internal Server Error"), skip=1))
    await bot.get_me()
    with pytest.raises(NetworkError):
        await bot.get_me()


async def test_a_flooded_chat_says_how_long_to_wait() -> None:
    now = 1_800_000_000.0
    async with TelegramServer(clock=lambda: now) as server, bot_of(server) as bot:
        ann = server.person("Ann")
        server.flood(ann, 33)
        now += 10
        with pytest.raises(RetryAfter, match="23"):
            await bot.send_message(ann.id, "a")
        now += 23
        await bot.send_message(ann.id, "a")


async def test_the_platform_keeps_its_pace() -> None:
    now = 1_800_000_000.0
    async with TelegramServer(limits=Limits(), clock=lambda: now) as server, bot_of(server) as bot:
        group = server.group("Family", [server.person("Ann")])
        sent = await bot.send_message(group.id, "0")
        for index in range(1, 20):
            now += 1
            await bot.edit_message_text(str(index), group.id, sent.message_id)
        now += 1
        with pytest.raises(RetryAfter, match="40"):
            await bot.send_message(group.id, "a")
        ann = server.person("Ann")
        for _ in range(3):
            await bot.send_message(ann.id, "a")
        with pytest.raises(RetryAfter, match="3"):
            await bot.send_message(ann.id, "a")


async def test_waiting_ends(server: TelegramServer, ann: User, bot: Bot) -> None:
    with pytest.raises(TimeoutError):
        await server.reply(ann, timeout=0.05)
    await bot.send_message(ann.id, "a")
    await server.quiet(0.05)
    assert server.chat(ann.id) is server.chat("@ann")


async def test_an_outage_loses_nothing(server: TelegramServer, ann: User, bot: Bot) -> None:
    await server.stop()
    with pytest.raises(NetworkError):
        await bot.get_updates()
    server.say(ann, ann, "hi")
    await server.start()
    assert len(await bot.get_updates()) == 1
