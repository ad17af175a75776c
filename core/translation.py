"""What the bot says in its own name, in the language of whom it speaks to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import NullTranslations, translation
from pathlib import Path

DOMAIN = "keepmind"
CATALOGUES = Path(__file__).parent / "locale"
"""Where the catalogues are: `ru/LC_MESSAGES/keepmind.po`, and beside it the compiled `.mo`."""
ENGLISH = "en"
"""What the sentences are written in, so that it needs no catalogue."""
_spoken: ContextVar[str] = ContextVar("language", default=ENGLISH)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Speak a language until the block is left, in this task and in those it begins."""
    before = _spoken.set(known(language))
    try:
        yield
    finally:
        _spoken.reset(before)


def spoken(sentence: str, **values: object) -> str:
    """Say a sentence in the language spoken now, with its {names} filled in; as it stands where none translates it."""
    said = _catalogue(_spoken.get()).gettext(sentence) if sentence else ""
    return said.format(**values) if values else said


def counted(one: str, many: str, count: int, **values: object) -> str:
    """Say a sentence about a number of things, its {count}, in the form that the language has for it."""
    return _catalogue(_spoken.get()).ngettext(one, many, count).format(count=count, **values)


def marked(sentence: str) -> str:
    """Mark a sentence that is said later, so that it gets into the catalogues."""
    return sentence


def known(language: str) -> str:
    """Give the language that a tag such as `ru`, `zh_CN` or `zh-Hans-CN` names; English when it is not spoken."""
    parts = language.casefold().replace("-", "_").split("_")[:3]
    tags = ("_".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((_names()[tag] for tag in tags if tag in _names()), ENGLISH)


def languages() -> tuple[str, ...]:
    """Give the languages that are spoken, sorted."""
    return tuple(sorted(_names().values()))


@cache
def _names() -> Mapping[str, str]:
    found = [path.parents[1].name for path in CATALOGUES.glob(f"*/LC_MESSAGES/{DOMAIN}.mo")]
    return {name.casefold(): name for name in (ENGLISH, *found)}


@cache
def _catalogue(language: str) -> NullTranslations:
    return translation(DOMAIN, CATALOGUES, [language], fallback=True)
