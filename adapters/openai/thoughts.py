"""Keeps what a reasoning model thinks aloud (`<think>…</think>`) out of what it says."""

import re

_TAG = re.compile(r"<(/?)(?:think|thinking|thought)>", re.IGNORECASE)
_NAMES = ("<think>", "</think>", "<thinking>", "</thinking>", "<thought>", "</thought>")
_LONGEST = max(map(len, _NAMES))


def _possible_tag(text: str) -> int:
    """Return where a tag may be beginning at the end of the text, or the text's length."""
    start = text.rfind("<", max(0, len(text) - _LONGEST))
    if start < 0:
        return len(text)
    tail = text[start:].lower()
    return start if any(name.startswith(tail) for name in _NAMES) else len(text)


class Thoughts:
    """Takes a text piece by piece and keeps the part meant to be heard in `said`.

    Tags may be cut anywhere. Some templates open the thoughts themselves, so that only the closing tag comes:
    all before it was thought. `thinking` says that the thoughts were never closed.
    """

    def __init__(self) -> None:
        self.thinking = False
        self._said: list[str] = []
        self._pending = ""
        self._thought = False
        self._fences, self._tail, self._in_quotes = 0, "", False

    @property
    def said(self) -> str:
        """What is meant to be heard."""
        if len(self._said) > 1:
            self._said = ["".join(self._said)]
        return self._said[0] if self._said else ""

    def add(self, piece: str) -> None:
        """Take in the next piece."""
        whole, start = self._pending + piece, 0
        for tag in _TAG.finditer(whole):
            self._keep(whole[start : tag.start()])
            self._turn(tag)
            start = tag.end()
        rest = whole[start:]
        sure = _possible_tag(rest)
        self._keep(rest[:sure])
        self._pending = rest[sure:]

    def end(self) -> None:
        """Take what looked like the beginning of a tag for what it is."""
        self._keep(self._pending)
        self._pending = ""

    def _keep(self, text: str) -> None:
        kept = text if self._said else text.lstrip()
        if kept and not self.thinking:
            self._said.append(kept)
            *fences, rest = (self._tail + kept).split("```")
            self._fences, self._tail = self._fences + len(fences), rest[-2:]
            self._in_quotes = kept.endswith("`")

    def _turn(self, tag: re.Match[str]) -> None:
        closing = bool(tag[1])
        if not self.thinking and self._in_code():
            self._keep(tag[0])
        elif closing:
            self._close()
        else:
            self.thinking = self._thought = True

    def _in_code(self) -> bool:
        """Tell whether what is said ends within code, where a tag is a word like any other."""
        return self._in_quotes or self._fences % 2 == 1

    def _close(self) -> None:
        if not self._thought:
            self._said, self._fences, self._tail, self._in_quotes = [], 0, "", False
        self.thinking, self._thought = False, True
