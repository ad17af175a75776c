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
