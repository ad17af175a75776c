"""The memory card: pages of facts, each to be opened, pinned, changed and erased."""

from __future__ import annotations

import pytest

from core.messages import Reply
from tests.fakes import World
from tests.talks import a_world, facts, tell


async def shown(world: World, command: str, **more: str) -> Reply:
    reply = await world.say(command, **more)
    assert reply is not None
    return reply


def labels(reply: Reply) -> list[str]:
    return [choice.label for choice in reply.choices]


async def press(world: World, reply: Reply, label: str) -> Reply:
    """Say what a button says."""
    return await shown(world, next(choice.command for choice in reply.choices if choice.label == label))


async def knowing(count: int) -> World:
    world = World()
    for number in range(count):
        await world.say(f"/memory set key{number:02} value {number}")
    return world


async def test_a_card_of_few_facts_is_one_page() -> None:
    card = await shown(await knowing(2), "/memory")
    assert card.text.splitlines()[:2] == ["key00: value 0", "key01: value 1"]
    assert labels(card) == ["key00", "key01", "Undo"]
    assert card.private


async def test_many_facts_are_turned_by_page() -> None:
    world = await knowing(20)
    first = await shown(world, "/memory")
    assert labels(first) == [*(f"key{n:02}" for n in range(8)), "Page 2 of 3 →", "Undo"]
    second = await press(world, first, "Page 2 of 3 →")
    assert second.text.startswith("key08: ")
    third = await press(world, second, "Page 3 of 3 →")
    assert labels(third) == [*(f"key{n}" for n in range(16, 20)), "← Page 2", "Undo"]
    assert (await shown(world, "/memory page 99")).text == third.text
    assert (await shown(world, "/memory page -1")).text == first.text
    assert "number" in (await shown(world, "/memory page two")).text


async def test_a_fact_is_opened_pinned_and_forgotten_by_its_choices() -> None:
    world = a_world()
    await tell(world, "I play chess and go", ("add", "hobbies", ["chess", "go"]))
    opened = await press(world, await shown(world, "/memory"), "hobbies")
    assert opened.text == "hobbies: chess, go\nTold on 2026-03-01, written by model."
    pinned = await press(world, opened, "Pin")
    assert pinned.text.endswith("pinned.")
    assert "hobbies: chess, go (pinned)" in (await shown(world, "/memory")).text
    loose = await press(world, pinned, "Unpin")
    assert labels(loose) == ["Forget this", "Pin", "Edit", "Why", "All facts"]
    assert "«I play chess and go»" in (await press(world, loose, "Why")).text
    assert "/memory set hobbies" in (await press(world, loose, "Edit")).text
    await press(world, loose, "Forget this")
    assert await facts(world) == {}


async def test_a_person_sets_facts_themselves() -> None:
    world = a_world()
    await tell(world, "I play chess and go", ("add", "hobbies", ["chess", "go"]))
    assert await world.said("/memory set hobbies poker, chess") == "Saved. hobbies: poker, chess"
    assert await world.said("/memory set Favourite_Place Paris, France") == "Saved. favourite_place: Paris, France"
    assert await facts(world) == {"hobbies": ["poker", "chess"], "favourite_place": "Paris, France"}
    why = await world.said("/memory why hobbies")
    assert why.splitlines()[0] == "hobbies = poker: on 2026-03-01 you entered it (written by: person)"
    await world.said("/memory undo")
    await world.said("/memory undo")
    assert await facts(world) == {"hobbies": ["chess", "go"]}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("/memory set password hunter2", "never stored"),
        ("/memory set 🦊 fox", "key"),
        ("/memory set name " + "x" * 501, "at most 500"),
        ("/memory set name", "/memory set name and the new value"),
        ("/memory pin nothing", "I know nothing called 'nothing'"),
        ("/memory fact nothing", "I know nothing called 'nothing'"),
    ],
)
async def test_what_can_not_be_done_is_told(command: str, said: str) -> None:
    world = World()
    assert said in await world.said(command)
    assert await facts(world) == {}


