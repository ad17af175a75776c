"""Three processes on one PostgreSQL, who serves killed again and again: order is kept, nothing lost or doubled."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from adapters.telegram.server import TOKEN, TelegramServer
from tests.end_to_end.bot import Bot
from tests.end_to_end.crowd import Crowd
from tests.end_to_end.forks import Forks, forks
from tests.end_to_end.model_server import ModelServer
from tests.postgresql import Server

Gather = Callable[[int, int], Crowd]


@pytest.fixture
async def gather(postgresql: Server, tmp_path: Path) -> AsyncIterator[Gather]:
    """Gather so many people who each say so much."""
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ModelServer([{"match": r"(message .*)", "reply": r"Heard: \1"}]))
        telegram = await stack.enter_async_context(TelegramServer())
        chosen = {
            "TELEGRAM_BOT_TOKEN": TOKEN,
            "TELEGRAM_API_URL": telegram.url,
            "KEEPMIND_ALLOWED": "telegram:*",
            "KEEPMIND_WINDOW__HIGH_TURNS": "6",
            "KEEPMIND_WINDOW__LOW_TURNS": "2",
            "KEEPMIND_DATABASE_URL": postgresql.cleared(),
        }
        bot = Bot(model, tmp_path, chosen)
        started: Forks = await stack.enter_async_context(forks(bot, "telegram"))
        yield lambda people, each: Crowd(bot, started, telegram, people=people, each=each)


async def test_twenty_chats_go_on_while_who_serves_is_killed_three_times(gather: Gather) -> None:
    figures = await gather(20, 10).lives(kills=3, seconds=6)
    assert figures.kills == 3
    assert figures.stored == 200
    assert figures.summaries > 0


@pytest.mark.soak
async def test_three_hundred_chats_go_on_while_who_serves_is_killed_every_few_seconds(gather: Gather) -> None:
    figures = await gather(300, 20).lives(kills=30, seconds=150)
    assert figures.stored == 6000
    print(f"\n{figures}")
