"""Finds a tag however it is disguised: in other brackets, in letters that look alike, with invisible marks within."""

from __future__ import annotations

import re
import unicodedata

_BRACKETS = "<＜﹤˂ᐸ〈〈⟨❬❮⟪《"
_OPENING = re.compile(rf"(?:[{_BRACKETS}]|&lt;|&#0*60;|&#x0*3c;)(?=([^{_BRACKETS}]{{0,200}}))", re.IGNORECASE)
"""A bracket, and what follows it up to the next: so each character is looked at once."""
_SIGN = re.compile(f"[{_BRACKETS}&]")
_LOOK_ALIKE = str.maketrans(
    "аеёорсухіїѕһԁѵмтгпнвкԛԝοαενιρτημκυγωɑɡıłøđ",
    "aeeopcyxiishdvmtrnhbkqwoaeviptnmkuywagilod",
)


def disarmed(text: str, tag: str) -> str:
    """Write a text with no bracket that opens or closes a tag of this name."""
    if _SIGN.search(text) is None:  # as nearly every text: it is asked of all that is shown
        return text
    wanted = _bare(tag)
    return _OPENING.sub(lambda found: "‹" if _bare(found[1]).startswith(wanted) else found[0], text)


def _bare(text: str) -> str:
    """Give the letters of a text, those that look alike as one, without what is between and on them."""
    plain = unicodedata.normalize("NFKD", text).casefold().translate(_LOOK_ALIKE)
    return "".join(filter(str.isalnum, plain))
