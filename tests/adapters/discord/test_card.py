"""The memory card on Discord: its list, its buttons and its form, for its owner alone, also after a restart."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.discord.server import DiscordServer, Message, User
from adapters.discord.server.using import Using
from adapters.discord.server.world import Channel
from adapters.inmemory import InMemoryStore
from core import Bot, Choice, Context, Reply, command
from core.messages import Person
from tests.adapters.discord.life import Club, Life, key, living, texts
from tests.contract.talk import change, fact
from tests.fakes import ScriptedLLM

LONG = "a_key_of_sixty_letters_so_that_no_button_has_room_for_all_of_it"


@command
async def offer(context: Context) -> Reply:
    """Show all a button that shows a card."""
    return Reply("Anybody?", (Choice("My card", "/memory"), Choice("Mine", "/memory"), Choice("Help", "/help")))


def labels(message: Message) -> list[str]:
    """Give what stands on the buttons of a message, and in its lists."""
    options = [option["label"] for select in message.selects for option in select["options"]]
    return [*options, *(button["label"] for button in message.buttons)]


async def told(server: DiscordServer, using: Using) -> Message:
    """Give the last that an interaction was answered."""
    await server.answered(using)
    return using.messages[-1] if using.messages else using.response or await server.answered(using)


async def set_fact(server: DiscordServer, who: User, place: Channel | User, key: str, value: str) -> None:
    await server.answered(server.use(who, place, "memory set", key=key, value=value))


async def a_card(server: DiscordServer, who: User, place: Channel | User) -> Message:
    return await server.answered(server.use(who, place, "memory view"))


async def facts(life: Life, who: User, place: Channel | User) -> dict[str, Any]:
    scope = "private" if isinstance(place, User) else f"discord:{place.id}"
    person = Person("discord", str(who.id))
    assert scope in await life.store.scopes(person)
    chat = await life.store.load(key(place.id), person, private=isinstance(place, User))
    return dict(chat.facts)


async def test_a_card_has_its_facts_in_a_list_and_is_for_its_person_alone(server: DiscordServer, club: Club) -> None:
    async with living(server):
        await set_fact(server, club.ann, club.general, "name", "Ann")
        card = await a_card(server, club.ann, club.general)
        assert card.seen_by == club.ann
        assert card.text.startswith("name: Ann\n")
        assert [select["placeholder"] for select in card.selects] == ["Open a fact"]
        assert labels(card) == ["name", "Undo"]


async def test_a_fact_is_opened_pinned_and_left_in_the_place_of_the_card(server: DiscordServer, club: Club) -> None:
    async with living(server):
        await set_fact(server, club.ann, club.general, "name", "Ann")
        card = await a_card(server, club.ann, club.general)
        server.choose(club.ann, card, "name")
        await server.wait_for(lambda: "written by" in card.text)
        assert labels(card) == ["Forget this", "Pin", "Edit", "Why", "All facts"]
        server.press(club.ann, card, "Pin")
        await server.wait_for(lambda: "pinned" in card.text)
        server.press(club.ann, card, "All facts")
        await server.wait_for(lambda: "Open a fact" in [select["placeholder"] for select in card.selects])
        assert "name: Ann (pinned)" in card.text
        assert texts(club.general).count(card.text) == 1


async def test_many_facts_are_turned_by_page_in_place(server: DiscordServer, club: Club) -> None:
    async with living(server):
        for number in range(9):
            await set_fact(server, club.ann, club.ann, f"key{number}", "x")
        card = await a_card(server, club.ann, club.ann)
        assert not card.is_ephemeral
        server.press(club.ann, card, "Page 2 of 2 →")
        await server.wait_for(lambda: card.text.startswith("key8"))
        assert labels(card) == ["key8", "← Page 1", "Undo"]


async def test_a_value_is_edited_in_a_form_that_shows_what_it_is(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        await set_fact(server, club.ann, club.general, "city", "Rome")
        card = await a_card(server, club.ann, club.general)
        server.choose(club.ann, card, "city")
        await server.wait_for(lambda: "Edit" in labels(card))
        opened = await server.opened(server.press(club.ann, card, "Edit"))
        assert opened.modal is not None
        assert opened.modal["title"] == "Edit"
        field = opened.modal["components"][0]
        assert (field["label"], field["component"]["value"]) == ("city", "Rome")
        assert (
            field["description"]
            == "Set a fact yourself; items of a list stand between commas, or on lines of their own."
        )
        server.submit(opened, {"city": "New York"})
        await server.wait_for(lambda: card.text.startswith("city: New York\n"))
        assert await facts(life, club.ann, club.general) == {"city": "New York"}


async def test_an_item_of_a_list_keeps_its_commas_in_the_form(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        ann, scope = Person("discord", str(club.ann.id)), f"discord:{club.general.id}"
        await life.store.apply(ann, scope, [change("1", fact("hobbies", "tea, hot", "chess"))])
        card = await a_card(server, club.ann, club.general)
        server.choose(club.ann, card, "hobbies")
        await server.wait_for(lambda: "Edit" in labels(card))
        opened = await server.opened(server.press(club.ann, card, "Edit"))
        assert opened.modal is not None
        shown = opened.modal["components"][0]["component"]["value"]
        assert shown == "tea, hot\nchess"
        server.submit(opened, {"hobbies": f"{shown}\ngo"})
        await server.wait_for(lambda: "go" in card.text)
        assert await facts(life, club.ann, club.general) == {"hobbies": ["tea, hot", "chess", "go"]}


async def test_undo_and_forgetting_are_told_above_the_card_and_why_beside_it(server: DiscordServer, club: Club) -> None:
    async with living(server):
        await set_fact(server, club.ann, club.general, "city", "Rome")
        card = await a_card(server, club.ann, club.general)
        undone = await told(server, server.press(club.ann, card, "Undo"))
        assert undone is card
        assert undone.text.startswith("Taken back. city is now: nothing\n\nI know no facts")
        await set_fact(server, club.ann, club.general, "city", "Oslo")
        card = await a_card(server, club.ann, club.general)
        server.choose(club.ann, card, "city")
        await server.wait_for(lambda: "Why" in labels(card))
        why = await told(server, server.press(club.ann, card, "Why"))
        assert ("you entered it" in why.text, why.seen_by) == (True, club.ann)
        server.press(club.ann, card, "Forget this")
        await server.wait_for(lambda: card.text.startswith("Erased: changes: 3, facts: 1.\n\nI know no facts"))


async def test_somebody_elses_button_is_refused_to_them_alone(server: DiscordServer, club: Club) -> None:
    async with living(server, bot=Bot(commands=[offer])) as life:
        offered = await server.answered(server.use(club.ann, club.general, "offer"))
        assert labels(offered) == ["Mine", "Help"]
        refused = await server.answered(server.press(club.bob, offered, "Mine"))
        assert (refused.text, refused.seen_by) == ("This button is somebody else's, or too old.", club.bob)
        assert len(life.llm.requests) == 0


async def test_a_private_card_never_takes_the_place_of_what_all_can_see(server: DiscordServer, club: Club) -> None:
    async with living(server, bot=Bot(commands=[offer])):
        offered = await server.answered(server.use(club.ann, club.general, "offer"))
        card = await told(server, server.press(club.ann, offered, "Mine"))
        assert card.seen_by == club.ann
        assert offered.text == "Anybody?"


@pytest.mark.parametrize("fact_key", ["city", LONG])
async def test_buttons_and_an_open_form_work_after_a_restart(server: DiscordServer, club: Club, fact_key: str) -> None:
    store = InMemoryStore()
    async with living(server, store=store):
        await set_fact(server, club.ann, club.general, fact_key, "Rome")
        card = await a_card(server, club.ann, club.general)
    async with living(server, store=store):
        server.choose(club.ann, card, labels(card)[0])
        await server.wait_for(lambda: "Edit" in labels(card))
        opened = await server.opened(server.press(club.ann, card, "Edit"))
    async with living(server, store=store):
        server.submit(opened, {"words": "Oslo"})
        await server.wait_for(lambda: card.text.startswith(f"{fact_key}: Oslo\n"))


async def test_erasing_everything_asks_by_a_button(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        await set_fact(server, club.ann, club.general, "city", "Rome")
        asked = await server.answered(server.use(club.ann, club.general, "forget", what="me"))
        assert asked.seen_by == club.ann
        assert labels(asked) == ["Erase everything"]
        assert await life.store.scopes(Person("discord", str(club.ann.id)))
        server.press(club.ann, asked, "Erase everything")
        await server.wait_for(lambda: [text for text in texts(club.general) if text.startswith("Erased: ")])
        assert not await life.store.scopes(Person("discord", str(club.ann.id)))


async def test_values_that_no_message_holds_come_as_a_file(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        values = [f"book {number} " + "x" * 490 for number in range(5)]
        scope = f"discord:{club.general.id}"
        await life.store.apply(Person("discord", str(club.ann.id)), scope, [change("1", fact("books", *values))])
        opened = await server.answered(server.use(club.ann, club.general, "memory fact", key="books"))
        assert len(opened.text) <= 2000
        assert [file.data.decode().splitlines() for file in opened.files] == [values]
        assert labels(opened)[0] == "Forget this"
        server.press(club.ann, opened, "All facts")
        await server.wait_for(lambda: not opened.files and opened.selects)


async def test_what_a_button_has_no_room_for_is_kept(server: DiscordServer, club: Club) -> None:
    @command
    async def echo(context: Context, words: str = "") -> Reply:
        """Say it again."""
        return Reply(words or "Press", (Choice("Say much", "/echo " + "word " * 40), Choice("Ask", "/echo", asks=True)))

    async with living(server, bot=Bot(commands=[echo])):
        offered = await server.answered(server.use(club.ann, club.general, "echo"))
        assert offered.buttons[0]["custom_id"].startswith("#")
        refused = await told(server, server.press(club.bob, offered, "Say much"))
        assert (refused.text, refused.seen_by) == ("This button is somebody else's, or too old.", club.bob)
        said = await told(server, server.press(club.ann, offered, "Say much"))
        assert said.text == ("word " * 40).strip()
        opened = await server.opened(server.press(club.ann, offered, "Ask"))
        assert (await told(server, server.submit(opened, {"words": "my own\nwords"}))).text == "my own\nwords"


async def test_a_button_whose_press_is_lost_on_the_way_can_be_pressed_again(server: DiscordServer, club: Club) -> None:
    async with living(server, llm=ScriptedLLM()):
        await set_fact(server, club.ann, club.general, "city", "Rome")
        card = await a_card(server, club.ann, club.general)
        server.fail("respond", 404, 10062)
        server.choose(club.ann, card, "city")
        await server.wait_for(lambda: server.journal.of("respond", status=404))
        server.choose(club.ann, card, "city")
        await server.wait_for(lambda: "Edit" in labels(card))


async def test_the_card_is_in_the_language_of_its_person(server: DiscordServer) -> None:
    vera = server.person("Вера")
    vera.locale = "ru"
    place = server.text_channel(server.guild("Клуб", [vera]))
    async with living(server):
        assert "память показать" in server.menu_names(vera, place)
        assert (
            server.declared(vera, place, "Forget this message", 3)["name_localizations"]["ru"] == "Забыть это сообщение"
        )
        await set_fact(server, vera, place, "city", "Рим")
        card = await a_card(server, vera, place)
        assert labels(card) == ["city", "Отменить"]
