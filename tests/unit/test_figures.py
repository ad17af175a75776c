"""What is counted, in words and with small charts."""

from __future__ import annotations

from datetime import date

import pytest

from core.commands.figures import chart, daily, stored
from core.records import Day, Stats
from core.translation import speaking


@pytest.mark.parametrize(
    ("counts", "drawn"),
    [
        ([], ""),
        ([0, 0], "▁▁"),
        ([0, 1, 7], "▁▂█"),
        ([1, 1000], "▂█"),
        ([0, 1, 2, 3, 4, 5, 6, 7], "▁▂▃▄▅▆▇█"),
    ],
)
def test_a_chart_is_as_high_as_its_counts_and_the_least_of_them_is_seen(counts: list[int], drawn: str) -> None:
    assert chart(counts) == drawn


def test_what_went_on_is_a_line_for_each_thing() -> None:
    days = [Day(date(2026, 3, 1)), Day(date(2026, 3, 2), turns=4, answered=3, failed=1, people=2, tokens=1200)]
    assert daily(days) == [
        "turns by day: ▁█ today 4, in 2 days 4",
        "answers by day: ▁█ today 3, in 2 days 3",
        "failures by day: ▁█ today 1, in 2 days 1",
        "tokens said by day: ▁█ today 1,200, in 2 days 1,200",
        "people by day: ▁█ today 2",
    ]


def test_where_nothing_went_on_nothing_is_drawn() -> None:
    assert daily([Day(date(2026, 3, 1))]) == []
    assert stored(Stats(0, 0, 0, 0, 0, 0, 0))[0] == "chats: 0"


def test_it_is_said_in_the_language_spoken() -> None:
    with speaking("ru"):
        [line, *_] = daily([Day(date(2026, 3, 1), turns=1)])
    assert line.startswith("обмены репликами по дням: █")
