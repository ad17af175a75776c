"""A server that fails for minutes, in each of its ways: who speaks is told once, and answered when it is over."""

from __future__ import annotations

from collections.abc import Callable

import httpx2
import pytest

from core import sentences
from core.conversation import State
from tests.adapters.openai.scripted import Server, refused, said, stream
from tests.driving import turns, waits
from tests.fakes import HeldClock, World

FAULTS: dict[str, Callable[[], httpx2.Response | Exception]] = {
    "429": lambda: refused(429, "Too many requests", {"retry-after": "300"}),
    "hanging": lambda: httpx2.ReadTimeout("no byte came"),
    "cut": lambda: stream(broken=httpx2.ReadError("cut")),
    "500": lambda: refused(503, "overloaded"),
    "away": lambda: httpx2.ConnectError("nobody listens"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_what_is_said_meanwhile_is_answered_once_it_works_again(fault: str) -> None:
    server = Server(*(FAULTS[fault]() for _ in range(60)), stream(said("Hello", "stop")))
    world = World(llm=server.llm(), clock=HeldClock())  # type: ignore[arg-type] # not a scripted one
    world.adapter.pace = 0.0
    assert await world.said("one") == sentences.WAITS
    assert await world.say("two") is None
    await waits(world, 3600)
    assert world.adapter.texts() == [sentences.WAITS, "Hello"]
    (turn,) = await turns(world)
    assert (turn.state, [m.text for m in turn.messages]) == (State.DELIVERED, ["one", "two"])
    assert max(server.naps, default=0) < 60, "nobody is held up for as long as a server may ask"


async def test_a_stream_cut_after_words_were_shown_is_an_answer_with_a_mark() -> None:
    server = Server(stream(said("Half an ans"), broken=httpx2.ReadError("cut")))
    world = World(llm=server.llm())  # type: ignore[arg-type] # not a scripted one
    world.adapter.pace = 0.0
    assert await world.said("one") == f"Half an ans\n\n{sentences.INTERRUPTED}"
    assert await world.store.open_turns() == []
