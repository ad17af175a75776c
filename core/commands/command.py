"""Functions a person may call: plain async functions, declared once for every platform."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NewType, get_type_hints, overload

from pydantic import TypeAdapter, ValidationError

from core import sentences
from core.conversation import Conversation
from core.errors import CommandError
from core.messages import Attachment, Message, Person, Reply
from core.store import ConversationStore
from core.translation import marked, speaking, spoken
from core.views import viewed

if TYPE_CHECKING:
    from core.compose import Composer
    from core.engine import Engine

Body = Callable[..., Awaitable["Reply | str"]]
FactKey = NewType("FactKey", str)
"""A parameter that names a fact of the caller's: platforms that suggest arguments suggest these."""
NO_FILE = marked("I found no file {name}. Please send one with it, as {usage}")
_CAPITALS = re.compile(r"[A-Z][A-Z_]+")


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

    @property
    def store(self) -> ConversationStore:
        """Where everything is kept."""
        return self.engine.shared.store

    @property
    def now(self) -> datetime:
        """The time, aware UTC."""
        return self.engine.shared.clock.now()

    @property
    def composer(self) -> Composer:
        """What composes the prompts of this chat."""
        return self.engine.shared.composers.of(self.message.chat)

    async def here(self) -> Conversation:
        """Give what is remembered of this chat, with the caller's facts."""
        person = None if self.message.anonymous else self.person
        here = await self.store.load(self.message.chat, person, private=self.message.private)
        return await viewed(self.store, here)

    async def choose(self, **chosen: Any) -> None:
        """Change what the caller chose about their memory: fields of PersonSettings."""
        await self.store.choose(self.person, lambda settings: replace(settings, **chosen))


@dataclass(frozen=True)
class Parameter:
    """One argument of a command, read from text as its type says: `rest` takes all the words that are left.

    One whose type is Attachment is a file sent with the command, and no words.
    """

    name: str
    type: Any
    required: bool
    rest: bool

    @property
    def is_file(self) -> bool:
        """Whether it is a file."""
        return self.type in (Attachment, Attachment | None)

    def read(self, text: str) -> Any:
        """Give the value a person wrote. Raises CommandError in words for them."""
        if self.type in (str, FactKey):
            return text
        try:
            return TypeAdapter(self.type).validate_python(text)
        except ValidationError as error:
            reason = error.errors()[0]["msg"]
            raise CommandError(
                spoken("{name}: {reason}, not {text!r}.", name=self.name, reason=reason, text=text[:40])
            ) from None


@dataclass(frozen=True)
class Command:
    """A function a person may call, by a name of one or more words.

    `admin` commands are refused to others. `at_once` ones do not wait for the turn in progress. Replies of `private`
    ones are shown to the caller alone. One that `asks` the model counts as a message, of which only so many may be said
    in a minute. `arguments` is how its arguments are written, where their names don't tell.
    """

    name: str
    body: Body
    summary: str
    parameters: tuple[Parameter, ...]
    admin: bool = False
    at_once: bool = False
    private: bool = False
    asks: bool = False
    arguments: str | None = None

    @property
    def usage(self) -> str:
        """How it is written, in the language spoken now: optional arguments stand in brackets."""
        return f"/{self.name} {spelled(self.written)}".rstrip()

    @property
    def written(self) -> str:
        """How its arguments are written, in English: what stands for others is in capitals."""
        words = [p.name.upper() if p.required else f"[{p.name.upper()}]" for p in self.parameters]
        return " ".join(words) if self.arguments is None else self.arguments

    def summary_in(self, language: str) -> str:
        """Give its summary in a language; as it was declared where nobody has translated it."""
        with speaking(language):
            return spoken(self.summary)

    async def run(self, context: Context, arguments: str) -> Reply:
        """Run it. Raises CommandError in words for the person."""
        if (self.private or self.admin) and context.message.anonymous:
            return Reply(spoken(sentences.NOBODY))  # shown openly, since there is nobody to show it to alone
        if self.admin and not context.admin:
            raise CommandError(spoken(sentences.ADMINS_ONLY))
        files = self._bind_files(context.message.attachments, arguments)
        reply = await self.body(context, **self._bind(arguments), **files)
        if isinstance(reply, str):
            reply = Reply(reply if reply.strip() else spoken(sentences.DONE))
        return replace(reply, private=reply.private or self.private)

    def _bind(self, arguments: str) -> dict[str, Any]:
        bound: dict[str, Any] = {}
        for number, p in enumerate(p for p in self.parameters if not p.is_file):
            left = arguments.split(maxsplit=number)[number:]
            given = left if p.rest else [word for text in left for word in text.split()[:1]]
            if given:
                bound[p.name] = p.read(given[0].strip())
            elif p.required:
                raise CommandError(spoken("Please say it as {usage}", usage=self.usage))
        return bound

    def _bind_files(self, files: Sequence[Attachment], arguments: str) -> dict[str, Any]:
        wanted = [p for p in self.parameters if p.is_file]
        if len(files) < sum(p.required for p in wanted):
            if arguments and len(wanted) == len(self.parameters):  # the words can only be the name of one
                name = arguments[:80]
                raise CommandError(spoken(NO_FILE, name=name, usage=self.usage))
            raise CommandError(spoken("Please send a file with it, as {usage}", usage=self.usage))
        return {p.name: file for p, file in zip(wanted, files, strict=False)}


