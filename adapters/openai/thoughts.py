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


def _in_code(text: str) -> bool:
    """Tell whether the text ends within code, where a tag is a word like any other."""
    return text.endswith("`") or text.count("```") % 2 == 1


class Thoughts:
    """Takes a text piece by piece and keeps the part meant to be heard in `said`.

    Tags may be cut anywhere. Some templates open the thoughts themselves, so that only the closing tag comes:
    all before it was thought. `thinking` says that the thoughts were never closed.
    """

    def __init__(self) -> None:
        self.said = ""
        self.thinking = False
        self._pending = ""
        self._thought = False

    def add(self, piece: str) -> None:
        """Take in the next piece."""
        self._pending += piece
        while tag := _TAG.search(self._pending):
            before, self._pending = self._pending[: tag.start()], self._pending[tag.end() :]
            self._keep(before)
            self._turn(tag)
        sure = _possible_tag(self._pending)
        self._keep(self._pending[:sure])
        self._pending = self._pending[sure:]

    def end(self) -> None:
        """Take what looked like the beginning of a tag for what it is."""
        self._keep(self._pending)
        self._pending = ""

    def _keep(self, text: str) -> None:
        if not self.thinking:
            self.said = (self.said + text).lstrip() if not self.said else self.said + text

    def _turn(self, tag: re.Match[str]) -> None:
        closing = bool(tag[1])
        if not self.thinking and _in_code(self.said):
            self._keep(tag[0])
        elif closing:
            self._close()
        else:
            self.thinking = self._thought = True

    def _close(self) -> None:
        if not self._thought:
            self.said = ""
        self.thinking, self._thought = False, True
