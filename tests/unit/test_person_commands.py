"""What everyone may see, correct and erase of what is kept about them."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import timedelta
from typing import Any

import pytest

from core.messages import ChatKey, Person
from tests.driving import until
from tests.fakes import World
from tests.talks import a_world, facts, here, prepare, tell, writing

ANNA, BOB = Person("test", "anna"), Person("test", "bob")
CLUB: dict[str, Any] = {"chat": "club", "group": True}


async def known(world: World) -> None:
    """Let the bot know something about anna."""
    await tell(world, "My name is Anna. I play chess", ("add", "name", "Anna"), ("add", "hobbies", "chess"))
    await tell(world, "I also play go", ("add", "hobbies", "go"))


async def exported(world: World, who: str = "anna", **more: Any) -> dict[str, Any]:
    reply = await world.say("/export", who, **more)
    assert reply is not None
    assert reply.file is not None
    data: dict[str, Any] = json.loads(reply.file.data)
    return data


async def test_the_card_shows_the_facts_and_how_to_go_on() -> None:
    world = a_world()
    assert await world.said("/memory") == "I know no facts about you yet.\nOf this chat I remember 0 turns."
    await known(world)
    card = await world.said("/memory")
    assert card.startswith("hobbies: chess, go\nname: Anna\n")
    assert "/memory why KEY" in card
    assert "Of this chat I remember 2 turns." in card


async def test_an_unknown_word_after_memory_is_told() -> None:
    assert (
        await World().said("/memory " + "x" * 5000)
        == f"I don't know /memory {'x' * 40}. /help lists what I understand."
    )


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("/memry why age", "I don't know /memry. Did you mean /memory?"),
        ("/FORGT", "I don't know /FORGT. Did you mean /forget?"),
        ("/admn", "I don't know /admn. /help lists what I understand."),
        ("/frobnicate", "I don't know /frobnicate. /help lists what I understand."),
    ],
)
async def test_a_misspelt_command_is_answered_with_the_one_that_is_like_it(text: str, reply: str) -> None:
    assert await World().said(text) == reply


async def test_why_quotes_each_item_of_a_list() -> None:
    world = a_world()
    await known(world)
    assert (await world.said("/memory why Hobbies")).splitlines() == [
        "hobbies = chess: on 2026-03-01 you said: «I play chess» (written by: model)",
        "hobbies = go: on 2026-03-01 you said: «I also play go» (written by: model)",
    ]


async def test_a_key_of_several_words_is_found_and_forgotten() -> None:
    world = a_world()
    await tell(world, "My favourite food is rice", ("add", "favourite food", "rice"), ("add", "last name", "Li"))
    assert "rice" in await world.said("/memory why  Favourite   Food")
    assert "facts: 1" in await world.said("/forget favourite food")
    assert "facts: 1" in await world.said("/forget last name")
    assert await facts(world) == {}
    assert len((await here(world)).turns) == 1, "forgetting a last name is not forgetting the last turn"


@pytest.mark.parametrize(
    "command", ["/memory why car", "/forget car", "/forget me now", "/forget chat room", "/forget 🦊"]
)
async def test_what_is_not_known_is_told_with_what_is(command: str) -> None:
    world = a_world()
    await known(world)
    assert "I know: hobbies, name." in await world.said(command)
    assert len(await facts(world)) == 2


async def test_undo_goes_back_one_change_each_time_and_a_new_change_is_next() -> None:
    world = a_world()
    await known(world)
    assert await world.said("/memory undo") == "Taken back. hobbies is now: chess"
    await tell(world, "I play poker", ("add", "hobbies", "poker"))
    assert await facts(world) == {"name": "Anna", "hobbies": ["chess", "poker"]}
    await world.said("/memory undo")
    assert await world.said("/memory undo") == "Taken back. hobbies is now: nothing"
    assert await world.said("/memory undo") == "Taken back. name is now: nothing"
    assert await facts(world) == {}
    assert await world.said("/memory undo") == "There is nothing to take back."
    assert (await world.said("/memory history")).count("undo") == 4


async def test_undo_brings_back_what_the_model_removed() -> None:
    world = a_world()
    await known(world)
    await tell(world, "I stopped", ("remove", "hobbies", ""))
    await world.said("/memory undo")
    assert (await facts(world))["hobbies"] == ["chess", "go"]
    assert "I also play go" in await world.said("/memory why hobbies")


async def test_nothing_erased_is_seen_in_the_history_or_comes_back_by_undo() -> None:
    world = a_world()
    await tell(world, "I am Ann", ("add", "name", "Ann"))
    await tell(world, "no, call me Bea", ("change", "name", "Bea"))
    await tell(world, "no name at all", ("remove", "name", ""))
    assert "Ann → Bea" in await world.said("/memory history")
    assert await world.said("/forget name") == "Erased: changes: 3."
    assert await world.said("/memory history") == "Nothing has changed yet."
    assert await world.said("/memory undo") == "There is nothing to take back."
    assert "I know no facts about you yet" in await world.said("/forget name")


async def test_clearing_asks_first_and_takes_the_history_along() -> None:
    world = a_world()
    await known(world)
    await tell(world, "not Anna", ("remove", "name", ""))
    reply = await world.say("/memory clear")
    assert reply is not None
    assert await facts(world)
    assert await world.said(reply.choices[0].command) == "Erased: changes: 4, facts: 1."
    assert await world.said("/memory history") == "Nothing has changed yet."
    assert await world.store.holds("chess") == ["turn"]
    assert len((await here(world)).turns) == 3


async def test_forgetting_the_last_turn_takes_its_facts() -> None:
    world = a_world()
    await known(world)
    assert "turns: 1" in await world.said("/forget last")
    assert await facts(world) == {"name": "Anna", "hobbies": ["chess"]}
    assert not await world.store.holds("also play")
    await world.said("/forget last")
    assert await world.said("/forget last") == "There is no turn of yours that I remember."


async def test_the_last_turn_is_found_though_it_is_folded() -> None:
    world = a_world()
    for n in range(30):
        await world.say(f"line {n}")
    await world.say("and mine", who="bob", chat="anna")
    chat = (await here(world)).chat
    for _ in range(3):
        await world.engine.compactor.compact(chat, low=True)
    turns = [t.id for t in (await here(world)).turns]
    for _ in range(len(turns) + 1):
        assert "turns: 1" in await world.said("/forget last")
    assert await world.store.holds("and mine")
    assert not await world.store.verify()


async def test_forgetting_the_last_turn_in_a_group_takes_only_ones_own() -> None:
    world = a_world()
    await world.say("annas words", **CLUB)
    await world.say("bobs words", who="bob", **CLUB)
    await world.say("/forget last", **CLUB)
    assert await world.store.holds("bobs words")
    assert not await world.store.holds("annas words")


async def test_forgetting_a_chat_asks_first_and_is_for_private_chats() -> None:
    world = a_world()
    await known(world)
    reply = await world.say("/forget chat")
    assert reply is not None
    assert "turns: 2" in await world.said(reply.choices[0].command)
    assert await facts(world) == {}
    assert "by an admin" in await world.said("/forget chat yes", **CLUB)


async def test_forgetting_me_asks_once_then_nothing_is_left_anywhere() -> None:
    world = a_world()
    await tell(world, "I am Zebulon", ("add", "name", "Zebulon"))
    await tell(world, "Zebulon here", ("add", "nick", "Zebulon"), **CLUB)
    await world.say("bobs words", who="bob", **CLUB)
    await world.say("/memory off", chat="other")
    await world.say("Zebulon again", chat="second")
    await world.engine.compactor.compact(ChatKey("test", "second"), low=True)
    reply = await world.say("/forget me", **CLUB)
    assert reply is not None
    assert await world.store.holds("Zebulon")
    receipt = await world.said(reply.choices[0].command, **CLUB)
    assert receipt.startswith("Erased: ")
    assert "turns: 3" in receipt
    assert await world.store.holds("Zebulon") == []
    assert await world.store.holds("bobs words")
    assert "Zebulon" not in json.dumps(await exported(world))
    assert "Zebulon" not in repr(vars(world.engine.shared))
    assert await world.said("/forget me yes") == "There was nothing to erase."
    assert not await world.store.verify()


@pytest.mark.parametrize("command", ["/forget me yes", "/forget last", "/forget name"])
async def test_forgetting_in_a_group_costs_nobody_else_their_answer(command: str) -> None:
    world = a_world()
    await tell(world, "I am Anna", ("add", "name", "Anna"), **CLUB)
    world.llm.gate = asyncio.Event()
    running = asyncio.create_task(world.said("bob asks", who="bob", **CLUB))
    await until(lambda: len(world.llm.requests) == 2)
    assert (await world.said(command, **CLUB)).startswith("Erased")
    world.llm.gate.set()
    assert "bob asks" in await running
    assert await facts(world, "anna", "club", group=True) == {}


@pytest.mark.parametrize("elsewhere", [True, False])
@pytest.mark.parametrize("place", [{}, CLUB])
async def test_an_answer_still_being_written_is_not_written_back(place: dict[str, Any], elsewhere: bool) -> None:
    world = a_world()
    await tell(world, "hello", **place)
    world.llm.gate = asyncio.Event()
    prepare(world, writing(("add", "name", "Zebulon"), text="Zebulon!"))
    running = asyncio.create_task(world.say("I am Zebulon", **place))
    await until(lambda: len(world.llm.requests) == 2)
    receipt = await world.said("/forget me yes", **({"chat": "elsewhere"} if elsewhere else place))
    world.llm.gate.set()
    await running
    await world.settle()
    assert receipt.startswith("Erased")
    assert await world.store.holds("Zebulon") == []
    assert await world.said("hello again", **place)


async def test_the_export_holds_everything_of_the_person_and_nothing_of_others() -> None:
    world = a_world()
    await known(world)
    await tell(world, "I am Annie here", ("add", "nick", "Annie"), **CLUB)
    await tell(world, "bobs secret", ("add", "name", "Bobby"), who="bob", **CLUB)
    for n in range(30):
        await world.say(f"line {n}")
    world.llm.summary = lambda request: type(world.llm.answer(request))("They spoke of lines.")
    await world.engine.compactor.compact(ChatKey("test", "anna"), low=True)
    await world.say("/memory off")
    text = json.dumps(data := await exported(world), ensure_ascii=False)
    assert data["schema"] == "keepmind/export/1"
    for part in (
        "Anna",
        "I also play go",
        "Annie",
        "You said: line 29",
        "line 0",
        "They spoke of lines.",
        '"off"',
        "chess",
    ):
        assert part in text, part
    assert "obby" not in text
    assert "bobs secret" not in text


async def test_an_export_goes_to_the_person_alone() -> None:
    world = a_world()
    await world.say("/export", **CLUB)
    shown = world.adapter.shown[-1].out
    assert shown.only_for == ANNA
    assert shown.file is not None
    assert shown.file.name == "keepmind-export-20260301-120000.json"


@pytest.mark.parametrize(
    "command",
    [
        "/memory", "/memory x", "/memory why x", "/memory history", "/memory undo", "/memory explain", "/memory on",
        "/memory off", "/memory clear", "/memory clear yes", "/forget x", "/forget me", "/forget last",
        "/forget chat", "/forget", "/export", "/admin stats", "/admin nonsense",
    ],
)  # fmt: skip
async def test_what_concerns_one_person_is_told_to_them_alone(command: str) -> None:
    world = a_world()
    await world.say(command, **CLUB)
    assert [s.out.only_for for s in world.adapter.shown] == [ANNA]
    await world.say(command)
    assert world.adapter.shown[-1].out.only_for is None


async def test_each_sees_only_their_own_memory() -> None:
    world = a_world()
    await known(world)
    for command in ("/memory", "/memory anna", "/memory why name", "/memory history", "/memory test:anna"):
        assert "Anna" not in await world.said(command, who="bob")
    assert await world.said("/forget name", who="bob") == "I know nothing called 'name'. I know no facts about you yet."
    assert (await facts(world))["name"] == "Anna"


@pytest.mark.parametrize(
    "command",
    [
        "/memory", "/memory history", "/memory off", "/memory undo", "/forget me yes", "/forget last", "/export",
        "/admin stats",
    ],
)  # fmt: skip
async def test_nobody_in_particular_has_no_memory_and_is_told_so_openly(command: str) -> None:
    world = a_world()
    await world.say("words of one of the admins", who="channel", anonymous=True, **CLUB)
    reply = await world.say(command, who="channel", anonymous=True, **CLUB)
    assert reply is not None
    assert "nobody in particular" in reply.text
    assert world.adapter.shown[-1].out.only_for is None
    assert await world.store.holds("words of one of the admins")
    assert (await world.store.settings(Person("test", "channel"))).memory == "on"


async def test_memory_is_switched_for_the_person_everywhere() -> None:
    world = a_world()
    await known(world)
    await world.say("/memory off", **CLUB)
    await world.say("hi")
    assert "known facts" not in world.prompt()
    await world.say("/memory on")
    await world.say("hi")
    assert '"name": "Anna"\n' in world.prompt()


async def test_explain_tells_parts_origins_and_costs() -> None:
    world = a_world()
    assert "not been asked" in await world.said("/memory explain")
    await known(world)
    told = await world.said("/memory explain")
    assert "known facts about the person – test:anna, private – " in told
    assert told.splitlines()[-1].startswith("in all ")
    assert told.startswith("persona – "), told
    assert "persona – persona" not in told, "what has no other origin than its label is named once"
    assert "Anna" not in told.replace("test:anna", "")


async def test_explain_speaks_the_language_of_who_asks() -> None:
    world = a_world()
    await world.say("привет", language="ru")
    await world.say("и ещё", language="ru")
    told = await world.said("/memory explain", language="ru")
    assert "окно – 1 реплика этого чата – " in told
    assert not re.search("[a-z]", told), told


async def test_explain_works_after_a_restart() -> None:
    world = a_world()
    await known(world)
    told = await world.said("/memory explain")
    world.restart()
    asked = len(world.llm.requests)
    again = await world.said("/memory explain")
    assert [row.split(" – ")[:2] for row in again.splitlines()[:-1]] == [
        row.split(" – ")[:2] for row in told.splitlines()[:-1]
    ]
    assert len(world.llm.requests) == asked


async def test_stop_says_whether_something_ran() -> None:
    world = a_world()
    assert await world.said("/stop") == "Nothing is running."
    world.llm.gate = asyncio.Event()
    running = asyncio.create_task(world.say("a long story"))
    await until(lambda: world.llm.requests)
    assert await world.said("/stop") == "Stopped. What you said is kept."
    world.llm.gate.set()
    await running
    assert await world.store.holds("a long story")


async def test_start_and_privacy_promise_only_what_is_so() -> None:
    world = World()
    assert "/privacy" in await world.said("/start")
    privacy = await world.said("/privacy")
    for command in ("/memory", "/export", "/forget me"):
        assert command in privacy


async def test_an_undone_fact_is_not_learned_again_from_the_same_words() -> None:
    world = a_world()
    await known(world)
    await world.say("/memory undo")
    world.clock.time += timedelta(minutes=31)
    await world.engine.compactor.compact_quiet()
    assert not world.llm.of("extract")