def spelled(arguments: str) -> str:
    """Write arguments in the language spoken now: what is in capitals stands for something."""
    return _CAPITALS.sub(lambda word: spoken(word[0]), arguments)


@overload
def command(body: Body) -> Command: ...
@overload
def command(
    *,
    name: str = "",
    admin: bool = False,
    at_once: bool = False,
    private: bool = False,
    asks: bool = False,
    arguments: str | None = None,
) -> Callable[[Body], Command]: ...
def command(
    body: Body | None = None,
    *,
    name: str = "",
    admin: bool = False,
    at_once: bool = False,
    private: bool = False,
    asks: bool = False,
    arguments: str | None = None,
) -> Command | Callable[[Body], Command]:
    """Make a command of an async function `(context, …) -> str | Reply`; its docstring's first line is its summary.

    Arguments are read from text as their type hints say. The last one takes all the words that are left. The name is
    the function's, with its underscores as spaces, so `admin_stats` is called `/admin stats`.
    """

    def make(body: Body) -> Command:
        summary = (inspect.getdoc(body) or "").partition("\n")[0]
        return Command(name or _name(body), body, summary, _parameters(body), admin, at_once, private, asks, arguments)

    return make if body is None else make(body)


def _parameters(body: Body) -> tuple[Parameter, ...]:
    named = [p for p in inspect.signature(body).parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if not named or not inspect.iscoroutinefunction(body):
        raise TypeError(f"the command {_name(body)} has to be an async function whose first parameter is the context")
    hints = get_type_hints(body)
    types = {p.name: hints.get(p.name, str) for p in named[1:]}
    last = [name for name, type_ in types.items() if type_ not in (Attachment, Attachment | None)][-1:]
    return tuple(Parameter(p.name, types[p.name], p.default is p.empty, rest=p.name in last) for p in named[1:])


def _name(body: Any) -> str:
    return str(body.__name__).strip("_").replace("_", " ")


class Commands(Sequence[Command]):
    """All commands of a bot. Of two with one name the later one counts."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self._by_name = {_plain(c.name): c for c in commands}
        self._listed = sorted(self._by_name.values(), key=lambda c: c.name)
        self._longest = max((len(name.split()) for name in self._by_name), default=1)

    def __getitem__(self, index: Any) -> Any:
        return self._listed[index]

    def __len__(self) -> int:
        return len(self._listed)

    def find(self, text: str) -> tuple[Command | None, str] | None:
        """Read a message as a command: the command (None when there is no such one) and its arguments.

        Gives None for what is no command at all. `/memory@mybot why age` finds `memory why`, and so does
        `/memory_why age`, as platforms write it whose names hold no spaces; the longest name wins.
        """
        words = text.split(maxsplit=self._longest)
        if not words or not _looks_like_command(words[0]):
            return None
        words[0] = words[0][1:].partition("@")[0]
        for count in range(min(len(words), self._longest), 0, -1):
            found = self._by_name.get(_plain(" ".join(words[:count])))
            if found is not None:
                return found, "".join(text.split(maxsplit=count)[count:])
        return None, ""

    def nearest(self, name: str) -> str:
        """Give the first word of the command, none of admins, that a name is nearly; nothing where there is none."""
        words = {c.name.partition(" ")[0] for c in self._listed if not c.admin}
        return next(iter(get_close_matches(_plain(name), sorted(words), n=1, cutoff=0.7)), "")

    def takes_file(self, text: str) -> bool:
        """Say whether a message is a command that takes a file."""
        command, _ = self.find(text) or (None, "")
        return command is not None and any(p.is_file for p in command.parameters)

    def is_foreign(self, text: str) -> bool:
        """Say whether a command begins with a word that no command of ours begins with."""
        first = _plain(text.split(maxsplit=1)[0][1:].partition("@")[0]).partition(" ")[0]
        return all(name.partition(" ")[0] != first for name in self._by_name)


def _plain(name: str) -> str:
    return name.casefold().replace("_", " ")


def _looks_like_command(word: str) -> bool:
    name = word[1:].partition("@")[0]
    return word.startswith("/") and name.replace("_", "").replace("-", "").isalnum() and name[0].isalpha()
