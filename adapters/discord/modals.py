"""Forms: the one that asks for the words behind a command, and what was written into it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import discord

from adapters.discord.buttons import Pressed

MOST_TITLE, MOST_HINT, MOST_WORDS = 45, 100, 4000
FIELD = "words"


def form(pressed: Pressed, title: str, label: str, hint: str, words: str) -> discord.ui.Modal:
    """Make a form whose custom id is that of the button that opened it; `words` stand in it already, if they fit.

    The library does not keep it: what is written into it is taken even after a restart.
    """
    modal = discord.ui.Modal(title=_cut(title, MOST_TITLE) or "…", timeout=None, custom_id=pressed.data)
    shown = words if len(words) <= MOST_WORDS else ""  # a part of them would be taken for all
    field: discord.ui.TextInput[discord.ui.View] = discord.ui.TextInput(
        custom_id=FIELD, style=discord.TextStyle.paragraph, default=shown or None, max_length=MOST_WORDS
    )
    modal.add_item(discord.ui.Label(text=_cut(label, MOST_TITLE), description=_cut(hint, MOST_HINT), component=field))
    modal.stop()
    return modal


def written(interaction: discord.Interaction) -> str:
    """Give what was written into a form."""
    components = dict(interaction.data or {}).get("components")
    return next((str(f.get("value", "")).strip() for f in _fields(components) if f.get("custom_id") == FIELD), "")


def _fields(components: Any) -> Iterator[dict[str, Any]]:
    for component in components if isinstance(components, list) else ():
        yield component
        yield from _fields(component.get("components"))
        yield from _fields([component["component"]] if "component" in component else None)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
