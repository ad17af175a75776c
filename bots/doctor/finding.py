"""What a check found, in a sentence, and what to do about it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from core.errors import ConfigError, KeepmindError

Level = Literal["fine", "warning", "broken"]
LEVELS: tuple[Level, ...] = ("fine", "warning", "broken")


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the page: in which `room`, of what, how bad, what is so, and its fix where it needs one."""

    room: str
    about: str
    level: Level
    says: str
    fix: str = ""


LATER = "Try again later; what answers there may tell more in a log of its own."
SETTING = "Set it right where it is set: in the environment, .env or the TOML file; docs/configuration.md tells how."
Look = Callable[[], AsyncGenerator[Finding, None]]


@dataclass(frozen=True, slots=True)
class Check:
    """Something to look at. What hinders it from looking is found `about` it; it ends after so many seconds."""

    room: str
    about: str
    look: Look
    seconds: float = 20.0


def fine(room: str, about: str, says: str) -> Finding:
    """Find that all is well."""
    return Finding(room, about, "fine", says)


def advice(room: str, about: str, says: str, fix: str) -> Finding:
    """Find what is well as it is, and what could be done all the same."""
    return Finding(room, about, "fine", says, fix)


def warning(room: str, about: str, says: str, fix: str) -> Finding:
    """Find what an operator should know of, though the bot runs."""
    return Finding(room, about, "warning", says, fix)


def broken(room: str, about: str, says: str, fix: str) -> Finding:
    """Find what keeps something from working."""
    return Finding(room, about, "broken", says, fix)


def refused(room: str, about: str, error: KeepmindError) -> Finding:
    """Find what an error says; behind its semicolon stands what to do."""
    says, _, fix = str(error).partition("; ")
    return broken(room, about, sentence(says), sentence(fix) or (SETTING if isinstance(error, ConfigError) else LATER))


def sentence(words: str) -> str:
    """Begin with a capital, unless with a setting's name, and end with a full stop."""
    first = words.split(" ", 1)[0]
    begun = words if "." in first.rstrip(".") or "_" in first else words[:1].upper() + words[1:]
    return begun if not begun or begun.endswith((".", "!", "?")) else f"{begun}."


def worst(findings: Iterable[Finding]) -> Level:
    """Give the worst level there is."""
    return max((finding.level for finding in findings), key=LEVELS.index, default="fine")
