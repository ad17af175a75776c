"""Tells letters from the rest, in every script."""

from __future__ import annotations

import unicodedata


def words_of(text: str, keep: str = "") -> list[str]:
    """Give the words of a text: runs of letters with their marks, digits, and the characters to keep.

    Marks count as letters: Hindi, Thai and Arabic names are made of them. Compatibility forms are made plain.
    """
    plain = unicodedata.normalize("NFKC", text)
    spaced = "".join(c if c in keep or is_lettered(c) else " " for c in plain)
    return [word for word in spaced.split() if any(c.isalnum() for c in word)]


def is_blank(text: str) -> bool:
    """Say whether nothing of a text would be seen: it is empty, or made of spaces and marks of no width."""
    return all(character.isspace() or unicodedata.category(character) == "Cf" for character in text)


def is_lettered(character: str) -> bool:
    """Say whether a character is a letter, a digit, or a mark on one."""
    return character.isalnum() or unicodedata.category(character).startswith("M")


def holds_whole(text: str, part: str) -> bool:
    """Say whether a text holds a part of which no word goes on: "I am Evelyn" does not hold "I am Eve".

    Scripts in which words stand without spaces, from Thai on in Unicode's order, are held wherever they stand.
    """
    start = text.find(part)
    while start >= 0:
        end = start + len(part)
        if not (_goes_on(text[max(start - 1, 0) : start + 1]) or _goes_on(text[end - 1 : end + 1])):
            return True
        start = text.find(part, start + 1)
    return False


def _goes_on(pair: str) -> bool:
    """Say whether two characters stand in one word."""
    return len(pair) == 2 and all(is_lettered(c) and c < "\u0e00" for c in pair)
