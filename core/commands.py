"""Functions a person may call: plain async functions, declared once for every platform."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from core.errors import CommandError
from core.messages import Message, Person, Reply

if TYPE_CHECKING:
    from core.engine import Engine

Body = Callable[..., Awaitable["Reply | str"]]


@dataclass(frozen=True)
class Context:
    """Who called a command, where, and the engine it acts on."""

    message: Message
    engine: Engine
    admin: bool = False

    @property
    def person(self) -> Person:
        """Who called."""
        return self.message.sender

    @property
    def scope(self) -> str:
        """The scope of facts here: `private`, or this group."""
        return self.message.scope


@dataclass(frozen=True)
class Parameter:
    """One argument of a command: `rest` takes all the words that are left."""

    name: str
    default: str | None
    rest: bool


@dataclass(frozen=True)
class Command:
    """A function a person may call, by a name of one or more words.

    `admin` commands are refused to others. `at_once` ones do not wait for the turn in progress. Replies of `private`
    ones are shown to the caller alone.
    """

    name: str
    body: Body
    summary: str
    parameters: tuple[Parameter, ...]
    admin: bool = False
    at_once: bool = False
    private: bool = False

    @property
    def usage(self) -> str:
        """How it is written: optional arguments stand in brackets."""
        words = [f"[{p.name.upper()}]" if p.default is not None else p.name.upper() for p in self.parameters]
        return " ".join([f"/{self.name}", *words])

    async def run(self, context: Context, arguments: str) -> Reply:
        """Run it. Raises CommandError in words for the person."""
        if self.admin and not context.admin:
            raise CommandError("Only an admin can do that.")
        reply = await self.body(context, **self._bind(arguments))
        return Reply(reply, private=self.private) if isinstance(reply, str) else reply

    def _bind(self, arguments: str) -> dict[str, str]:
        words = arguments.split()
        bound: dict[str, str] = {}
        for number, p in enumerate(self.parameters):
            given = arguments.split(maxsplit=number)[number:] if p.rest else words[number : number + 1]
            if not given and p.default is None:
                raise CommandError(f"Please say it as {self.usage}")
            bound[p.name] = given[0].strip() if given else str(p.default)
        return bound


@overload
def command(body: Body) -> Command: ...
@overload
def command(
    *, name: str = "", admin: bool = False, at_once: bool = False, private: bool = False
) -> Callable[[Body], Command]: ...
def command(
    body: Body | None = None, *, name: str = "", admin: bool = False, at_once: bool = False, private: bool = False
) -> Command | Callable[[Body], Command]:
    """Make a command of an async function `(context, …) -> str | Reply`; its docstring's first line is its summary.

    Arguments are texts. The last one takes all the words that are left. The name is the function's, with its
    underscores as spaces, so `admin_stats` is called `/admin stats`.
    """
    if body is None:
        return lambda b: _make(b, name, admin, at_once, private)
    return _make(body, name, admin, at_once, private)


def _make(body: Body, name: str, admin: bool, at_once: bool, private: bool) -> Command:
    parameters = list(inspect.signature(body).parameters.values())[1:]
    described = tuple(
        Parameter(p.name, None if p.default is p.empty else str(p.default), rest=p is parameters[-1])
        for p in parameters
    )
    summary = (inspect.getdoc(body) or "").partition("\n")[0]
    return Command(name or _name(body), body, summary, described, admin, at_once, private)


def _name(body: Any) -> str:
    return str(body.__name__).strip("_").replace("_", " ")


class Commands(Sequence[Command]):
    """All commands of a bot. Of two with one name the later one counts."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self._by_name = {c.name: c for c in commands}
        self._listed = sorted(self._by_name.values(), key=lambda c: c.name)

    def __getitem__(self, index: Any) -> Any:
        return self._listed[index]

    def __len__(self) -> int:
        return len(self._listed)

    def find(self, text: str) -> tuple[Command | None, str] | None:
        """Read a message as a command: the command (None when there is no such one) and its arguments.

        Gives None for what is no command at all. `/memory@mybot why age` finds `memory why`; the longest name wins.
        """
        words = text.strip().split(maxsplit=3)
        if not words or not _looks_like_command(words[0]):
            return None
        words[0] = words[0][1:].partition("@")[0]
        for count in range(min(len(words), 3), 0, -1):
            found = self._by_name.get(" ".join(words[:count]).casefold())
            if found is not None:
                return found, _after(text.strip(), count)
        return None, ""


def _looks_like_command(word: str) -> bool:
    name = word[1:].partition("@")[0]
    return word.startswith("/") and name.replace("_", "").replace("-", "").isalnum() and name[0].isalpha()


def _after(text: str, count: int) -> str:
    parts = text.split(maxsplit=count)
    return parts[count] if len(parts) > count else ""
