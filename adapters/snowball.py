"""Stems by Snowball's algorithms, in some thirty languages."""

from __future__ import annotations

from threading import Lock

import snowballstemmer

_LOCK = Lock()  # a stemmer holds the word it works on, and the store works in two threads
_STEMMERS = dict.fromkeys(snowballstemmer.algorithms())


def stem(language: str, word: str) -> str:
    """Give the stem of a word; the word itself where the language is not known."""
    if language not in _STEMMERS:
        return word
    with _LOCK:
        stemmer = _STEMMERS[language] = _STEMMERS[language] or snowballstemmer.stemmer(language)
        return str(stemmer.stemWord(word))
