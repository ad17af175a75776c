"""Takes a text apart into the terms it is found by, in every language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from core.text.languages import COMPOUNDING, OF_SCRIPT, guessed, likeliest, silent

Stem = Callable[[str, str], str]
"""Gives the stem of a word, from the name of a language and the word; the word itself where it knows none."""
MOST_WORDS = 150
"""Words of a text that count: a long one would else be found by everything."""
LONGEST = 40
MOST_STEMS = 20_000
"""Words of a language whose stems are kept at hand."""
LONGEST_NAME, LONGEST_RUN = 4, 8
"""Words of a name at most, and characters of one in a script without spaces."""
SHORTEST_PART = 4
"""Letters that a part of a compound has at least."""
_EUROPEAN = ("english", "german", "french", "spanish", "italian", "portuguese", "dutch", "swedish", "polish", "turkish")
_EMPTY_HAN = frozenset(
    "的了是我你他她它们們在有和就不都也很到说說要去会會着著没沒看好这這那个個吗嗎呢吧啊过過与與或把被给給对對从從"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One word that is looked for: the `forms` it may be indexed by, in whatever language.

    `part` is how it begins or ends a longer word, empty where it can't; `split` are the words it may be made of.
    """

    forms: tuple[str, ...]
    part: str = ""
    split: tuple[tuple[str, str], ...] = ()


