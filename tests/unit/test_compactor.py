"""Durable jobs: none twice, none lost, a hanging one holds up no other, a message goes first."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from core.bot import Bot
from core.compactor import CompactorLimits
from core.conversation import Conversation
from core.errors import LLMUnavailable
from core.llm import Completion, OnText, Request
from core.memory.keepmind import Keepmind, SummaryLimits
from core.memory.memory import Compaction, Memory
from core.memory.profile import Profile
from core.memory.window import WindowLimits
from core.messages import ChatKey
from core.records import Job
from tests.driving import ANNA, BOB, turns
from tests.fakes import ScriptedLLM, World

SMALL = Keepmind(WindowLimits(6, 3, 100_000, 50_000, 1), SummaryLimits(60, 300))
QUIET = timedelta(minutes=31)


class HangingLLM(ScriptedLLM):
    """A model whose summaries of some talk hang until it is let go."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self.word = word
        self.hung = asyncio.Event()
        self.free = asyncio.Event()

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        if request.purpose == "summary" and self.word in request.messages[1].content:
            self.requests.append(request)
            self.hung.set()
            await self.free.wait()
        return await super().complete(request, on_text)


def small(**more: object) -> World:
    return World(bot=Bot(memory=[SMALL, Profile()]), **more)  # type: ignore[arg-type]


async def talk(world: World, who: str, count: int) -> None:
    for number in range(count):
        await world.say(f"{who} {number}", who)


async def jobs(world: World) -> int:
    return (await world.store.stats()).jobs


async def segments(world: World, chat: ChatKey) -> int:
    return len((await world.store.load(chat)).segments)


async def test_a_quiet_chat_is_compacted_once() -> None:
    world = small()
    await talk(world, "anna", 4)
    world.clock.time += QUIET
    await world.engine.compactor.tick()
    await world.settle()
    assert [t.message.text for t in await turns(world)] == ["anna 3"]
    asked = len(world.llm.requests)
    for _ in range(5):
        world.clock.time += QUIET
        await world.engine.compactor.tick()
        await world.settle()
    assert len(world.llm.requests) == asked
    assert await jobs(world) == 0


async def test_a_chat_that_is_not_quiet_is_left_alone() -> None:
    world = small()
    await talk(world, "anna", 4)
    world.clock.time += timedelta(minutes=29)
    await world.engine.compactor.tick()
    assert await jobs(world) == 0


async def test_an_idle_job_of_a_chat_that_has_become_busy_does_nothing() -> None:
    world = small()
    await talk(world, "anna", 4)
    world.clock.time += QUIET
    await world.engine.compactor.scan()
    await world.say("I am back")
    await world.settle()
    assert len(await turns(world)) == 5
    assert world.llm.of("summary") == []
    world.clock.time += QUIET
    await world.engine.compactor.tick()
    await world.settle()
    assert len(await turns(world)) == 1, "and it rests when it is quiet again"


async def test_an_idle_compaction_gives_way_to_a_message() -> None:
    llm = HangingLLM("anna")
    world = small(llm=llm)
    await talk(world, "anna", 4)
    world.clock.time += QUIET
    await world.engine.compactor.tick()
    await llm.hung.wait()
    assert await world.said("here I am") == "You said: here I am"
    await world.settle()
    assert await segments(world, ANNA) == 0
    assert len(await turns(world)) == 5
    llm.free.set()
    world.clock.time += QUIET
    await world.engine.compactor.tick()
    await world.settle()
    assert await segments(world, ANNA) == 1


async def test_a_job_put_off_before_it_began_takes_no_room() -> None:
    world = small(compacting=CompactorLimits(parallel=1))
    for who in ("anna", "bob"):
        await talk(world, who, 4)
    world.clock.time += QUIET
    await world.engine.compactor.scan()
    await world.engine.compactor.start_due()
    world.engine.compactor.give_way(ANNA)
    world.engine.compactor.give_way(BOB)
    await world.settle()
    world.clock.time += timedelta(hours=2)
    await world.settle()
    assert await segments(world, ANNA) == await segments(world, BOB) == 1