async def test_nothing_is_set_with_memory_off() -> None:
    world = World()
    await world.say("/memory off")
    assert "Memory is off" in await world.said("/memory set name Ann")
    assert await facts(world) == {}


async def test_pinning_twice_changes_once_and_is_undone() -> None:
    world = await knowing(1)
    for _ in range(2):
        await world.say("/memory pin key00")
    assert (await world.said("/memory history")).count(" pin ") == 1
    await world.say("/memory undo")
    assert "pinned" not in await world.said("/memory")
    assert await facts(world) == {"key00": "value 0"}


async def test_a_card_takes_the_place_of_the_one_whose_button_was_pressed() -> None:
    world = await knowing(9)
    await world.say("/memory")
    sent = world.adapter.shown[-1].id
    before = len(world.adapter.shown)
    await world.say("/memory page 2", pressed=sent)
    assert len(world.adapter.shown) == before
    assert world.adapter.shown[-1].out.text.startswith("key08")
    assert len(world.adapter.shown) == before


async def test_what_a_cards_button_changed_is_told_above_the_card_in_its_place() -> None:
    world = await knowing(9)
    await world.say("/memory")
    sent = world.adapter.shown[-1].id
    before = len(world.adapter.shown)
    await world.say("/memory undo", pressed=sent)
    assert world.adapter.shown[-1].out.text.startswith("Taken back. key08 is now: nothing\n\nkey00: value 0\n")
    await world.say("/forget key03", pressed=sent)
    told, _, card = world.adapter.shown[-1].out.text.partition("\n\n")
    assert told == "Erased: changes: 1, facts: 1."
    assert "key03" not in card
    assert [choice.label for choice in world.adapter.shown[-1].out.choices][:4] == ["key00", "key01", "key02", "key04"]
    assert len(world.adapter.shown) == before
    await world.say("/forget key00")
    assert world.adapter.shown[-1].out.text == "Erased: changes: 1, facts: 1.", "who typed it is told so alone"


async def test_the_card_shown_after_a_change_is_the_page_where_the_fact_was() -> None:
    world = await knowing(20)
    await world.say("/memory fact key17")
    await world.say("/forget key17", pressed=world.adapter.shown[-1].id)
    assert "\n\nkey16: " in world.adapter.shown[-1].out.text


async def test_a_page_of_long_values_fits_one_message_everywhere() -> None:
    world = World()
    for number in range(7):
        await world.say(f"/memory set {'k' * 63}{number} {'v' * 500}")
    assert 1000 < len((await shown(world, "/memory")).text) < 2000


async def test_values_too_long_to_be_shown_are_a_file_when_their_fact_is_opened() -> None:
    world = a_world()
    values = [f"book {number} {'of tea ' * 60}leaves" for number in range(5)]
    await tell(world, ", ".join(values), ("add", "books", values))
    opened = await shown(world, "/memory fact books")
    assert len(opened.text) < 2000
    assert opened.file is not None
    assert opened.file.data.decode().splitlines() == values
    assert (await press(world, opened, "Pin")).file is not None


async def test_the_facts_of_a_card_are_one_menu_and_a_value_is_asked_for() -> None:
    world = await knowing(2)
    card = await shown(world, "/memory")
    assert [(choice.label, bool(choice.menu)) for choice in card.choices] == [
        ("key00", True), ("key01", True), ("Undo", False),
    ]  # fmt: skip
    opened = await press(world, card, "key00")
    assert [choice.label for choice in opened.choices if choice.asks] == ["Edit"]


async def test_what_was_set_from_a_card_is_shown_in_its_place() -> None:
    world = await knowing(1)
    await world.say("/memory fact key00")
    sent = world.adapter.shown[-1].id
    before = len(world.adapter.shown)
    await world.say("/memory set key00 another value", pressed=sent)
    assert len(world.adapter.shown) == before
    assert world.adapter.shown[-1].out.text.startswith("key00: another value\n")


async def test_the_card_is_also_called_view() -> None:
    world = await knowing(1)
    assert (await shown(world, "/memory view")).text == (await shown(world, "/memory")).text
