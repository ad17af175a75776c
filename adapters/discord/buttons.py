"""Buttons and lists under a message, in Discord's 100 characters or in the store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import discord

from adapters.discord.conversion import PLATFORM
from core.adapter import Outgoing
from core.buttons import ButtonData, Press
from core.messages import Choice

MOST_DATA = 100
"""Characters of a custom id, and of an option's value: https://discord.com/developers/docs/components/reference."""
MOST_LABEL, MOST_OPTIONS, ROWS, ROW = 80, 25, 5, 5
ASKING, MENU = "?", "menu "
"""How the custom ids begin of a button that asks for words, and of a list."""


@dataclass(frozen=True, slots=True)
class Pressed:
    """What was pressed: its data, and whether it asks for words first."""

    data: str
    asks: bool = False


class Buttons(ButtonData):
    """Makes the buttons of choices for the one person who may press them.

    They are never kept by the library, which would forget them at a restart: a press is read from its custom id.
    """

    def __init__(self) -> None:
        super().__init__(PLATFORM, lambda data: len(data) < MOST_DATA)

    async def view(self, out: Outgoing, *, elsewhere: bool | None = None) -> discord.ui.View | None:
        """Make the buttons of a message; None without choices, or with nobody they are for.

        When it is shown `elsewhere` (as what is for one person alone is, in their own chat) what pressing says is said
        in the chat that the message is about.
        """
        if out.asker is None or not out.choices:
            return None
        chat = out.chat if (out.only_for is not None if elsewhere is None else elsewhere) else None
        choices = {choice.command: choice for choice in out.choices}
        written = {c: await self.write(c.command, out.asker, chat) for c in choices.values()}
        return _view({choice: data for choice, data in written.items() if data})

    async def pressed(self, pressed: Pressed, by: int) -> Press | None:
        """Read what somebody pressed; None when it is not theirs, or gone. Raises StoreError."""
        return await self.read(pressed.data, str(by))


def pressed_of(interaction: discord.Interaction) -> Pressed:
    """Give what was pressed or chosen, or the button that a form came from."""
    data = dict(interaction.data or {})
    custom_id = str(data.get("custom_id", ""))
    values = data.get("values")
    if custom_id.startswith(MENU) and isinstance(values, list) and values:
        return Pressed(str(values[0]))
    return Pressed(custom_id.removeprefix(ASKING), custom_id.startswith(ASKING))


def label_of(message: discord.Message | None, custom_id: str) -> str:
    """Give the label of a button under a message."""
    rows = message.components if message else []
    buttons = (b for row in rows if isinstance(row, discord.ActionRow) for b in row.children)
    return next((b.label or "" for b in buttons if isinstance(b, discord.Button) and b.custom_id == custom_id), "")


def _button(choice: Choice, data: str) -> discord.ui.Button[discord.ui.View]:
    style = discord.ButtonStyle.secondary if choice.minor else discord.ButtonStyle.primary
    return discord.ui.Button(
        style=style, label=choice.label[:MOST_LABEL], custom_id=f"{ASKING}{data}" if choice.asks else data
    )


def _list(menu: str, written: Iterable[tuple[Choice, str]], number: int) -> discord.ui.Select[discord.ui.View]:
    options = [discord.SelectOption(label=c.label[:MOST_LABEL], value=data) for c, data in written][:MOST_OPTIONS]
    return discord.ui.Select(custom_id=f"{MENU}{number}", placeholder=menu[:150], options=options)


def _view(written: dict[Choice, str]) -> discord.ui.View | None:
    """Put lists above the buttons, as many as there is room for."""
    menus = list(dict.fromkeys(choice.menu for choice in written if choice.menu))[: ROWS - 1]
    lists = [_list(menu, [(c, d) for c, d in written.items() if c.menu == menu], n) for n, menu in enumerate(menus)]
    buttons = [_button(choice, data) for choice, data in written.items() if not choice.menu]
    view = discord.ui.View(timeout=None)
    for item in (*lists, *buttons[: ROW * (ROWS - len(lists))]):
        view.add_item(item)
    view.stop()
    return view if view.children else None