async def test_a_hanging_job_holds_up_no_other_and_ends_in_time() -> None:
    llm = HangingLLM("anna")
    world = small(llm=llm, compacting=CompactorLimits(job_seconds=0.05))
    for who in ("anna", "bob"):
        await talk(world, who, 7)
    await world.settle()
    assert await segments(world, BOB) == 1
    assert await segments(world, ANNA) == 0
    assert world.engine.compactor.failures == 1
    llm.free.set()
    world.clock.time += timedelta(hours=1)
    await world.settle()
    assert await segments(world, ANNA) == 1


class SlowLLM(ScriptedLLM):
    """A model that takes its time for each summary, while the clock looks for more work."""

    world: World

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        if request.purpose == "summary":
            self.world.clock.time += timedelta(seconds=1)
            self.world.engine.compactor.wake()
            await asyncio.sleep(0.12)
        return await super().complete(request, on_text)


async def test_a_long_job_that_goes_on_is_neither_given_up_nor_begun_twice() -> None:
    llm = SlowLLM()
    llm.world = world = small(llm=llm, compacting=CompactorLimits(job_seconds=1))
    await talk(world, "anna", 2)
    await world.say(" ".join(map(str, range(60_000))))
    await world.store.enqueue(Job("rest", str(ANNA), world.clock.now()))
    world.clock.time += QUIET
    await world.settle()
    world.clock.time += QUIET
    await world.settle()
    assert world.engine.compactor.failures == 0
    assert await segments(world, ANNA) >= 1
    assert await jobs(world) == 0
    asked = [request.messages[-1].content for request in llm.of("summary")]
    assert len(asked) == len(set(asked)) > 1 / 0.12


async def test_more_jobs_than_room_are_all_done_without_another_tick() -> None:
    world = small(compacting=CompactorLimits(parallel=1))
    people = [f"p{n}" for n in range(6)]
    for who in people:
        await talk(world, who, 4)
    world.clock.time += QUIET
    await world.engine.compactor.tick()
    async with asyncio.timeout(20):
        while [await segments(world, ChatKey("test", who)) for who in people] != [1] * 6:  # noqa: ASYNC110 -- a store rings no bell
            await asyncio.sleep(0)


async def test_a_failed_job_waits_twice_as_long_each_time() -> None:
    world = small()
    world.llm.summary = lambda request: LLMUnavailable("down")
    await talk(world, "anna", 7)
    await world.settle()
    tries = [len(world.llm.of("summary"))]
    for seconds in (29, 2, 58, 3, 119, 2):
        world.clock.time += timedelta(seconds=seconds)
        await world.settle()
        tries.append(len(world.llm.of("summary")))
    assert tries == [1, 1, 2, 2, 3, 3, 4]


async def test_back_off_has_an_end_however_often_it_failed() -> None:
    world = small()
    world.llm.summary = lambda request: LLMUnavailable("down")
    await talk(world, "anna", 7)
    await world.settle()
    for _ in range(1100):
        world.clock.time += timedelta(seconds=3601)
        await world.settle()
    assert len(world.llm.of("summary")) == 1101


async def test_two_processes_make_one_summary() -> None:
    world = small()
    await talk(world, "anna", 7)
    first = world.engine.compactor
    world.restart()
    await asyncio.gather(first.finish_due(), world.engine.compactor.finish_due())
    assert len(world.llm.of("summary")) == 1


async def test_the_lease_of_a_dead_process_runs_out() -> None:
    world = small()
    await talk(world, "anna", 4)
    await world.store.enqueue(Job("compact", str(ANNA), world.clock.now()))
    await world.store.claim("dead", world.clock.now(), lease=240, limit=9)
    await world.settle()
    assert await jobs(world) == 1
    world.clock.time += timedelta(seconds=241)
    await world.settle()
    assert await jobs(world) == 0


async def test_closing_waits_and_then_cuts_leaving_all_as_before() -> None:
    llm = HangingLLM("anna")
    world = small(llm=llm)
    await talk(world, "anna", 7)
    await llm.hung.wait()
    await world.engine.compactor.aclose(0)
    assert await segments(world, ANNA) == 0
    assert len(await turns(world)) == 7
    assert await jobs(world) == 1
    llm.free.set()
    world.restart()
    world.clock.time += timedelta(hours=1)
    await world.settle()
    assert await segments(world, ANNA) == 1


