"""A person's accounts, linked as a view: known together in private, kept apart, and parted again."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import timedelta
from typing import Any

import pytest

from core.linking import MOST_LINKED, WRONG_PER_HOUR
from core.messages import ChatKey, Person
from tests.driving import until
from tests.fakes import World
from tests.talks import a_world, facts, prepare, results, tell, writing

CLUB: dict[str, Any] = {"chat": "club", "group": True}
ANNA, ANN2 = Person("test", "anna"), Person("test", "ann2")


async def code_of(world: World, who: str = "anna") -> str:
    found = re.search(r"/link (\w+)", await world.said("/link", who))
    assert found is not None
    return found[1]


async def link(world: World, one: str = "anna", other: str = "ann2") -> str:
    """Link two accounts as a person would."""
    asked = await world.say(f"/link {await code_of(world, one)}", other)
    assert asked is not None
    return await world.said(asked.choices[0].command, other)


async def two_accounts() -> World:
    """A bot that knows Anna's city by one account and her hobby by another, linked."""
    world = a_world()
    await tell(world, "I live in Rome", ("add", "city", "Rome"))
    await tell(world, "I play chess", ("add", "hobbies", "chess"), who="ann2")
    await link(world)
    return world


async def test_linking_asks_first_and_is_confirmed_in_both_accounts() -> None:
    world = a_world()
    code = await code_of(world)
    asked = await world.say(f"/link {code}", "ann2")
    assert asked is not None
    assert "This links this account with test:anna" in asked.text
    assert await world.store.linked(ANNA) == []
    assert (await world.said(f"/link {code.lower()} yes", "ann2")).startswith("Linked: in private, this account and te")
    await until(lambda: any("test:ann2 is linked" in text for text in world.adapter.texts(ChatKey("test", "anna"))))
    assert world.adapter.shown[-1].out.only_for == ANNA
    assert await world.store.linked(ANNA) == [ANN2]


async def test_facts_of_linked_accounts_are_recalled_together_in_private() -> None:
    world = await two_accounts()
    for who in ("anna", "ann2"):
        await world.say("hi", who)
        assert '"city": "Rome"' in world.prompt()
        assert '"hobbies": "chess"' in world.prompt()


async def test_nothing_of_a_linked_account_enters_a_group_unless_both_share() -> None:
    world = await two_accounts()
    await world.say("hi", **CLUB)
    assert "chess" not in world.prompt()
    await world.say("/memory share on")
    await world.say("hi", **CLUB)
    assert "Rome" in world.prompt()
    assert "chess" not in world.prompt()
    await world.say("/memory share on", "ann2")
    await world.say("hi", **CLUB)
    assert "chess" in world.prompt()


async def test_the_talk_of_a_linked_account_is_not_shown() -> None:
    world = await two_accounts()
    await world.say("zanzibar", "ann2")
    await world.say("hi")
    assert "zanzibar" not in world.prompt()


async def test_writes_go_to_the_account_that_talks_and_the_newer_value_counts() -> None:
    world = await two_accounts()
    world.clock.time += timedelta(minutes=1)
    await tell(world, "I moved to Milan", ("change", "city", "Milan"), who="ann2")
    assert await facts(world) == {"city": "Rome"}
    assert (await facts(world, "ann2"))["city"] == "Milan"
    await world.say("hi")
    assert '"city": "Milan"' in world.prompt()
    world.clock.time += timedelta(minutes=1)
    await world.say("/memory set city Turin")
    await world.say("hi", "ann2")
    assert '"city": "Turin"' in world.prompt()


async def test_the_card_shows_where_a_fact_lives() -> None:
    world = await two_accounts()
    assert "Known from your account test:ann2, and used here too:\nhobbies: chess" in await world.said("/memory")
    assert "you said: «I play chess»" in await world.said("/memory why hobbies")
    assert "I know 'hobbies' from your account test:ann2" in await world.said("/forget hobbies")
    prepare(world, writing(("remove", "hobbies", ""), text=""))
    await world.say("forget my hobbies")
    assert results(world)[-1].startswith("not found here")


