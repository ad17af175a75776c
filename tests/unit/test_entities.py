"""Entities: what was said of a name comes back when it is named again, in its chat, once and no more than may be."""

from __future__ import annotations

from datetime import timedelta

import pytest

from adapters.inmemory import InMemoryStore
from adapters.snowball import stem
from core.bot import Bot
from core.memory.archive import Archive
from core.memory.entities import Entities
from core.memory.keepmind import Keepmind, SummaryLimits
from core.memory.window import WindowLimits
from core.search.names import names_in
from tests.fakes import World

BLOCK = '<remembered what="earlier talk about what is named">'


def a_world(**more: int) -> World:
    small = Keepmind(WindowLimits(4, 2, 100_000, 50_000, 2), SummaryLimits(60, 300))
    return World(bot=Bot(memory=[small, Entities(**more), Archive()]), store=InMemoryStore(stem))  # type: ignore[arg-type]


async def long_ago(world: World, *texts: str, who: str = "anna", chat: str = "", group: bool = False) -> None:
    """Say things, and then so much else that they are no longer in the window."""
    for text in (*texts, *(f"today number {n} was fine" for n in range(5))):
        await world.say(text, who, chat, group=group)
        await world.settle()
        world.clock.time += timedelta(days=1)


def block(world: World) -> str:
    return world.prompt().partition(BLOCK)[2].partition("</remembered>")[0]


async def test_what_was_said_of_a_name_comes_back_newest_first() -> None:
    world = a_world()
    await long_ago(world, "I met Rex at the lake", "I like tea", "My dog is called Rex")
    await world.say("Is Rex hungry?")
    lines = block(world).strip().splitlines()
    assert [line.partition(" –")[0] for line in lines] == [
        "2026-03-03 anna: My dog is called Rex",
        "2026-03-01 anna: I met Rex at the lake",
    ]


@pytest.mark.parametrize(
    ("told", "asked"),
    [("พี่นัทไปทะเลกับฉัน", "วันนี้พี่นัทสบายดีไหม"), ("صديقي محمد عند البحيرة", "كيف حال محمد اليوم؟")],
)
async def test_names_without_capitals_come_back_too(told: str, asked: str) -> None:
    world = a_world()
    await long_ago(world, told)
    await world.say(asked)
    assert told in block(world)


async def test_nothing_comes_where_nothing_known_is_named() -> None:
    world = a_world()
    await long_ago(world, "I met Rex at the lake")
    await world.say("I like tea")
    assert block(world) == ""


async def test_what_is_in_sight_is_not_told_again() -> None:
    world = a_world()
    await world.say("I met Rex at the lake")
    await world.say("Is Rex hungry?")
    assert block(world) == ""


async def test_a_turn_is_told_once_whoever_recalls_it() -> None:
    world = a_world()
    await long_ago(world, "I met Rex at the lake with Rex")
    await world.say("Do you remember what I said about Rex?")
    assert world.prompt().count("anna: I met Rex at the lake with Rex") == 1


async def test_a_sentence_about_two_names_is_told_once() -> None:
    world = a_world()
    await long_ago(world, "At the lake I met Rex and Anna Berg")
    await world.say("Are Rex and Anna Berg friends?")
    assert world.prompt().count("anna: At the lake I met") == 1


async def test_no_more_comes_back_than_may_be() -> None:
    world = a_world(limit=2)
    await long_ago(world, *(f"Number {n} was Rex again" for n in range(6)))
    await world.say("Is Rex hungry?")
    assert len(block(world).strip().splitlines()) == 2


async def test_a_group_hears_nothing_that_was_said_elsewhere() -> None:
    world = a_world()
    await long_ago(world, "I met Rex at the lake")
    await long_ago(world, "We saw Rex in town", who="bob", chat="club", group=True)
    await world.say("Is Rex hungry?", "anna", "club", group=True)
    assert "in town" in block(world)
    assert "lake" not in block(world)


async def test_names_said_with_memory_off_are_not_noted() -> None:
    world = a_world()
    await world.say("/memory off")
    await long_ago(world, "I met Rex at the lake")
    await world.say("/memory on")
    await world.say("Is Rex hungry?")
    assert block(world) == ""


NAMES = [
    ("I went to Paris with Anna and Bob Smith. The dog barked.", ["Paris", "Anna", "Bob Smith"]),
    ("Rex is my dog. Tomatoes grow well.", ["Rex"]),
    ("My brother works at NASA and reads “War and Peace”.", ["War and Peace", "NASA"]),
    ("@anna_b said it", ["anna_b"]),
    ("Мы с Машей ездили в Санкт-Петербург. Вчера было хорошо.", ["Машей", "Санкт-Петербург"]),
    ("Mein Hund heißt Bello und ich fahre nach Berlin. Das Haus ist groß.", ["Bello", "Berlin"]),
    ("我的猫叫小白，今年三岁。", ["小白"]),
    ("我去北京旅行，在看《红楼梦》", ["红楼梦", "北京"]),
    ("田中さんと犬のポチという犬", ["田中", "ポチ"]),
    ("우리 고양이 이름은 나비예요.", ["나비"]),
    ("ฉันเจอคุณสมชายที่เชียงใหม่เมื่อวานนี้", ["สมชาย"]),
    ("พี่นัทไปกับน้องแพร แมวชื่อมะลิ", ["นัท", "แพร", "มะลิ"]),
    ("คุณชอบอะไร", []),
    ("صديقي محمد يعيش في دبي", ["محمد", "دبي"]),
    ("عمي خالد وأختي مريم يعملان في شركة أرامكو", ["خالد", "مريم", "أرامكو"]),
    ("زوجتي تحب القهوة", []),
    ("the weather is nice today", []),
    ("STOP SHOUTING", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "names"), NAMES)
def test_names_are_found_by_how_they_are_written(text: str, names: list[str]) -> None:
    assert set(names) <= set(names_in(text))
    assert len(names_in(text)) <= len(names) + 1
