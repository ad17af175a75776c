"""Several processes on one PostgreSQL: one serves a bot at a time, and who was relieved keeps nothing any more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from adapters.sql import SqlStore, open_store
from adapters.sql.address import to_address
from adapters.sql.postgresql_duty import PostgresqlDuty
from core.errors import Relieved
from core.messages import ChatKey
from tests.contract.talk import START, Talk
from tests.postgresql import Server

BOT, OTHER = "telegram:1", "discord:2"
HELD = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = 1264873041 AND granted"
Opens = Callable[[], Awaitable[SqlStore]]


@pytest.fixture
async def opens(postgresql: Server) -> AsyncIterator[Opens]:
    """Open the same database once more, as another process would."""
    url = postgresql.cleared()
    async with AsyncExitStack() as stack:

        async def opened() -> SqlStore:
            store = await open_store(url)
            stack.push_async_callback(store.aclose)
            return store

        yield opened


def cut(postgresql: Server) -> None:
    """Cut the session of who serves a bot."""
    postgresql.run(f"SELECT pg_terminate_backend(pid) FROM ({HELD}) AS held")


async def within(seconds: float, work: Awaitable[object]) -> None:
    async with asyncio.timeout(seconds):
        await work


async def test_one_of_three_serves_and_the_next_takes_over_when_it_ends(opens: Opens) -> None:
    stores = [await opens() for _ in range(3)]
    taking = [asyncio.create_task(store.duty().take(BOT)) for store in stores]
    for _ in range(3):
        done, _ = await asyncio.wait(taking, timeout=10, return_when=asyncio.FIRST_COMPLETED)
        (serving,) = done
        place = taking.index(serving)
        taking.pop(place)
        await Talk(stores[place], ChatKey("telegram", str(len(stores)))).says("I serve")
        await stores.pop(place).aclose()


async def test_bots_are_spread_over_processes(opens: Opens) -> None:
    one, two = await opens(), await opens()
    await one.duty().take(BOT)
    await within(5, two.duty().take(OTHER))
    waiting = asyncio.create_task(two.duty().take(BOT))
    await Talk(two).says("hello")
    await one.aclose()
    await within(10, waiting)
    await Talk(two, said=5).says("both")


async def test_another_bot_is_taken_at_once_and_what_is_held_let_go_so(postgresql: Server) -> None:
    store = await open_store(url := postgresql.cleared())
    duty = PostgresqlDuty(to_address(url), patience=5, beat=60)
    await within(10, duty.take(BOT))
    await within(10, duty.take(OTHER))
    await within(10, duty.aclose())
    await store.aclose()


async def test_who_was_relieved_keeps_nothing_and_is_told(opens: Opens, postgresql: Server) -> None:
    former, next_ = await opens(), await opens()
    talk = Talk(former)
    await former.duty().take(BOT)
    begun = await talk.opens("hello")
    standby = asyncio.create_task(next_.duty().take(BOT))
    while not standby.done():  # the former holder may be quicker to come back, and then serves on
        cut(postgresql)
        await asyncio.wait([standby], timeout=0.3)
    for writing in (
        talk.arrives("more"),
        former.save(begun),
        former.raise_epoch(begun.chat),
        former.progress(begun.id, chunk=1, preview="", state=begun.state),
        former.erase_chat(begun.chat),
    ):
        with pytest.raises(Relieved, match=f"Another process serves {BOT} now"):
            await writing
    await within(10, former.duty().lost())
    assert [turn.id for turn in await next_.open_turns()] == [begun.id]
    assert await next_.waiting() == []
    await next_.save(begun)


async def test_who_comes_back_before_another_took_over_serves_on(opens: Opens, postgresql: Server) -> None:
    store = await opens()
    await store.duty().take(BOT)
    ((before,),) = postgresql.run(HELD)
    cut(postgresql)
    await Talk(store).says("meanwhile")
    async with asyncio.timeout(10):
        while [pid for (pid,) in postgresql.run(HELD)] in ([], [before]):  # noqa: ASYNC110 -- a server rings no bell
            await asyncio.sleep(0.05)
    await Talk(store, said=5).says("again")
    other = asyncio.create_task((await opens()).duty().take(BOT))
    await asyncio.wait([other], timeout=1.5)
    assert not other.done()
    other.cancel()


async def test_a_write_begun_in_time_is_kept_before_the_next_takes_over(opens: Opens, postgresql: Server) -> None:
    former, next_ = await opens(), await opens()
    await former.duty().take(BOT)
    standby = asyncio.create_task(next_.duty().take(BOT))
    writing = [asyncio.create_task(Talk(former, ChatKey("telegram", str(n))).says("hello")) for n in range(30)]
    while not standby.done():
        cut(postgresql)
        await asyncio.wait([standby], timeout=0.3)
    outcomes = await asyncio.gather(*writing, return_exceptions=True)
    relieved = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    assert all(isinstance(outcome, Relieved) for outcome in relieved), relieved
    assert await next_.verify() == []


async def test_who_serves_is_called_when_another_process_receives(opens: Opens) -> None:
    serving, replica = await opens(), await opens()
    await serving.duty().take(BOT)
    await within(10, serving.duty().called())
    arrived = await Talk(replica).arrives("hello")
    await within(3, serving.duty().called())  # the next look by itself comes after five seconds
    assert await serving.waiting() == [arrived]
    await serving.begin([arrived], state=(await Talk(serving, said=7).opens("x")).state, tokens=1, at=START)
