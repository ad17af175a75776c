"""Facts from private are used in groups, and those of groups in private, only when their person said so."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.fakes import World
from tests.talks import a_world, facts, prepare, results, tell, writing

CLUB: dict[str, Any] = {"chat": "club", "group": True}
YARD: dict[str, Any] = {"chat": "yard", "group": True}


async def two_places() -> World:
    """A bot that knows Anna's city from private and a hobby from a group."""
    world = a_world()
    await tell(world, "I live in Rome", ("add", "city", "Rome"))
    await tell(world, "I play chess", ("add", "hobbies", "chess"), **CLUB)
    return world


async def test_nothing_is_shared_unless_said() -> None:
    world = await two_places()
    assert "stays there" in await world.said("/memory share")
    await world.say("hi", **CLUB)
    assert "Rome" not in world.prompt()
    await world.say("hi")
    assert "chess" not in world.prompt()


async def test_what_is_shared_is_used_in_private_and_in_groups() -> None:
    world = await two_places()
    assert await world.said("/memory share on") == await world.said("/memory share")
    await world.say("hi", **CLUB)
    assert '"city": "Rome"' in world.prompt()
    await world.say("hi")
    assert '"hobbies": "chess"' in world.prompt()
    await world.say("hi", **YARD)
    assert '"city": "Rome"' in world.prompt()
    assert "chess" not in world.prompt(), "one group's facts are not another's"


async def test_it_ends_when_said() -> None:
    world = await two_places()
    await world.say("/memory share on")
    await world.say("/memory share off")
    await world.say("hi", **CLUB)
    assert "Rome" not in world.prompt()


async def test_nobody_elses_facts_are_shared_with_ones_own() -> None:
    world = await two_places()
    await world.say("/memory share on")
    await world.say("hi", who="bob", **CLUB)
    assert "Rome" not in world.prompt()
    await world.say("hi", who="bob")
    assert "chess" not in world.prompt()


async def test_of_two_single_values_the_newer_counts_and_lists_are_joined() -> None:
    world = await two_places()
    await world.say("/memory share on")
    world.clock.time += timedelta(minutes=1)
    await tell(world, "I moved to Milan and play go", ("change", "city", "Milan"), ("add", "hobbies", "go"), **CLUB)
    await world.say("hi")
    assert '"city": "Milan"' in world.prompt()
    assert '"hobbies": ["chess", "go"]' in world.prompt()
    world.clock.time += timedelta(minutes=1)
    await world.say("/memory set city Turin")
    await world.say("hi", **CLUB)
    assert '"city": "Turin"' in world.prompt()


async def test_what_is_written_is_written_where_it_is_said() -> None:
    world = await two_places()
    await world.say("/memory share on")
    await tell(world, "I moved to Milan", ("change", "city", "Milan"), **CLUB)
    assert await facts(world) == {"city": "Rome"}
    assert (await facts(world, "anna", "club", group=True))["city"] == "Milan"


async def test_the_model_is_told_where_a_shared_fact_can_be_removed() -> None:
    world = await two_places()
    await world.say("/memory share on")
    prepare(world, writing(("remove", "city", ""), text=""))
    await world.say("forget my city", **CLUB)
    assert results(world)[-1].startswith("not found here: city is kept where the person told it")
    assert await facts(world) == {"city": "Rome"}


async def test_the_card_shows_where_a_fact_lives_and_why_works_for_it() -> None:
    world = await two_places()
    await world.say("/memory share on")
    card = await world.said("/memory")
    assert "Known from the group test:club, and used here too:\nhobbies: chess" in card
    assert "you said: «I play chess»" in await world.said("/memory why hobbies")
    assert "I know 'hobbies' from the group test:club" in await world.said("/forget hobbies")
    assert "Known from our private talk, and used here too:\ncity: Rome" in await world.said("/memory", **CLUB)
    await world.say("hi")
    assert "test:anna, private; test:anna, test:club" in await world.said("/memory explain")


async def test_with_memory_off_nothing_is_used_though_shared() -> None:
    world = await two_places()
    await world.say("/memory share on")
    await world.say("/memory off")
    await world.say("hi", **CLUB)
    assert "Rome" not in world.prompt()
    assert world.llm.of("answer")[-1].tools == ()
