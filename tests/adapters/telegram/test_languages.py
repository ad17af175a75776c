"""People on Telegram are spoken to in the language of their app."""

from __future__ import annotations

import pytest

from adapters.inmemory import InMemoryStore
from adapters.telegram.server import TelegramServer, User
from adapters.telegram.server.world import Message
from core import sentences
from core.llm import Completion, Request
from core.translation import speaking, spoken
from tests.adapters.telegram.life import living, until
from tests.fakes import ScriptedLLM, calling


@pytest.fixture
def vera(server: TelegramServer) -> User:
    return server.person("Вера", language="ru")


@pytest.fixture
def bao(server: TelegramServer) -> User:
    return server.person("宝", language="zh-hans")


async def told(server: TelegramServer, who: User, text: str) -> Message:
    """Say something in private; give the answer."""
    return await server.reply(who, after=server.say(who, who, text))


async def test_a_russian_speaker_is_answered_in_russian(server: TelegramServer, vera: User) -> None:
    async with living(server):
        assert (await told(server, vera, "/start")).text.startswith("Здравствуйте!")
        assert "/memory why КЛЮЧ – Рассказать" in (await told(server, vera, "/help")).text
        await told(server, vera, "/memory_set name Вера")
        card = await told(server, vera, "/memory")
        assert card.text.startswith("name: Вера\n")
        assert "обменов репликами" in card.text
        assert [button["text"] for button in card.buttons] == ["name", "Отменить"]
        await server.answered(server.press(vera, card, "name"))
        await server.wait_for(lambda: "записано вами" in card.text)
        assert "Забыть это" in [button["text"] for button in card.buttons]


async def test_a_chinese_speaker_is_answered_in_chinese(server: TelegramServer, bao: User) -> None:
    async with living(server):
        assert (await told(server, bao, "/start")).text.startswith("您好！")
        assert "记忆" in (await told(server, bao, "/memory_off")).text
        assert "轮对话" in (await told(server, bao, "/memory")).text


async def test_a_stranger_is_refused_in_their_language(server: TelegramServer, vera: User, bao: User) -> None:
    async with living(server, allowed=()):
        assert (await told(server, vera, "привет")).text.startswith("Мы с вами ещё не знакомы")
        assert (await told(server, bao, "你好")).text.startswith("我还不认识您")


async def test_that_the_model_would_forget_all_is_confirmed_by_a_russian_button_also_after_a_restart(
    server: TelegramServer, vera: User
) -> None:
    def script(request: Request) -> Completion:
        proposes = request.messages[-1].role == "user" and "забудь" in request.messages[-1].content
        return calling(("update_memory", '{"action": "clear"}')) if proposes else Completion("Правда?")

    store, llm = InMemoryStore(), ScriptedLLM(script)
    async with living(server, llm=llm, store=store):
        await told(server, vera, "/memory_set city Рим")
        asked = await told(server, vera, "забудь всё")
        assert [button["text"] for button in asked.buttons] == ["Забыть все факты"]
        assert await store.holds("Рим")
    async with living(server, llm=llm, store=store):
        await server.answered(server.press(vera, asked, "Забыть все факты"))
        await server.wait_for(lambda: asked.text.startswith("Стёрто: "))
        assert "Рим" not in (await told(server, vera, "/memory")).text


async def test_each_in_a_group_is_answered_in_their_own_language(
    server: TelegramServer, ann: User, vera: User, bao: User
) -> None:
    fritz = server.person("Fritz", language="de")
    group = server.supergroup("Club", [ann, vera, bao, fritz])
    async with living(server):
        beginnings = {ann: "I keep", vera: "Я храню", bao: "我会保存", fritz: "I keep"}
        asked = {who: server.say(who, group, "/privacy@keepmind_bot") for who in beginnings}
        for who, beginning in beginnings.items():
            said = asked[who].id
            answer = await server.reply(group, where=lambda m, said=said: m.reply_to == said)  # type: ignore[misc]
            assert answer.text.startswith(beginning)


async def test_a_file_that_can_not_be_read_is_told_so_in_the_persons_language(
    server: TelegramServer, vera: User
) -> None:
    async with living(server):
        with speaking("ru"):
            unsupported, unread = spoken(sentences.UNSUPPORTED), "Такие сообщения я пока не умею читать."
        server.document(vera, vera, "a.zip", b"PK", "application/octet-stream")
        assert (await server.reply(vera)).text == unsupported
        said = server.sticker(vera, vera)
        assert (await server.reply(vera, after=said)).text == unread


async def test_a_strangers_button_is_refused_in_the_language_of_who_presses_it(
    server: TelegramServer, ann: User, vera: User
) -> None:
    async with living(server):
        await told(server, ann, "/memory_set name Ann")
        card = await told(server, ann, "/memory")
        answer = await server.answered(server.press(vera, card, "name"))
        assert answer["text"] == "Эта кнопка чужая или слишком старая."


async def test_menus_are_in_every_language(server: TelegramServer, ann: User, vera: User) -> None:
    bao, root = server.person("宝", language="zh-hans"), server.person("Корень", language="ru")
    group = server.supergroup("Club", [vera])
    async with living(server, admins=[f"telegram:{root.id}"], admin_ids=[root.id]):
        await until(lambda: server.journal.counts["setMyCommands"] == 15)
        said = {who: {one["command"]: one["description"] for one in server.menu(who, who)} for who in (ann, vera, bao)}
        assert said[ann]["help"] == "List the commands."
        assert said[vera]["help"] == "Перечислить команды."
        assert said[bao]["help"] == "列出所有命令。"
        assert len({frozenset(menu) for menu in said.values()}) == 1
        assert {one["command"]: one["description"] for one in server.menu(vera, group)} == said[vera]
        admins = {one["command"]: one["description"] for one in server.menu(root, root)}
        assert admins["admin_unblock"] == "Снять блокировку."


async def test_a_group_is_greeted_in_the_language_of_who_added_the_bot(server: TelegramServer, vera: User) -> None:
    group = server.supergroup("Клуб", [vera], bot=False)
    async with living(server):
        server.add_bot(group, vera)
        assert (await server.reply(group)).text.startswith("Здравствуйте! Здесь я запоминаю то, с чем обращаются")
