"""Spoils something that is well formed: values of wrong types, too large, too long, missing, or with odd characters."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    2**63,
    -(2**80),
    10**400,
    1.5,
    float("inf"),
    "",
    " ",
    "\0",
    "\ud800",
    "a\u202eb\u200b",
    "../../etc/passwd",
    "%s %n {0}",
    "' OR 1=1 --",
    "x" * 5000,
    [],
    {},
    [[]],
    [None],
    {"id": None},
    {"\0": "\ud800"},
)
GONE = object()
Path = tuple[Any, ...]


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Give the way to each value within a value."""
    if path:
        yield path
    within = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in within:
        yield from places(one, (*path, key))


def spoil(value: Any, path: Path, odd: Any) -> Any:
    """Give a copy of a value with another at a place, or none there; a place that is gone already stays so."""
    whole = copy.deepcopy(value)
    inner = whole
    for key in path[:-1]:
        if not _has(inner, key):
            return whole
        inner = inner[key]
    if not _has(inner, path[-1]):
        return whole
    if odd is GONE and isinstance(inner, dict):
        del inner[path[-1]]
    elif odd is not GONE:
        inner[path[-1]] = odd
    return whole


def _has(value: Any, key: Any) -> bool:
    if isinstance(value, list):
        return isinstance(key, int) and key < len(value)
    return isinstance(value, dict) and key in value


@st.composite
def spoilt(draw: st.DrawFn, *whole: Any) -> Any:
    """Give one of several values, spoilt at one to three places."""
    value = draw(st.sampled_from(whole))
    for _ in range(draw(st.integers(1, 3))):
        if found := list(places(value)):
            value = spoil(value, draw(st.sampled_from(found)), draw(st.sampled_from((GONE, *ODD))))
    return value