async def test_an_account_with_memory_off_gives_and_takes_nothing() -> None:
    world = await two_accounts()
    await world.say("/memory off", "ann2")
    await world.say("hi")
    assert "chess" not in world.prompt()
    await world.say("hi", "ann2")
    assert "Rome" not in world.prompt()


async def test_unlinking_ends_it_and_moves_nothing() -> None:
    world = await two_accounts()
    assert "Unlinked" in await world.said("/unlink")
    await until(lambda: any("is not linked any more" in t for t in world.adapter.texts(ChatKey("test", "ann2"))))
    assert await facts(world) == {"city": "Rome"}
    assert await facts(world, "ann2") == {"hobbies": "chess"}
    await world.say("hi")
    assert "chess" not in world.prompt()
    assert "linked with no other" in await world.said("/unlink", "ann2")


async def test_a_code_is_good_once_and_for_ten_minutes() -> None:
    world = a_world()
    code = await code_of(world)
    world.clock.time += timedelta(minutes=10, seconds=1)
    assert "no such code" in await world.said(f"/link {code}", "ann2")
    code = await code_of(world)
    await world.say(f"/link {code} yes", "ann2")
    assert "no such code" in await world.said(f"/link {code} yes", "bob")
    assert await world.store.linked(Person("test", "bob")) == []


async def test_wrong_codes_are_limited_also_after_a_restart() -> None:
    world = a_world()
    code = await code_of(world)
    wrong = [world.said("/link WRONG", "eve", f"eve{number}") for number in range(WRONG_PER_HOUR + 3)]
    answers = await asyncio.gather(*wrong)
    assert sum("no such code" in answer for answer in answers) == WRONG_PER_HOUR
    world.restart()
    for words in (code, f"{code} yes"):
        assert "too many wrong codes" in await world.said(f"/link {words}", "eve")
    assert "Linked" in await world.said(f"/link {code} yes", "ann2"), "nobody else has to wait"
    world.clock.time += timedelta(hours=1, seconds=1)
    assert "no such code" in await world.said("/link WRONG", "eve")


@pytest.mark.parametrize(("who", "told"), [("anna", "this account's own code"), ("ann2", "linked already")])
async def test_what_can_not_be_linked_is_told(who: str, told: str) -> None:
    world = await two_accounts()
    assert told in await world.said(f"/link {await code_of(world)} yes", who)


async def test_a_view_holds_only_so_many_accounts() -> None:
    world = a_world()
    for number in range(MOST_LINKED - 1):
        assert "Linked" in await link(world, "anna", f"a{number}")
    assert "at most" in await world.said(f"/link {await code_of(world)}", "onemore")


async def test_codes_are_neither_given_nor_taken_in_a_group() -> None:
    world = a_world()
    code = await code_of(world)
    for command in ("/link", f"/link {code} yes"):
        assert "in our private talk" in await world.said(command, "ann2", **CLUB)
    assert await world.store.linked(ANNA) == []


async def test_forgetting_everything_names_and_reaches_the_linked_accounts() -> None:
    world = await two_accounts()
    asked = await world.say("/forget me")
    assert asked is not None
    assert "your linked accounts too: test:ann2" in asked.text
    receipt = await world.said(asked.choices[0].command)
    assert receipt.splitlines()[-1] == "Your linked accounts are erased too: test:ann2."
    assert "facts: 2" in receipt
    for text in ("Rome", "chess"):
        assert await world.store.holds(text) == []
    assert await world.store.linked(ANN2) == []
    assert not await world.store.verify()


async def test_forgetting_everything_after_unlinking_leaves_the_other_account() -> None:
    world = await two_accounts()
    await world.say("/unlink")
    await world.say("/forget me yes")
    assert await facts(world, "ann2") == {"hobbies": "chess"}


async def test_an_export_holds_all_linked_accounts() -> None:
    world = await two_accounts()
    reply = await world.say("/export")
    assert reply is not None
    assert reply.file is not None
    data = json.loads(reply.file.data)
    assert data["person"] == "test:anna"
    assert [one["person"] for one in data["linked"]] == ["test:ann2"]
    assert "chess" in json.dumps(data["linked"])


async def test_the_link_told_by_link_alone() -> None:
    world = await two_accounts()
    assert "Linked with this account: test:ann2" in await world.said("/link")
