"""Each person is spoken to in their own language."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from core import sentences
from core.bot import Bot
from core.commands.command import Context, command
from core.errors import LLMRejected
from core.llm import Completion
from core.translation import ENGLISH, known, speaking, spoken
from tests.driving import hold, until
from tests.fakes import World


def said_in(language: str, sentence: str, **values: object) -> str:
    with speaking(language):
        return spoken(sentence, **values)


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("ru", "ru"),
        ("ru-RU", "ru"),
        ("RU_ru", "ru"),
        ("zh", "zh"),
        ("zh-hans", "zh"),
        ("zh_CN", "zh"),
        ("zh-TW", "zh"),
        ("zh-Hans-CN", "zh"),
        ("en-GB", ENGLISH),
        ("xx", ENGLISH),
        ("", ENGLISH),
        ("../ru", ENGLISH),
        ("russian", ENGLISH),
        ("-" * 10_000, ENGLISH),
    ],
)
def test_a_tag_finds_its_catalogue_and_an_unknown_one_is_english(tag: str, language: str) -> None:
    assert known(tag) == language


def test_a_language_is_spoken_until_its_block_is_left() -> None:
    with speaking("ru"):
        with speaking("zh"):
            assert spoken("Done.") == "好了。"
        assert spoken("Done.") == "Готово."
    assert spoken("Done.") == "Done."


def test_what_nobody_has_translated_is_said_as_it_stands() -> None:
    assert said_in("ru", "Ahoy, {who}!", who="Ann") == "Ahoy, Ann!"
    assert said_in("ru", "{braces} stay") == "{braces} stay"
    assert said_in("ru", "") == ""


@pytest.mark.parametrize(("language", "word"), [("ru-RU", "Здравствуйте"), ("zh-hans", "您好"), ("xx", "Hello")])
async def test_a_command_answers_in_the_callers_language(language: str, word: str) -> None:
    assert word in await World().said("/start", language=language)


async def test_each_in_a_group_is_answered_in_their_own_language() -> None:
    world = World()
    tongues = {"anna": "ru", "bao": "zh-hans", "carl": "de", "dora": ""}
    asked = [
        world.said("/privacy", who=who, chat="club", group=True, language=language) for who, language in tongues.items()
    ]
    told = await asyncio.gather(*asked)
    assert told[0].startswith("Я храню")
    assert told[1].startswith("我会保存")
    assert told[2] == told[3]
    assert told[3].startswith("I keep")


async def test_one_persons_language_never_sticks_to_anothers_apology_in_the_same_lane() -> None:
    world = World()
    world.llm.answer = lambda request: LLMRejected("no")
    gate = hold(world)
    gate.set()
    club = {"chat": "club", "group": True}
    said = [
        world.said(f"hello {n}", who=who, language=language, **club)  # type: ignore[arg-type]
        for n in range(5)
        for who, language in (("anna", "ru"), ("bob", "en"), ("bao", "zh"))
    ]
    told = await asyncio.gather(*said)
    assert told == [said_in(language, sentences.APOLOGY_REJECTED) for _ in range(5) for language in ("ru", "en", "zh")]


async def test_a_mark_under_an_answer_is_in_the_language_of_the_question() -> None:
    world = World()
    world.llm.answer = lambda request: Completion("half an ans", finish="length")
    mark = said_in("ru", sentences.CUT_OFF)
    assert await world.said("говори", language="ru") == f"half an ans\n\n{mark}"
    assert world.adapter.texts() == [f"half an ans\n\n{mark}"]
    await world.say("и ещё", language="ru")
    assert mark not in world.prompt(), "what the model reads of it stays English"


async def test_after_a_restart_a_turn_is_closed_in_the_language_of_its_message() -> None:
    world = World()
    gate = hold(world)
    saying = asyncio.create_task(world.say("привет", language="ru"))
    await until(lambda: gate.waiting)
    await world.engine.aclose(0)
    await saying
    world.clock.time += timedelta(hours=7)
    await world.restart().recover()
    await until(lambda: world.adapter.shown)
    assert world.adapter.texts() == [said_in("ru", sentences.TOO_OLD)]


async def test_a_stranger_is_refused_in_their_language() -> None:
    world = World(allowed=())
    await world.say("привет", language="ru")
    assert world.adapter.texts()[0].startswith("Мы с вами ещё не знакомы")


async def test_what_a_person_said_and_what_is_kept_is_never_translated() -> None:
    world = World()
    assert await world.said("/memory set nothing Done.", language="ru") == "Сохранено. nothing: Done."
    card = await world.said("/memory", language="ru")
    assert card.startswith("nothing: Done.\n")
    assert "В этом чате я помню 0 обменов репликами." in card
    assert await world.said("/memory why nothing", language="ru") == (
        "nothing = Done.: 2026-03-01 вы ввели это сами (записано вами)"
    )


async def test_why_a_fact_can_not_be_kept_is_told_in_the_persons_language() -> None:
    said = await World().said("/memory set password hunter2", language="ru")
    assert said == "Я не могу это сохранить: пароли, номера карт, ключи и токены никогда не сохраняются."


async def test_help_names_commands_as_they_are_written_and_says_what_they_do() -> None:
    @command
    async def roll(context: Context, dice: int) -> str:
        """Roll dice."""
        return "6"

    lines = (await World(bot=Bot(commands=[roll])).said("/help", language="ru")).splitlines()
    assert "/memory why КЛЮЧ – Рассказать вашими же словами, откуда взялся факт." in lines
    assert "/roll DICE – Roll dice." in lines, "what nobody has translated stays as it was declared"


async def test_the_default_is_spoken_to_whom_no_language_is_known_of() -> None:
    world = World()
    world.engine.language = "ru"
    assert await world.said("/stop") == "Сейчас ничего не выполняется."
    assert await world.said("/stop", language="en") == "Nothing is running."
    assert await world.said("/stop", language="xx") == "Nothing is running."


async def test_the_prompt_is_the_same_in_every_language() -> None:
    world = World()
    await world.say("привет", language="ru")
    other = World()
    await other.say("привет", language="en")
    assert world.prompt() == other.prompt()
