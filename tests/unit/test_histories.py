"""The kinds of history: each behaves as the class it is named after, without that class's faults."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from adapters.sql import open_store
from bots.memories import chosen_memories
from config.form import load_form
from config.settings import Memory, Model, Settings, Summary
from core.bot import Bot
from core.conversation import Conversation, Segment
from core.errors import ConfigError, LLMUnavailable
from core.llm import Completion, Request
from core.memory.progressive import Form, shipped, shipped_form
from core.memory.summary_buffer import BufferLimits, SummaryBuffer
from tests.driving import ANNA, Gate
from tests.fakes import ScriptedLLM, World
from tests.kinds import KINDS, NUMBER, a_world, become, covered, earlier_in, gist, lines_of, remembered, said, talk


async def here(world: World) -> Conversation:
    return await world.store.load(ANNA)


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
