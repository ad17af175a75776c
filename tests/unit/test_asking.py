"""Who wants to be asked: a fact is stored only when its person says so, now or after a restart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from core.adapter import Outgoing
from core.llm import Completion
from core.messages import Person
from tests.fakes import World
from tests.talks import a_world, facts, here, prepare, results, tell, writing

CLUB: dict[str, Any] = {"chat": "club", "group": True}


async def asking() -> World:
    """A bot that Anna has told to ask."""
    world = a_world()
    await world.say("/memory ask")
    return world


def shown(world: World) -> Sequence[Outgoing]:
    """Give what was proposed."""
    return [s.out for s in world.adapter.shown if s.out.text.startswith("May I ")]


async def press(world: World, out: Outgoing, label: str, **more: Any) -> str:
    """Say what a button says."""
    return await world.said(next(c.command for c in out.choices if c.label == label), **more)


async def test_a_fact_is_proposed_and_stored_only_when_saved() -> None:
    world = await asking()
    await tell(world, "I live in Rome", ("add", "city", "Rome"))
    assert await facts(world) == {}
    (proposed,) = shown(world)
    assert proposed.text == "May I remember this about you?\ncity: Rome"
    assert [c.label for c in proposed.choices] == ["Save", "Discard"]
    assert proposed.asker == Person("test", "anna")
    assert await press(world, proposed, "Save") == "Saved. city: Rome"
    assert await facts(world) == {"city": "Rome"}
    assert "you said: «I live in Rome» (written by: model)" in await world.said("/memory why city")


async def test_what_is_discarded_is_not_stored() -> None:
    world = await asking()
    await tell(world, "I live in Rome", ("add", "city", "Rome"))
    assert await press(world, shown(world)[0], "Discard") == "All right, I leave it as it is."
    assert await facts(world) == {}
    assert await world.said("/memory history") == "Nothing has changed yet."


async def test_each_fact_is_asked_about_by_itself() -> None:
    world = await asking()
    await tell(world, "I am Ann from Rome and play chess", ("add", "name", "Ann"), ("add", "hobbies", ["chess"]))
    first, second = shown(world)
    await press(world, second, "Save")
    assert await facts(world) == {"hobbies": "chess"}
    await press(world, first, "Save")
    assert await facts(world) == {"hobbies": "chess", "name": "Ann"}


async def test_it_is_saved_after_a_restart_and_only_once() -> None:
    world = await asking()
    await tell(world, "I live in Rome", ("add", "city", "Rome"))
    world.restart()
    for _ in range(2):
        assert await press(world, shown(world)[0], "Save") == "Saved. city: Rome"
    assert (await world.said("/memory history")).count("city") == 1


async def test_what_was_known_is_changed_and_removed_only_when_agreed() -> None:
    world = a_world()
    await tell(world, "I play chess and go in Rome", ("add", "hobbies", ["chess", "go"]), ("add", "city", "Rome"))
    await world.say("/memory ask")
    await tell(world, "No go, and I moved to Milan", ("remove", "hobbies", "go"), ("change", "city", "Milan"))
    await tell(world, "Forget my hobbies", ("remove", "hobbies", ""))
    assert await facts(world) == {"hobbies": ["chess", "go"], "city": "Rome"}
    item, city, hobbies = shown(world)
    assert item.text == "May I forget this about you?\nhobbies: go"
    assert [c.label for c in item.choices] == ["Forget it", "Keep it"]
    assert await press(world, item, "Forget it") == "Saved. hobbies: chess"
    await press(world, city, "Save")
    assert await press(world, hobbies, "Forget it") == "Forgotten: hobbies"
    assert await facts(world) == {"city": "Milan"}


async def test_a_list_takes_what_is_saved_beside_what_came_meanwhile() -> None:
    world = await asking()
    await tell(world, "I play chess", ("add", "hobbies", "chess"))
    await tell(world, "I play go", ("add", "hobbies", "go"))
    for proposed in shown(world):
        await press(world, proposed, "Save")
    assert await facts(world) == {"hobbies": ["chess", "go"]}


async def test_the_model_is_told_that_nothing_is_saved_yet() -> None:
    world = await asking()
    prepare(world, writing(("add", "city", "Rome"), text=""))
    await world.say("I live in Rome")
    assert results(world) == ["proposed, NOT saved yet: city; the person is asked whether they agree"]


async def test_the_same_proposed_twice_in_a_turn_is_asked_once() -> None:
    world = await asking()
    prepare(world, writing(("add", "city", "Rome"), text=""), writing(("+", "city", "Rome"), text="Noted."))
    await world.say("I live in Rome")
    assert len(shown(world)) == 1


async def test_in_a_group_it_is_shown_to_them_alone_and_saved_there() -> None:
    world = await asking()
    await tell(world, "I live in Rome", ("add", "city", "Rome"), **CLUB)
    (proposed,) = shown(world)
    assert proposed.only_for == Person("test", "anna")
    await press(world, proposed, "Save", **CLUB)
    assert await facts(world, "anna", "club", group=True) == {"city": "Rome"}
    assert await facts(world) == {}


async def test_nobody_else_can_save_it() -> None:
    world = await asking()
    await tell(world, "I live in Rome", ("add", "city", "Rome"), **CLUB)
    assert "I can't keep it" in await press(world, shown(world)[0], "Save", who="bob", **CLUB)
    assert await facts(world, "bob", "club", group=True) == {}
    assert await facts(world, "anna", "club", group=True) == {}


async def test_what_is_forgotten_can_not_be_saved_any_more() -> None:
    world = await asking()
    await tell(world, "I live in Rome", ("add", "city", "Rome"))
    await world.say("/forget last")
    assert "I can't keep it" in await press(world, shown(world)[0], "Save")
    assert await facts(world) == {}


async def test_a_stopped_chat_can_still_save_what_was_proposed_before() -> None:
    world = await asking()
    await tell(world, "I live in Rome", ("add", "city", "Rome"))
    await world.say("/stop")
    assert await press(world, shown(world)[0], "Save") == "Saved. city: Rome"


async def test_with_memory_off_meanwhile_nothing_is_saved() -> None:
    world = await asking()
    await tell(world, "I live in Rome", ("add", "city", "Rome"))
    await world.say("/memory off")
    assert "Memory is off" in await press(world, shown(world)[0], "Save")
    assert await facts(world) == {}


async def test_what_an_extraction_finds_is_proposed_too() -> None:
    world = await asking()
    world.llm.calls_tools = False
    found = {"facts": [{"key": "city", "value": "Rome", "quote": "I live in Rome"}]}
    world.llm.extract = lambda request: Completion(json.dumps(found))
    await world.say("I live in Rome")
    await world.settle()
    assert await facts(world) == {}
    assert await press(world, shown(world)[0], "Save") == "Saved. city: Rome"
    assert "written by: extraction" in await world.said("/memory why city")


@pytest.mark.parametrize(
    "proposal",
    [
        "",
        "nonsense",
        '{"action":"add","key":"city","values":"Rome"}',
        '{"action":"clear","key":"city","values":[]}',
        '{"action":"add","key":"city","values":["Paris"],"by":"person"}',
        '{"action":"add","key":"password","values":["Rome"]}',
    ],
)
async def test_a_made_up_proposal_is_refused(proposal: str) -> None:
    world = await asking()
    await tell(world, "He said:", ("add", "city", "Rome"))
    turn = (await here(world)).turns[0]
    assert "Saved" not in await world.said(f"/memory save {turn.id} {proposal}")
    assert await facts(world) == {}


async def test_asking_is_shown_on_the_card_and_ended_by_on() -> None:
    world = await asking()
    assert "I ask you before I keep a fact." in await world.said("/memory")
    await world.say("/memory on")
    await tell(world, "I live in Rome", ("add", "city", "Rome"))
    assert await facts(world) == {"city": "Rome"}
    assert not shown(world)


async def test_asking_after_off_learns_from_then_on() -> None:
    world = a_world()
    await world.say("/memory off")
    await world.say("/memory ask")
    assert (await world.store.settings(Person("test", "anna"))).since == world.clock.now()
