"""The kinds of history: each behaves as the class it is named after, without that class's faults."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from adapters.inmemory import InMemoryStore
from adapters.sql import open_store
from bots.memories import chosen_memories
from config.form import load_form
from config.settings import Memory, Model, Settings, Summary
from core import memory as kinds
from core.bot import Bot
from core.compose import budget
from core.conversation import Conversation, Segment
from core.errors import ConfigError, LLMUnavailable
from core.llm import Completion, Request
from core.memory.buffer import Buffer
from core.memory.keepmind import Keepmind, SummaryLimits
from core.memory.none import NoHistory
from core.memory.profile import Profile
from core.memory.progressive import Form, shipped, shipped_form
from core.memory.recent import TokenWindow, Window
from core.memory.summary_buffer import BufferLimits, SummaryBuffer
from core.memory.tree import Tree
from core.memory.window import WindowLimits
from core.prompt import cost, tools_cost
from core.store import ConversationStore
from tests.driving import ANNA, Gate
from tests.fakes import ScriptedLLM, WordCounter, World, check_request

NUMBER = re.compile(r"number \d+")
KINDS: dict[str, Callable[[], kinds.memory.Memory]] = {
    "none": NoHistory,
    "buffer": Buffer,
    "window": lambda: Window(4),
    "token_window": lambda: TokenWindow(60),
    "summary": lambda: kinds.summary_buffer.Summary(),
    "summary_buffer": lambda: SummaryBuffer(limits=BufferLimits(tokens=10_000, turns=5, keep=2)),
    "tree": lambda: Tree(60),
    "keepmind": lambda: Keepmind(WindowLimits(8, 4, 100_000, 50_000, 2), SummaryLimits(60, 300)),
}
"""Each kind, small enough that a short talk reaches its limits."""


def lines_of(request: Request) -> str:
    """The new lines that a summary was asked for."""
    return request.messages[-1].content.partition("<conversation>\n")[2]


def earlier_in(request: Request) -> str:
    """The old summary that a summary was asked for."""
    return request.messages[-1].content.partition("<summary_so_far>\n")[2].partition("</summary_so_far>")[0]


def gist(request: Request) -> Completion:
    """Name all that was said, in the old summary and in the new lines."""
    told = NUMBER.findall(earlier_in(request)) + NUMBER.findall(lines_of(request))
    return Completion("they said " + ", ".join(dict.fromkeys(told)))


def a_world(kind: str, **more: object) -> World:
    world = World(bot=Bot(memory=[KINDS[kind](), Profile()]), **more)  # type: ignore[arg-type]
    world.llm.summary = gist
    return world


def become(world: World, kind: str) -> None:
    """Start anew with another kind of history."""
    world.bot = Bot(memory=[KINDS[kind](), Profile()])
    world.restart()


async def talk(world: World, first: int, last: int) -> None:
    for number in range(first, last + 1):
        await world.say(f"number {number}")
        await world.settle()


async def here(world: World) -> Conversation:
    return await world.store.load(ANNA)


async def covered(world: World) -> list[str]:
    """What was said in the turns from root to head, each shown raw or by its segment."""
    found: list[str] = []
    for step in (await here(world)).path:
        beneath = await world.store.covered(step) if isinstance(step, Segment) else [step]
        found += [turn.message.text for turn in beneath]
    return found


def said(first: int, last: int) -> list[str]:
    return [f"number {n}" for n in range(first, last + 1)]


def remembered(world: World) -> list[str]:
    """What the last prompt shows of what was said before, raw or in a summary."""
    *before, _ = world.llm.of("answer")[-1].messages
    text = "\n".join(m.content for m in before if m.role == "user")
    return list(dict.fromkeys(NUMBER.findall(text)))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("none", []),
        ("buffer", said(1, 30)),
        ("window", said(27, 30)),
        ("summary", said(1, 30)),
        ("summary_buffer", said(1, 30)),
        ("keepmind", said(1, 30)),
    ],
)
async def test_a_kind_shows_what_it_is_named_for(kind: str, expected: list[str]) -> None:
    world = a_world(kind)
    await talk(world, 1, 30)
    await world.say("what do you know?")
    assert remembered(world) == expected
    assert await covered(world) == [*said(1, 30), "what do you know?"], "what is not shown is kept"


async def test_a_token_window_shows_the_newest_turns_that_fit() -> None:
    world = a_world("token_window")
    await talk(world, 1, 30)
    await world.say("what do you know?")
    shown = remembered(world)
    assert shown == said(31 - len(shown), 30)
    tokens = sum(t.tokens for t in (await here(world)).turns[-len(shown) - 1 : -1])
    assert tokens <= 60 < tokens + 14


async def test_a_summary_is_made_after_every_turn_of_the_old_one_and_the_turn_alone() -> None:
    world = a_world("summary")
    await talk(world, 1, 12)
    requests = world.llm.of("summary")
    assert [NUMBER.findall(lines_of(r)) for r in requests] == [[f"number {n}"] * 2 for n in range(1, 13)]
    for before, after in pairwise(requests):
        assert gist(before).text in earlier_in(after)
    (segment,) = (await here(world)).path
    assert isinstance(segment, Segment)
    assert segment.turns == 12


async def test_a_new_summary_takes_the_place_of_the_old_one() -> None:
    world = a_world("summary")
    await talk(world, 1, 12)
    await world.say("what do you know?")
    assert world.prompt().count('<remembered what="summary') == 1


async def test_the_old_summary_and_the_new_lines_are_each_in_their_place() -> None:
    for language in shipped():
        written = shipped_form(language).filled("OLD", "NEW", 50)
        assert written.index("OLD") < written.index("NEW")
        assert "<summary_so_far>\nOLD\n</summary_so_far>" in written
        assert "<conversation>\nNEW\n</conversation>" in written


async def test_a_summary_buffer_is_raw_up_to_its_threshold_and_keeps_recent_turns_when_it_folds() -> None:
    world = a_world("summary_buffer")
    await talk(world, 1, 5)
    assert world.llm.of("summary") == []
    await talk(world, 6, 6)
    segment, *raw = (await here(world)).path
    assert isinstance(segment, Segment)
    assert segment.turns == 4
    assert len(raw) == 2
    await talk(world, 7, 40)
    assert len((await here(world)).segments) == 1
    assert len(world.llm.of("summary")) == 9


async def test_the_threshold_of_a_summary_buffer_may_count_tokens() -> None:
    world = World(bot=Bot(memory=[SummaryBuffer(limits=BufferLimits(tokens=70, keep=0))]))
    await talk(world, 1, 5)
    assert world.llm.of("summary") == []
    await talk(world, 6, 6)
    (segment,) = (await here(world)).path
    assert isinstance(segment, Segment)


@pytest.mark.parametrize("kind", ["summary", "summary_buffer"])
async def test_a_failing_summariser_loses_nothing_and_hides_nothing(kind: str) -> None:
    world = a_world(kind)
    await talk(world, 1, 6)
    failures: Sequence[Completion | Exception] = [LLMUnavailable("down"), Completion(""), Completion("x", (), "length")]
    left = list(failures) * 2
    world.llm.summary = lambda request: left.pop(0)
    for number in range(7, 12):
        await talk(world, number, number)
        world.clock.time += timedelta(hours=2)
        await world.engine.compactor.start_due()
    await world.settle()
    assert await covered(world) == said(1, 11)
    await world.say("what do you know?")
    assert remembered(world) == said(1, 11)
    world.llm.summary = gist
    world.clock.time += timedelta(hours=2)
    await world.settle()
    assert await covered(world) == [*said(1, 11), "what do you know?"]
    await world.say("and now?")
    assert remembered(world) == said(1, 11)


@pytest.mark.parametrize("kind", ["summary", "summary_buffer"])
async def test_turns_at_once_lose_nothing(kind: str) -> None:
    world = a_world(kind)
    for first in range(1, 40, 4):
        ticks = [world.engine.compactor.tick() for _ in range(2)]
        await asyncio.gather(*(world.say(f"number {n}") for n in range(first, first + 4)), *ticks)
    await world.settle()
    assert sorted(await covered(world)) == sorted(said(1, 40))
    await world.say("what do you know?")
    assert sorted(remembered(world)) == sorted(said(1, 40))


@pytest.mark.parametrize("kind", ["summary", "summary_buffer"])
async def test_a_summary_outlives_the_process_and_is_not_made_again(kind: str, tmp_path: Path) -> None:
    store = await open_store(str(tmp_path / "keepmind.db"))
    world = a_world(kind, store=store)
    await talk(world, 1, 10)
    asked = len(world.llm.of("summary"))
    await store.aclose()
    world.store = store = await open_store(str(tmp_path / "keepmind.db"))
    world.restart()
    await world.engine.recover()
    await world.say("what do you know?")
    assert remembered(world) == said(1, 10)
    await world.settle()
    again = world.llm.of("summary")[asked:]
    assert all(set(NUMBER.findall(lines_of(r))) <= {"number 9", "number 10"} for r in again)
    await store.aclose()


async def test_a_turn_said_while_the_summary_is_made_stays_raw_or_is_folded_next() -> None:
    world, gate = a_world("summary"), Gate()

    def hang(request: Request) -> Completion:
        world.llm.gate, world.llm.summary = gate, gist
        return gist(request)

    world.llm.summary = hang
    await world.say("number 1")
    await gate.held.wait()
    world.llm.gate = None
    await world.say("number 2")
    assert remembered(world) == said(1, 1)
    gate.set()
    await world.settle()
    assert await covered(world) == said(1, 2)


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "none"])
async def test_a_turn_larger_than_the_budget_is_kept_with_a_mark(kind: str) -> None:
    world = a_world(kind, llm=ScriptedLLM(lambda request: Completion("I see."), context=1000))
    world.llm.summary = lambda request: LLMUnavailable("down")
    text = "number 1 " + "word " * 3000
    await world.say(text)
    await world.say("what did I say?")
    request = world.llm.of("answer")[-1]
    check_request(request)
    assert "number 1 word" in world.prompt()
    assert cost(request.messages, WordCounter()) <= budget(world.llm, 1024)
    assert (await world.store.holds(text[:200])) == ["turn"]


@pytest.mark.parametrize("kind", KINDS)
async def test_the_prompt_always_fits_and_is_valid(kind: str) -> None:
    for context in (400, 900, 3000):
        world = a_world(kind, llm=ScriptedLLM(lambda request: Completion("ok " * 30), context=context))
        for number in range(40):
            await world.say(f"number {number} " + "word " * (number * 37 % 90))
            if number % 7 == 0:
                await world.settle()
        for request in world.llm.of("answer"):
            check_request(request)
            size = cost(request.messages, WordCounter()) + tools_cost(request.tools, WordCounter())
            assert size <= budget(world.llm, 1024)
        assert len(await covered(world)) == 40


@pytest.mark.parametrize("to", KINDS)
@pytest.mark.parametrize("from_", KINDS)
async def test_the_kind_of_history_can_be_changed_without_losing_anything(from_: str, to: str) -> None:
    world = a_world(from_)
    await talk(world, 1, 12)
    become(world, to)
    await talk(world, 13, 14)
    assert await covered(world) == said(1, 14)
    become(world, from_)
    await talk(world, 15, 30)
    assert await covered(world) == said(1, 30)
    become(world, "keepmind")
    await world.say("what do you know?")
    assert remembered(world) == said(1, 30)
    assert await world.store.verify() == []


async def test_a_window_shows_what_another_kind_has_folded_until_newer_turns_take_its_place() -> None:
    world = a_world("summary")
    await talk(world, 1, 12)
    become(world, "window")
    await talk(world, 13, 14)
    assert remembered(world) == said(1, 13)
    await talk(world, 15, 18)
    assert remembered(world) == said(14, 17)


@pytest.mark.parametrize("kind", ["summary", "summary_buffer"])
async def test_an_extract_made_at_the_hard_cap_is_redone_from_the_raw_turns(kind: str) -> None:
    world = a_world(kind, llm=ScriptedLLM(context=1500))
    world.llm.summary = lambda request: LLMUnavailable("down")
    for number in range(1, 21):
        await world.say(f"number {number} " + "word " * 60)
    assert {s.made_by for s in (await here(world)).segments} == {"extract"}
    world.llm.summary = gist
    await world.engine.compactor.compact(ANNA)
    assert [s.made_by for s in (await here(world)).segments] == ["model"]
    assert len(await covered(world)) == 20
    told = {line for r in world.llm.of("summary") for line in NUMBER.findall(lines_of(r))}
    assert set(said(1, 18)) <= told


async def test_an_edited_turn_is_raw_again_and_told_anew() -> None:
    world = a_world("summary", llm=ScriptedLLM(lambda request: Completion("I see.")))
    await talk(world, 1, 6)
    (first, *_) = await world.store.covered((await here(world)).segments[0])
    await world.store.edit(ANNA, first.message.id, "number 777")
    await talk(world, 7, 7)
    (segment,) = (await here(world)).path
    assert isinstance(segment, Segment)
    assert "number 777" in segment.text
    assert "number 1," not in segment.text


async def test_what_was_said_cannot_fill_in_the_form() -> None:
    written = Form("A {summary} B {new_lines}").filled("{new_lines}", "{summary} </conversation>", 9)
    assert written.count("<conversation>") == 1
    assert written.count("</conversation>") == 1
    assert "{new_lines}" in written.partition("B")[0]


async def test_the_words_of_the_form_may_be_another_language(tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("Riassumi. {summary} {new_lines} { } {other}", encoding="utf-8")
    (history, *_) = chosen_memories(_settings(history="summary", form=str(own)), ScriptedLLM())
    world = World(bot=Bot(memory=[history]))
    await talk(world, 1, 1)
    assert world.llm.of("summary")[0].messages[0].content.startswith("Riassumi. <summary_so_far>")
    assert "摘要" in load_form("zh").text


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("lost.txt", None, "it must be en, zh or a text file"),
        ("lacking.txt", "Summarise {new_lines}.", "it lacks {summary}"),
        ("bytes.txt", b"\xff\xfe", "that file is not UTF-8 text"),
    ],
)
def test_a_form_that_cannot_be_used_is_said_so_in_a_sentence(
    tmp_path: Path, name: str, text: str | bytes | None, why: str
) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError, match=re.escape(why)):
        load_form(str(path))


def _settings(form: str = "en", **memory: object) -> Settings:
    return Settings(
        model=Model(base_url="http://127.0.0.1/v1"),
        memory=Memory.model_validate(memory),
        summary=Summary(form=form),
    )


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "keepmind"])
def test_one_line_of_configuration_chooses_the_history(kind: str) -> None:
    (history, *_) = chosen_memories(_settings(history=kind), ScriptedLLM())
    assert isinstance(history, type(KINDS[kind]()))


@pytest.mark.parametrize(
    "memory",
    [
        {"history": "profile"},
        {"beside": "window"},
        {"history": "tre"},
    ],
)
def test_a_history_that_is_none_is_refused_in_a_sentence(memory: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"the memory '\w+' is"):
        chosen_memories(_settings(**memory), ScriptedLLM())


@pytest.mark.parametrize("chats", ["telegram:42", "=window", "telegram:*=window", "42=window"])
def test_a_chat_s_history_must_be_written_as_one(chats: str) -> None:
    with pytest.raises(ValueError, match="must be written CHAT=KIND"):
        _settings(chats=chats)


async def test_every_store_serves_every_kind(tmp_path: Path) -> None:
    stores: list[ConversationStore] = [InMemoryStore(), await open_store(str(tmp_path / "keepmind.db"))]
    for kind in KINDS:
        shown = []
        for store in stores:
            world = a_world(kind, store=store)
            await talk(world, 1, 12)
            await world.say("what do you know?")
            shown.append(remembered(world))
            await store.erase_chat(ANNA)
        assert shown[0] == shown[1]
    await stores[1].aclose()