async def test_nothing_starts_once_it_is_closed() -> None:
    world = small()
    await talk(world, "anna", 7)
    compactor = world.engine.compactor
    await compactor.aclose()
    asked = len(world.llm.requests)
    compactor.wake()
    assert await compactor.start_due() == 0
    world.clock.time += QUIET
    await compactor.tick()
    assert len(world.llm.requests) == asked


async def test_a_memory_with_a_bug_is_counted_and_the_others_go_on() -> None:
    class Broken(Memory):
        """Breaks."""

        async def compact(self, conversation: Conversation, work: Compaction) -> None:
            if conversation.chat == ANNA:
                raise RuntimeError("a bug")

    world = World(bot=Bot(memory=[SMALL, Broken()]))
    for who in ("anna", "bob"):
        await talk(world, who, 7)
    await world.settle()
    assert world.engine.compactor.failures == 1
    assert await segments(world, BOB) == 1


async def test_a_job_of_what_was_erased_is_done_with() -> None:
    world = World()
    await world.store.enqueue(Job("extract", "4711", world.clock.now()))
    await world.store.enqueue(Job("compact", "test:nobody", world.clock.now()))
    await world.store.enqueue(Job("rest", "test:nobody", world.clock.now()))
    await world.settle()
    assert await jobs(world) == 0


async def test_by_hand_quiet_chats_or_all_over_the_low_mark_are_compacted() -> None:
    world = small()
    await talk(world, "anna", 5)
    world.clock.time += QUIET
    await talk(world, "bob", 5)
    assert await world.engine.compactor.compact_quiet() == 1
    assert await segments(world, ANNA) == 1
    assert await segments(world, BOB) == 0
    assert await world.engine.compactor.compact_quiet(everything=True) == 1
    assert len(await turns(world, BOB)) == 3


async def test_by_hand_one_failing_chat_holds_up_no_other() -> None:
    def summary(request: Request) -> Completion | Exception:
        return LLMUnavailable("down") if "anna" in request.messages[1].content else Completion("They talked.")

    world = small()
    world.llm.summary = summary
    for who in ("anna", "bob"):
        await talk(world, who, 5)
    with pytest.raises(LLMUnavailable, match="down"):
        await world.engine.compactor.compact_quiet(everything=True)
    assert await segments(world, BOB) == 1


async def test_by_hand_a_hanging_chat_ends_in_time() -> None:
    llm = HangingLLM("anna")
    world = small(llm=llm, compacting=CompactorLimits(job_seconds=0.05))
    for who in ("anna", "bob"):
        await talk(world, who, 5)
    with pytest.raises(LLMUnavailable, match="longer than"):
        await world.engine.compactor.compact_quiet(everything=True)
    assert await segments(world, BOB) == 1


async def test_bare_keys_expire_and_waiting_messages_do_not() -> None:
    world = World()
    message = world.message("/help")
    await world.engine.handle(message)
    world.clock.time += timedelta(days=8)
    await world.engine.compactor.tick()
    assert await world.store.receive(message, keep=False), "the key is gone"


async def test_what_was_spent_is_dropped_when_its_days_are_over() -> None:
    world = World(compacting=CompactorLimits(spent_days=31))
    await world.say("hello")
    first = world.clock.now().date()
    for days, kept in ((31, True), (1, False)):
        world.clock.time += timedelta(days=days)
        await world.engine.compactor.tick()
        assert bool(await world.store.spent(first)) is kept


async def test_the_scan_of_many_chats_loads_no_turn() -> None:
    world = World()
    for number in range(300):
        await world.say("hi", f"p{number}")
    world.clock.time += QUIET
    assert await world.engine.compactor.scan() == 100
    assert await until_none_is_new(world) == 300


async def until_none_is_new(world: World) -> int:
    await world.settle()
    while await world.engine.compactor.scan():
        await world.settle()
    return (await world.store.stats()).chats
