"""Who is served on Telegram, and who is told what (case L)."""

from __future__ import annotations

import logging
import re

import pytest

from adapters.inmemory import InMemoryStore
from adapters.telegram.server import TOKEN, TelegramServer, User
from core.rates import Rates
from core.sentences import TOO_MUCH
from tests.adapters.telegram.life import living, until


async def test_l01_a_stranger_costs_nothing_and_nothing_of_theirs_is_kept(server: TelegramServer, ann: User) -> None:
    eve, store = server.person("Eve"), InMemoryStore()
    async with living(server, store=store, allowed=[f"telegram:{ann.id}"]) as life:
        server.say(eve, eve, "my secret is 42")
        server.document(eve, eve, "a.txt", b"my secret is 42")
        server.sticker(eve, eve)
        told = await server.reply(eve)
        assert str(eve.id) in told.text, "L04: with their own id"
        await server.quiet(0.1)
        assert len(server.chat(eve).from_bot) == 1
        said = server.say(eve, eve, "/start")
        assert str(eve.id) in (await server.reply(eve, after=said)).text
        assert not life.llm.requests
        assert not await store.holds("my secret is 42")
        assert not server.journal.counts["getFile"]


async def test_who_says_too_much_is_told_once_and_their_files_are_not_read(server: TelegramServer, ann: User) -> None:
    async with living(server, rates=Rates(person=2)):
        for number in range(6):
            server.document(ann, ann, f"{number}.txt", b"words")
        await server.reply(ann, where=lambda m: m.text == TOO_MUCH)
        await server.quiet(0.2)
        assert server.journal.counts["getFile"] == 2
        assert sum(m.text == TOO_MUCH for m in server.chat(ann).from_bot) == 1
        said = server.say(ann, ann, "/privacy")
        assert "I keep" in (await server.reply(ann, after=said)).text


async def test_l06_anonymous_senders_are_heard_by_the_chats_rule_and_have_no_profile(
    server: TelegramServer, ann: User
) -> None:
    group = server.supergroup("Club", [ann])
    channel = server.channel("News", discussion=group)
    async with living(server, allowed=[f"telegram:{group.id}"], admins=[f"telegram:{group.id}"]) as life:
        said = server.say(group, group, "@keepmind_bot hi")
        await server.reply(group, after=said)
        said = server.say(channel, group, "@keepmind_bot hello")
        await server.reply(group, after=said)
        said = server.say(group, group, "/admin_stats@keepmind_bot")
        answer = await server.reply(group, after=said)
        assert "turns" not in answer.text, "nobody is an admin by standing for the group"
        assert len(await life.turns(group.id)) == 2


async def test_l07_admin_commands_are_shown_to_admins_and_checked_on_use(server: TelegramServer, ann: User) -> None:
    bob = server.person("Bob")
    async with living(server, admins=[f"telegram:{ann.id}"], admin_ids=[ann.id]):
        await until(lambda: any(one["command"] == "admin_stats" for one in server.menu(ann, ann)))
        names = {one["command"] for one in server.menu(bob, bob)}
        assert "memory_why" in names
        assert not any(name.startswith("admin") for name in names)
        group = server.supergroup("Club", [ann, bob])
        assert {one["command"] for one in server.menu(ann, group)} == names
        server.say(bob, bob, "/admin_stats")
        assert "admin" in (await server.reply(bob)).text
        server.say(ann, ann, "/admin_stats")
        assert "turns" in (await server.reply(ann)).text


async def test_l09_memory_is_shown_to_its_person_alone(server: TelegramServer, ann: User) -> None:
    group = server.supergroup("Club", [ann])
    async with living(server):
        server.say(ann, group, "/memory")
        await server.reply(ann)
        assert not group.from_bot


@pytest.mark.parametrize("where", ["private", "group"])
async def test_the_memory_card_is_turned_in_place(server: TelegramServer, ann: User, where: str) -> None:
    place = ann if where == "private" else server.supergroup("Club", [ann])
    async with living(server):
        for number in range(9):
            server.say(ann, place, f"/memory_set@keepmind_bot key{number} of {where}")
        await server.reply(ann, where=lambda m: "key8:" in m.text)
        said = server.say(ann, place, "/memory@keepmind_bot")
        card = await server.reply(ann, after=said if place is ann else None, where=lambda m: "key0:" in m.text[:5])
        shown = len(server.chat(ann).from_bot)
        await server.answered(server.press(ann, card, "Page 2 of 2 →"))
        await server.wait_for(lambda: card.text.startswith(f"key8: of {where}"))
        await server.answered(server.press(ann, card, "key8"))
        await server.wait_for(lambda: card.text.endswith("written by person."))
        await server.answered(server.press(ann, card, "Forget this"))
        await server.wait_for(lambda: card.text.startswith("Erased: changes: 1, facts: 1.\n\nkey0: "))
        await server.answered(server.press(ann, card, "Undo"))
        await server.wait_for(lambda: card.text.startswith("Taken back. key7 is now: nothing\n\nkey0: "))
        assert len(server.chat(ann).from_bot) == shown
        assert where == "private" or not server.chat(place).from_bot


async def test_l11_one_may_be_forgotten_by_a_button(server: TelegramServer, ann: User) -> None:
    async with living(server) as life:
        server.say(ann, ann, "my secret is 42")
        await server.reply(ann)
        said = server.say(ann, ann, "/forget me")
        asked = await server.reply(ann, after=said)
        await server.answered(server.press(ann, asked, asked.buttons[0]["text"]))
        assert (await server.reply(ann, after=asked)).text
        await server.quiet(0.1)
        assert not await life.store.holds("my secret is 42")


async def test_l13_no_token_name_or_text_is_in_the_log(
    server: TelegramServer, ann: User, caplog: pytest.LogCaptureFixture
) -> None:
    bob = server.person("Roberta")
    with caplog.at_level(logging.INFO, logger="keepmind"):
        async with living(server):
            server.fail("sendMessage", 400, "Bad Request: strange")
            server.say(bob, bob, "words of mine")
            server.say(bob, bob, "/memory")
            await server.reply(bob)
            await server.stop()
            await server.start()
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("keepmind")]
    assert ours
    for line in ours:
        assert not re.search(r"\d+:[A-Za-z0-9_-]{30,}", line)
        assert TOKEN not in line
        assert "Roberta" not in line
        assert "words of mine" not in line
