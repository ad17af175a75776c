"""In which language people use Discord: it is told with what they call and press alone, and not with what they say."""

from __future__ import annotations

from collections import OrderedDict

import discord

from core.messages import Person

_PEOPLE = 10_000
_USUAL = discord.Locale.american_english


class Languages:
    """Keeps in mind the languages of those who called or pressed something lately, since the start."""

    def __init__(self) -> None:
        self._known: OrderedDict[Person, str] = OrderedDict()

    def learn(self, person: Person, language: str) -> None:
        """Take notice of somebody's language."""
        self._known[person] = language
        self._known.move_to_end(person)
        if len(self._known) > _PEOPLE:
            self._known.popitem(last=False)

    def of(self, person: Person, guild: discord.Guild | None) -> str:
        """Give the language to speak to somebody in a server or in private; empty when nothing tells."""
        return self._known.get(person) or (language_of(guild) if guild is not None else "")


def language_of(guild: discord.Guild) -> str:
    """Give the language of a server; empty where it has chosen none, which only a community can."""
    locale = guild.preferred_locale
    return "" if locale is _USUAL and "COMMUNITY" not in guild.features else code_of(locale)


def code_of(locale: discord.Locale) -> str:
    """Give the code of a language; what the library does not know it takes as it comes, words or not."""
    return str(locale.value)
