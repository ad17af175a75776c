"""Topics inside topics on every store: a tree of turns that a program reads and writes."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from core.clock import SystemClock
from core.errors import StaleBase
from core.messages import Attachment, ChatKey
from core.store import ConversationStore
from core.topics import Topics
from tests.contract.talk import ANN, BOB, GROUP, PRIVATE_CHAT, Talk
from tests.fakes import WordCounter


@pytest.fixture
def topics(store: ConversationStore) -> Topics:
    return a_tree(store, PRIVATE_CHAT)


def a_tree(store: ConversationStore, chat: ChatKey) -> Topics:
    return Topics(store, chat, ANN, SystemClock(), WordCounter())


async def a_house(topics: Topics) -> dict[str, int]:
    """house, in it kitchen (in it stove, sink) and hall; after it garden."""
    nodes = {"house": await topics.add_after(None, "house")}
    nodes["kitchen"] = await topics.add_inside(nodes["house"], "kitchen")
    nodes["stove"] = await topics.add_inside(nodes["kitchen"], "stove")
    nodes["sink"] = await topics.add_after(nodes["stove"], "sink")
    nodes["hall"] = await topics.add_after(nodes["kitchen"], "hall")
    nodes["garden"] = await topics.add_after(nodes["house"], "garden")
    return nodes


async def told(topics: Topics, node: int) -> list[str]:
    return [turn.message.text for turn in await topics.related(node)]


async def drawn(topics: Topics, node: int | None = None) -> list[str]:
    return ["." * place.level + str(await topics.content(place.node)) async for place in topics.walk(node)]


async def test_a_node_is_related_to_what_it_lies_in_and_to_what_is_before_each(topics: Topics) -> None:
    nodes = await a_house(topics)
    assert await told(topics, nodes["sink"]) == ["house", "kitchen", "stove"]
    assert await told(topics, nodes["hall"]) == ["house", "kitchen"]
    assert await told(topics, nodes["garden"]) == ["house"]
    assert await told(topics, nodes["house"]) == []


async def test_a_node_knows_its_level_and_its_children(topics: Topics) -> None:
    nodes = await a_house(topics)
    assert [await topics.level(node) for node in nodes.values()] == [0, 1, 2, 2, 1, 0]
    assert await topics.children(nodes["house"]) == [nodes["kitchen"], nodes["hall"]]
    assert await topics.children(nodes["sink"]) == []
    assert await topics.children(None) == [nodes["house"], nodes["garden"]]


async def test_a_walk_meets_each_node_before_what_lies_in_it(topics: Topics) -> None:
    nodes = await a_house(topics)
    assert await drawn(topics) == ["house", ".kitchen", "..stove", "..sink", ".hall", "garden"]
    assert await drawn(topics, nodes["kitchen"]) == ["kitchen", ".stove", ".sink"]


async def test_a_node_holds_a_text_or_several_parts(topics: Topics) -> None:
    picture = Attachment("image", "plan.png", "image/png", "a plan", b"\x89PNG")
    node = await topics.add_after(None, ["look", picture, "and this"])
    assert await topics.content(node) == ["look", picture, "and this"]
    assert await topics.update(node, "only words")
    assert await topics.content(node) == "only words"
    assert await topics.update(node, [picture])
    assert await topics.content(node) == [picture]
    assert await topics.store.holds("only words") == []


async def test_a_node_is_deleted_with_all_inside_it_and_nothing_else(topics: Topics) -> None:
    nodes = await a_house(topics)
    assert await topics.delete(nodes["kitchen"]) == 3
    assert await drawn(topics) == ["house", ".hall", "garden"]
    assert await topics.store.holds("stove") == []
    assert await told(topics, nodes["hall"]) == ["house"]
    assert await topics.delete(nodes["house"]) == 2
    assert await drawn(topics) == ["garden"]


async def test_what_came_after_a_node_stays_on_a_branch_of_its_own(topics: Topics) -> None:
    nodes = await a_house(topics)
    shed = await topics.add_after(nodes["house"], "shed")
    assert await told(topics, shed) == ["house"]
    assert await topics.children(None) == [nodes["house"], nodes["garden"], shed]


async def test_a_node_that_is_not_there_is_written_to_by_nobody(topics: Topics) -> None:
    elsewhere = await a_tree(topics.store, GROUP).add_after(None, "elsewhere")
    for node in (elsewhere, 10**6, 2**70):
        with pytest.raises(StaleBase):
            await topics.add_after(node, "lost")
        assert not await topics.update(node, "lost")
        assert await topics.delete(node) == 0
        assert await topics.related(node) == []
        assert await topics.content(node) == ""
    assert await topics.store.holds("lost") == []


async def test_a_tree_moves_to_another_chat_by_its_export(topics: Topics, store: ConversationStore) -> None:
    nodes = await a_house(topics)
    await topics.add_inside(nodes["garden"], ["a bench", Attachment("file", "b.txt", "text/plain", "wood", b"w\0d")])
    data = await topics.exported()
    other = replace(a_tree(store, GROUP), person=BOB)
    first = await other.add_after(None, "before it all")
    await other.imported(data, under=first)
    assert (await drawn(other))[:7] == ["before it all", *(await drawn(topics))[:6]]
    (*_, bench) = [place.node async for place in other.walk()]
    assert (await other.content(bench))[1] == Attachment("file", "b.txt", "text/plain", "wood", b"w\0d")
    assert await store.people(GROUP) == [BOB]
    for wrong in ({}, {"schema": "x", "nodes": []}, {"schema": data["schema"], "nodes": [{}]}):
        with pytest.raises(ValueError, match=r"it is no|validation error"):
            await other.imported(wrong)


async def test_what_is_added_is_no_part_of_the_talk_until_its_head_moves_there(topics: Topics) -> None:
    talk = Talk(topics.store)
    turn = await talk.says("hello")
    node = await topics.add_inside(turn.id, "a digression")
    assert [t.message.text for t in (await talk.loaded()).turns] == ["hello"]
    await topics.store.move_head(await talk.loaded(), node, asides=[turn.id])
    assert [t.message.text for t in (await talk.loaded()).turns] == ["hello", "a digression"]
    assert (await talk.says("goes on")).parent == node


async def test_the_talk_itself_is_such_a_tree(topics: Topics) -> None:
    talk = Talk(topics.store)
    one = await talk.says("one")
    await topics.store.move_head(await talk.loaded(), one.id, asides=[one.id])
    await talk.says("aside")
    await talk.says("still aside")
    await topics.store.move_head(await talk.loaded(), one.id, asides=[])
    await talk.says("two")
    assert await drawn(topics) == ["one", ".aside", ".still aside", "two"]


async def test_forgetting_and_exporting_reach_every_node(topics: Topics) -> None:
    await a_house(topics)
    (chat,) = (await topics.store.export(ANN))["chats"]
    assert [t["messages"][0]["text"] for t in chat["turns"]][-1] == "garden"
    await topics.store.erase_person(ANN)
    assert await drawn(topics) == []
    assert await topics.store.holds("stove") == []


async def test_a_tree_may_be_thousands_of_levels_deep(topics: Topics) -> None:
    node: int | None = None
    for level in range(1500):
        node = await topics.add_inside(node, f"level {level}")
    assert node is not None
    assert await topics.level(node) == 1500
    assert len(await topics.related(node)) == 1499
    assert [place.level async for place in topics.walk()] == list(range(1500))
    (first,) = await topics.children(None)
    assert await topics.delete(first) == 1500


@pytest.mark.parametrize("seed", range(2))
async def test_random_trees_are_what_a_plain_model_says(topics: Topics, seed: int) -> None:
    random = Random(seed)
    before: dict[int, int | None] = {}
    inside: set[int] = set()

    def line(node: int | None) -> list[int]:
        found: list[int] = []
        while node is not None:
            found, node = [node, *found], before[node]
        return found

    for number in range(120):
        under = random.choice([None, *before]) if before else None
        if random.random() < 0.75 or under is None:
            within = random.random() < 0.5
            node = await (topics.add_inside if within else topics.add_after)(under, str(number))
            before[node] = under
            inside |= {node} if within else set()
        else:
            doomed = {n for n in before if under in line(n) and (n == under or _lies_in(n, under, before, inside))}
            assert await topics.delete(under) == len(doomed)
            for node in [n for n in before if n not in doomed and before[n] in doomed]:
                inside |= {node} if under in inside else set()
                before[node] = before[under]
            before = {node: parent for node, parent in before.items() if node not in doomed}
        for node in before:
            assert [t.id for t in await topics.related(node)] == line(node)[:-1]
            assert await topics.level(node) == sum(n in inside for n in line(node))


def _lies_in(node: int, topic: int, before: dict[int, int | None], inside: set[int]) -> bool:
    """Say whether the step out of `topic` on the way to `node` leads inside."""
    step = node
    while (parent := before[step]) != topic:
        assert parent is not None
        step = parent
    return step in inside
