"""Makes the bot that the settings describe: who answers where, with which model, memories and tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from bots.meaning import open_meaning
from bots.memories import chosen_memories
from bots.models import open_model
from bots.plugins import plugin
from config.persona import PersonaFile, load_persona
from config.section import pairs
from config.settings import Settings
from core.bot import Bot
from core.commands.command import Command
from core.embedding import Meaning
from core.errors import ConfigError
from core.llm import LLM, TokenCounter
from core.messages import ChatKey
from core.personas import Persona, Places
from core.tools import Tool


@dataclass(frozen=True)
class Role:
    """A persona that answers somewhere, and the settings as they are there."""

    file: PersonaFile
    settings: Settings

    def played_by(self, llm: LLM, counter: TokenCounter, meaning: Meaning | None) -> Persona:
        """Give the persona with its model, and what its archive finds other words by. Raises ConfigError."""
        engine = self.settings.engine
        return Persona(
            f"Your name is {engine.name}.\n\n{self.file.text}",
            chosen_memories(self.settings, llm, meaning),
            [_tool(name) for name in self.file.tools],
            engine.language,
            llm,
            counter,
        )


def roles(settings: Settings) -> Places[Role]:
    """Give the persona of each place that the settings name. Raises ConfigError for one that can't be used."""
    personas = Places(settings.engine.persona, pairs(settings.engine.personas))
    histories = Places("", pairs(settings.memory.chats))
    others = {place: _role(settings, _at(personas, place), _at(histories, place)) for place in _places(settings)}
    return Places(_role(settings, personas.usual), others)


@asynccontextmanager
async def open_bot(cast: Places[Role], llm: LLM, counter: TokenCounter) -> AsyncIterator[Bot]:
    """Make the bot; models that personas have of their own are open until the block ends. No network is touched yet.

    `llm` and `counter` are the model of the usual persona. Raises ConfigError.
    """
    models = {cast.usual.settings.model.chosen: (llm, counter)}
    async with AsyncExitStack() as stack:
        for role in cast.others.values():
            if role.settings.model.chosen not in models:
                opened = await stack.enter_async_context(open_model(role.settings))
                models[role.settings.model.chosen] = opened
        meaning = await stack.enter_async_context(open_meaning(cast.usual.settings))
        personas = cast.each(lambda role: role.played_by(*models[role.settings.model.chosen], meaning))
        usual = personas.usual
        commands = [_command(name) for name in cast.usual.settings.engine.commands]
        yield Bot(usual.text, usual.tools, commands, usual.memory, personas.others)


def _places(settings: Settings) -> Sequence[str]:
    return list(pairs((*settings.engine.personas, *settings.memory.chats)))


def _at(places: Places[str], place: str) -> str:
    if ":" not in place:
        return places.others.get(place, places.usual)
    return places.of(ChatKey.parse(place))


def _role(settings: Settings, name: str, history: str = "") -> Role:
    """Give a persona by its name, in a place that may have a history of its own."""
    file = load_persona("small" if name == "default" and settings.model.embedded else name)
    histories = dict(entry.rsplit("=", 1) for entry in settings.memory.personas)  # a path may hold = as well
    history = history or histories.get(name, "")
    return Role(file, as_persona(settings, file, history))


def as_persona(settings: Settings, file: PersonaFile, history: str = "") -> Settings:
    """Give the settings with what a persona has of its own, and perhaps a kind of history over both.

    The small local model can be no other: a model is named to a server.
    """
    memory: dict[str, object] = {"history": history or file.history or settings.memory.history}
    if file.beside is not None:
        memory |= {"beside": file.beside, "entities": False, "archive": False}
    engine = {"name": file.name or settings.engine.name, "language": file.language or settings.engine.language}
    parts = {
        "memory": settings.memory.model_copy(update=memory),
        "engine": settings.engine.model_copy(update=engine),
        "profile": settings.profile.model_copy(update={"fields": file.fields or settings.profile.fields}),
    }
    if file.model and not settings.model.embedded:
        parts["model"] = settings.model.model_copy(update={"name": file.model, "context": None})
    return settings.model_copy(update=parts)


def _command(name: str) -> Command:
    found = plugin("command", name)
    if not isinstance(found, Command):
        raise ConfigError(f"the command {name!r} is none: write @command of core above an async function")
    return found


def _tool(name: str) -> Tool:
    found = plugin("tool", name)
    if not isinstance(found, Tool):
        raise ConfigError(f"the tool {name!r} is none: write @tool of core above an async function")
    return found
