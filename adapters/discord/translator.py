"""Names and descriptions of commands in the languages of the catalogues, so that each reads them in their own."""

from __future__ import annotations

import re

import discord
from discord import app_commands
from discord.app_commands import TranslationContextLocation, TranslationContextTypes, locale_str

from core.commands.command import spelled
from core.translation import ENGLISH, known, marked, speaking, spoken

NAMES = (
    marked("name:admin"),
    marked("name:allow"),
    marked("name:aside"),
    marked("name:ask"),
    marked("name:back"),
    marked("name:block"),
    marked("name:clear"),
    marked("name:code"),
    marked("name:compact"),
    marked("name:discard"),
    marked("name:explain"),
    marked("name:export"),
    marked("name:fact"),
    marked("name:file"),
    marked("name:forget"),
    marked("name:help"),
    marked("name:history"),
    marked("name:import"),
    marked("name:how"),
    marked("name:incognito"),
    marked("name:key"),
    marked("name:link"),
    marked("name:memory"),
    marked("name:number"),
    marked("name:off"),
    marked("name:on"),
    marked("name:page"),
    marked("name:pin"),
    marked("name:privacy"),
    marked("name:retry"),
    marked("name:save"),
    marked("name:search"),
    marked("name:set"),
    marked("name:share"),
    marked("name:start"),
    marked("name:stats"),
    marked("name:stop"),
    marked("name:sure"),
    marked("name:text"),
    marked("name:unblock"),
    marked("name:undo"),
    marked("name:unlink"),
    marked("name:unpin"),
    marked("name:usage"),
    marked("name:value"),
    marked("name:view"),
    marked("name:what"),
    marked("name:which"),
    marked("name:whom"),
    marked("name:why"),
)
"""The words that commands and arguments are called by, each said as one word. What has no such word keeps its name."""
_NAMED = (
    TranslationContextLocation.command_name,
    TranslationContextLocation.group_name,
    TranslationContextLocation.parameter_name,
)
MOST_NAME, MOST_TEXT = 32, 100


class Catalogues(app_commands.Translator):
    """Translates what Discord shows of the commands."""

    async def translate(
        self, string: locale_str, locale: discord.Locale, context: TranslationContextTypes
    ) -> str | None:
        """Give a name or a description in a language; None where nobody has translated it."""
        language = known(locale.value)
        if language == ENGLISH:
            return None
        slash = context.location in _NAMED and not isinstance(context.data, app_commands.ContextMenu)
        with speaking(language):
            said = _named(string.message) if slash else _described(string.message, context.location)
        return said[: MOST_NAME if slash else MOST_TEXT] if said != string.message else None


def _named(word: str) -> str:
    wanted = f"name:{word}"
    said = spoken(wanted)
    return said if said != wanted else word


def _described(words: str, location: TranslationContextLocation) -> str:
    if location is TranslationContextLocation.group_description:
        return re.sub(r"\w+", lambda word: _named(word[0]), words)
    return spelled(words) if location is TranslationContextLocation.parameter_description else spoken(words)