class Terms:
    """The terms of texts. Without a `stem` words are found only as they were written."""

    def __init__(self, stem: Stem | None = None) -> None:
        self._written = stem or _as_written
        self._stems: dict[str, dict[str, str]] = {}

    def of(self, text: str) -> list[str]:
        """Give the terms by which a text is found, each as often as it is said, in the order said."""
        found: list[str] = []
        for script, words in _by_script(text).items():
            found += self._indexed(script, words)
        return found

    def _indexed(self, script: str, words: Sequence[str]) -> Iterable[str]:
        if script in _GRAMS:
            return (gram for word in words for gram in _GRAMS[script](word))
        language = likeliest(words, script)
        known = self._known(language)
        stems = list(map(known.get, words))
        if None in stems:
            stems = [self._stem(language, word) if word not in known else known[word] for word in words]
        return filter(None, stems)

    def _known(self, language: str) -> dict[str, str]:
        """Give the stems met in a language; those of words that say nothing by themselves are empty."""
        known = self._stems.get(language)
        if known is None or len(known) > MOST_STEMS:
            known = self._stems[language] = dict.fromkeys(silent(language), "")
        return known

    def _stem(self, language: str, word: str) -> str:
        """Give the stem of a word that says something."""
        known = self._known(language)
        stem = known.get(word)
        if not stem:
            stem = _plain(self._written(language, word))
            known.setdefault(word, stem)
        return stem

    def wanted(self, text: str) -> list[Wanted]:
        """Give what to look for: each word once, unless it says nothing by itself."""
        found: dict[tuple[str, ...], Wanted] = {}
        for script, words in _by_script(text).items():
            for one in self._looked_for(script, words):
                found.setdefault(one.forms, one)
        return list(found.values())

    def _looked_for(self, script: str, words: Sequence[str]) -> Iterator[Wanted]:
        if script in _GRAMS:
            yield from (Wanted((gram,)) for word in words for gram in _GRAMS[script](word))
            return
        languages = _plausible(words, script)
        empty = silent(languages[0]) if languages else frozenset()
        yield from (self._word(word, languages) for word in words if word not in empty)

    def key(self, name: str) -> str:
        """Give what a name is kept under, however it is written and inflected."""
        return " ".join(
            "".join(words) if script in _GRAMS else " ".join(self._stems_of(script, words))
            for script, words in _by_script(name).items()
        )

    def parts(self, text: str) -> set[str]:
        """Give the keys of all that may be a name in a text: every word, and some words together."""
        found: set[str] = set()
        for script, words in _by_script(text).items():
            if script in _GRAMS:
                found.update(run[at:end] for run in words for at, end in _spans(len(run), LONGEST_RUN))
            else:
                stems = self._stems_of(script, words)
                found.update(" ".join(stems[at:end]) for at, end in _spans(len(stems), LONGEST_NAME))
        return found

    def _stems_of(self, script: str, words: Sequence[str]) -> list[str]:
        language = OF_SCRIPT.get(script, "")
        return [self._stem(language, word) for word in words]

    def _word(self, word: str, languages: Sequence[str]) -> Wanted:
        stems = dict.fromkeys(self._stem(name, word) for name in languages)
        forms = tuple(stems) or (_plain(word),)
        if COMPOUNDING.isdisjoint(languages):
            return Wanted(forms)
        shortest = min(forms, key=len)
        part = shortest if len(shortest) >= SHORTEST_PART else ""
        return Wanted(forms, part, tuple(self._splits(word, languages)))

    def _splits(self, word: str, languages: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Give the ways to take a compound apart, as even as possible first; letters that link its parts are left."""
        cuts = range(SHORTEST_PART, len(word) - SHORTEST_PART + 1)
        for at in sorted(cuts, key=lambda cut: abs(2 * cut - len(word))):
            head, tail = word[:at], word[at:]
            for name in languages[:1]:
                for first in dict.fromkeys((head, head.removesuffix("s"), head.removesuffix("en"))):
                    yield self._stem(name, first), self._stem(name, tail)


def _spans(length: int, longest: int) -> Iterator[tuple[int, int]]:
    """Give the beginning and the end of every stretch of a length at most."""
    return ((at, at + size) for at in range(length) for size in range(1, min(longest, length - at) + 1))


def _plausible(words: Sequence[str], script: str) -> tuple[str, ...]:
    """Give the languages that words may be in: what is looked for may stand in a text of another than it seems."""
    found = guessed(words, script)
    if script != "latin":
        return tuple(dict.fromkeys((*found, OF_SCRIPT.get(script, "")))) if script in OF_SCRIPT else ()
    return tuple(dict.fromkeys((*found, "english"))) if found else _EUROPEAN


def _as_written(_: str, word: str) -> str:
    return word


def _by_script(text: str) -> dict[str, list[str]]:
    """Give the words of a text by the script they are written in."""
    if text.isascii():
        return {"latin": _ASCII_WORD.findall(text.lower())[:MOST_WORDS]}
    found: dict[str, list[str]] = {}
    left = MOST_WORDS
    for word in _word().findall(unicodedata.normalize("NFKC", text).lower()):
        if word.isascii():
            found.setdefault("latin", []).append(word[:LONGEST])
            left -= 1
        else:
            left -= _add_runs(word, found)
        if left <= 0:
            break
    return found


def _add_runs(word: str, found: dict[str, list[str]]) -> int:
    """Add a word by its script, or each part of it where scripts meet; say for how many words it counts."""
    weight = 0
    for run in _RUN.finditer(word):
        script = run.lastgroup or "other"
        script = _alphabet(run[0]) if script == "other" else script
        found.setdefault(script, []).append(run[0][: 4 * LONGEST if script in _GRAMS else LONGEST])
        weight += 1 + len(run[0]) // 3 if script in _GRAMS else 1
    return weight


_ASCII_WORD = re.compile(rf"[a-z0-9]{{1,{LONGEST}}}")
_RUN = re.compile(
    "(?P<han>[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)"
    "|(?P<hangul>[\u1100-\u11ff\uac00-\ud7ff]+)"
    "|(?P<spaceless>[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+)"
    "|(?P<other>[^\u3005-\u30ff\u31f0-\u9fff\uac00-\ud7ff\uf900-\ufaff\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff]+)"
)


@cache
def _marks() -> str:
    """Give the characters that stand on letters, as a range list of a pattern."""
    return "".join(re.escape(chr(c)) for c in range(0x300, 0x1E8D7) if unicodedata.category(chr(c)).startswith("M"))


@cache
def _word() -> re.Pattern[str]:
    return re.compile(rf"[^\W_](?:[^\W_]|[{_marks()}])*")


_ALPHABETS = (
    ("cyrillic", "\u0400", "\u052f"),
    ("arabic", "\u0600", "\u08ff"),
    ("greek", "\u0370", "\u03ff"),
    ("devanagari", "\u0900", "\u097f"),
    ("hebrew", "\u0590", "\u05ff"),
    ("latin", "0", "\u024f"),
)
"""Each with its first and its last letter."""


def _alphabet(word: str) -> str:
    return next((name for name, first, last in _ALPHABETS if first <= word[0] <= last), "unknown")


def _plain(word: str) -> str:
    """Take the accents off a word, where they may be left out when it is written in a hurry."""
    if word.isascii():
        return word
    if "\u0400" <= word[0] <= "\u052f":
        return word.replace("ё", "е")
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


def _han_grams(run: str) -> Iterator[str]:
    """Give the overlapping pairs of characters, and each Chinese character that means something alone."""
    yield from _pairs(run)
    yield from (c for c in run if c > "\u30ff" and c not in _EMPTY_HAN and len(run) > 1)


def _pairs(run: Sequence[str]) -> Iterator[str]:
    if len(run) < 2:
        yield from run
    yield from (first + second for first, second in pairwise(run))


def _clusters(run: str) -> Iterator[str]:
    """Give the overlapping pairs of letters, each with the marks on it."""
    return _pairs(_CLUSTER.findall(run))


_CLUSTER = re.compile(
    r"[\u0e01-\u0e30\u0e32-\u0e33\u0e40-\u0e46\u0e50-\u0e59][\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]*|.", re.DOTALL
)
_GRAMS: dict[str, Callable[[str], Iterator[str]]] = {"han": _han_grams, "hangul": _pairs, "spaceless": _clusters}
