"""Who the bot is: a persona is a text file, with what else is its own before the text."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from config import checks
from config.complaint import complaint
from config.files import path_of, text_of
from config.section import Kind, Kinds, Names, Section
from core.errors import ConfigError

FOLDER = Path(__file__).parent / "personas"
_FENCE = re.compile(r"\+\+\+[ \t]*\r?\n(?P<own>(?:.*?\n)?)\+\+\+[ \t]*(?:\r?\n|$)", re.DOTALL)


class PersonaFile(Section):
    """A persona as it is written: its text, and what it has of its own; blank is what the settings say."""

    text: str = Field(description="What the model is told of who it is: all that stands after the settings.")
    name: str = Field("", max_length=64, description="What it is called; blank: engine.name.")
    language: Annotated[str, AfterValidator(checks.language)] | None = Field(
        None, description="Language of the bot's own sentences for people whose own is not known: en, ru or zh."
    )
    model: str | None = Field(None, description="Model of the same server that answers.")
    history: Kind | None = Field(None, description="Its kind of history.")
    beside: Kinds | None = Field(None, description="Kinds of memory beside it.")
    fields: Names | None = Field(None, description="Facts it is asked to keep.")
    tools: Annotated[Names, AfterValidator(checks.functions)] = Field(
        (), description="Functions the model may call, each a tool of your own written package.module:function."
    )


class _Written(BaseModel):
    """Gives the settings of a persona the form of a section, as `complaint` reads it."""

    persona: PersonaFile


def load_persona(name: str) -> PersonaFile:
    """Read a persona by its name in `config/personas`, or by the path of a file.

    Settings stand before the text, in TOML between two lines of `+++`.
    Raises ConfigError when there is none, when it has no text, and for a setting that can't be used.
    """
    try:
        whole = text_of(FOLDER / f"{name}.md" if name in personas() else path_of(name))
    except (OSError, ValueError):
        known = ", ".join(personas())
        raise ConfigError(
            f"the persona {name!r} is not there; write one of {known} or the path of a text file of at most a megabyte"
        ) from None
    head = _FENCE.match(whole)
    text = whole[head.end() :].strip() if head else whole.strip()
    if not text:
        raise ConfigError(f"the persona {name!r} has no text that says who the bot is")
    return _checked(name, {**_toml(name, head["own"] if head else ""), "text": text})


def personas() -> list[str]:
    """Give the names of the personas that come with it."""
    return sorted(path.stem for path in FOLDER.glob("*.md"))


def _toml(name: str, own: str) -> dict[str, Any]:
    try:
        return tomllib.loads(own)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the settings of the persona {name!r} are not valid TOML: {error}") from None


def _checked(name: str, values: dict[str, Any]) -> PersonaFile:
    try:
        return _Written.model_validate({"persona": values}).persona
    except ValidationError as error:
        written: dict[tuple[str, ...], str] = {("persona", key): f"{key} of the persona {name!r}" for key in values}
        sentence = complaint(_Written, error, written)
    raise ConfigError(sentence)
