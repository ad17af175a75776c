"""What the lines typed in the terminal do, whatever the platform: the verbs that all have."""

from __future__ import annotations

import os
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from core.errors import KeepmindError

U = TypeVar("U")
M = TypeVar("M")
Verb = Callable[[str], str | None]


class Mistyped(KeepmindError):
    """A line that can't be done; its text says why."""


class Hands(ABC, Generic[U, M]):
    """Does what one person after the other types. `help` lists the verbs."""

    help: str

    def __init__(self, who: str) -> None:
        self._people: dict[str, U] = {}
        self._said: dict[str, M] = {}
        self.name, self.me = who, self._person(who)

    @abstractmethod
    def come(self, name: str) -> U:
        """Let somebody be there; the same name is the same person at the next start."""

    @abstractmethod
    def say(self, text: str) -> M | None:
        """Say something; gives the message, if it is one."""

    @abstractmethod
    def verbs(self) -> dict[str, Verb]:
        """Give what else can be done, by the words for it."""

    def do(self, line: str) -> str | None:
        """Do what a line says; gives what to print of it. Raises Mistyped."""
        try:
            if not line.startswith(":") or line.startswith("::"):
                self._keep(self.say(line.removeprefix(":")))
                return None
            return self._verb(*line[1:].split(" ", 1))
        except (LookupError, ValueError, OSError) as error:
            said = line.split(" ", 1)[0]
            raise Mistyped(f"{said}: {error.strerror if isinstance(error, OSError) else error.args[0]}") from None

    def _verb(self, verb: str, rest: str = "") -> str | None:
        known: dict[str, Verb] = {"as": self._as, "help": lambda _: self.help, **self.verbs()}
        if verb not in known:
            raise Mistyped(f":{verb} is not known; :help lists what is")
        return known[verb](rest.strip())

    def _person(self, name: str) -> U:
        if name not in self._people:
            self._people[name] = self.come(name)
        return self._people[name]

    def _as(self, name: str) -> str:
        self.me, self.name = self._person(given(name, "a name")), name
        return f"You are {name}."

    def _keep(self, message: M | None) -> None:
        """Remember what was said last."""
        if message is not None:
            self._said[self.name] = message

    def mine(self) -> M:
        """Give what the person said last. Raises LookupError."""
        if self.name not in self._said:
            raise LookupError("you have said nothing yet")
        return self._said[self.name]

    def take_back(self) -> M:
        """Give what the person said last, and forget it. Raises LookupError."""
        message = self.mine()
        del self._said[self.name]
        return message


def given(text: str, what: str) -> str:
    """Give what follows a verb. Raises ValueError when nothing does."""
    if not text:
        raise ValueError(f"give {what}")
    return text


def number_of(text: str, most: int) -> int:
    """Read a number that counts from one. Raises ValueError."""
    if not text.isdecimal() or not 0 < int(text) <= most:
        raise ValueError(f"give a number from 1 to {most}")
    return int(text)


def file_of(text: str) -> tuple[Path, str]:
    """Read a file's name and the words that go with it. Raises ValueError."""
    name, *words = shlex.split(given(text, "a file"))
    return Path(os.path.expanduser(name)), " ".join(words)


def save(data: bytes, name: str, given_name: str) -> str:
    """Write a file that is not there yet; gives what to print. Raises OSError."""
    path = Path(given_name or Path(name).name)
    with path.open("xb") as stream:
        stream.write(data)
    return f"Saved as {path}."
