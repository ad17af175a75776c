"""Cutting Markdown text into chunks a platform takes."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from itertools import islice

from core.text.fences import Block, blocks

_TOKEN = re.compile(
    r"(?P<gap>\n[ \t\r]*\n)"
    r"|(?P<whole>\\[^\w\s]|&\#?\w{1,10};"
    r"|!?\[(?:[^\[\]]|\[[^\[\]]*\]){0,1000}\]\((?:[^()\s]|\([^()\s]*\))*(?:[ ]\"[^\"\n]*\")?\)"
    r"|[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s`<>]+)"
    r"|(?P<mark>`+|\*{1,3}|_{1,3}|~~|\|\|)"
)
_PARAGRAPH = re.compile(r"\r?\n[ \t\r]*\n")
_LINE = re.compile(r"\r?\n")
_SENTENCE = re.compile(r"[.!?…][\"'”»)\]*_]*(?=\s)|[。！？][\"”」』）]*")
_WORD = re.compile(r"\s+")
_BLANK_LINES = re.compile(r"\s*\n")
_TRIES = 12
"""Good places that are tried: measuring may take long, and where formatting is odd none may fit."""
_SPACE = re.compile(r"\s*\n|\s*")
_LOOK_BACK = 64  # code points searched for the edge of a character sequence, so that no text makes this slow
_STRETCH = 4  # how much longer than the limit a chunk's source may be, for measures that count less than the source


def utf16_length(text: str) -> int:
    """Count UTF-16 code units, as Telegram does; a lone surrogate counts one."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def split(text: str, limit: int, measure: Callable[[str], int] = utf16_length) -> list[str]:
    """Cut Markdown into chunks with `measure(chunk) <= limit`; blank text gives none.

    Cuts lie at paragraphs, else at lines, sentences or words, and only where there is no other place within a word.
    Links, URLs, inline code and emphasis that fit in a chunk stay whole; a code block that is cut is closed and opened
    again by the same fence. Joined, the chunks are the text, but for whitespace at the cuts and the added fences.
    `measure` is of what is really sent, in the platform's units, and should grow with the text.
    """
    if not text.strip():
        return []
    if measure(text) <= limit:
        return [text]
    return list(_Cutter(text, limit, measure).chunks())


def _atoms(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Find what should stay whole in prose: links, URLs, escapes, and pairs of inline marks."""
    opened: dict[str, int] = {}
    for token in _TOKEN.finditer(text, start, end):
        if token["whole"]:
            yield token.span()
        elif token["gap"]:
            opened.clear()
        elif token["mark"] in opened and _may_close(text, token):
            yield opened.pop(token["mark"]), token.end()
        elif _may_open(text, token):
            opened[token["mark"]] = token.start()


def _may_open(text: str, mark: re.Match[str]) -> bool:
    if mark[0][0] == "`":
        return True
    after, before = text[mark.end() : mark.end() + 1], text[max(mark.start() - 1, 0) : mark.start()]
    return bool(after) and not after.isspace() and not (mark[0][0] == "_" and before.isalnum())


def _may_close(text: str, mark: re.Match[str]) -> bool:
    if mark[0][0] == "`":
        return True
    after, before = text[mark.end() : mark.end() + 1], text[mark.start() - 1]
    return not before.isspace() and not (mark[0][0] == "_" and after.isalnum())


def _extends(char: str) -> bool:
    """Tell whether a code point belongs to the one before it: accents, joiners, variations, skin tones, tags."""
    return (
        char == "\u200d"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or unicodedata.category(char)[0] == "M"
    )


def _parts_character(text: str, cut: int) -> bool:
    """Tell whether cutting here would part what is seen as one character."""
    if not 0 < cut < len(text):
        return False
    before, after = text[cut - 1], text[cut]
    if before == "\u200d" or _extends(after) or before + after == "\r\n":
        return True
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return True
    return _is_flag_letter(after) and _flag_letters_before(text, cut) % 2 == 1


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_letters_before(text: str, cut: int) -> int:
    count = 0
    while count < min(cut, _LOOK_BACK) and _is_flag_letter(text[cut - 1 - count]):
        count += 1
    return count


class _Cutter:
    """One text being cut."""

    def __init__(self, text: str, limit: int, measure: Callable[[str], int]) -> None:
        self.text, self.limit, self.measure = text, limit, measure
        self.blocks = [block for block in blocks(text) if self._is_worth_keeping(block)]
        self.block_starts = [block.start for block in self.blocks]
        self.atoms = self._merged_atoms()
        self.atom_starts = [start for start, _ in self.atoms]

    def chunks(self) -> Iterator[str]:
        """Give the chunks in order, none of them blank."""
        blank = _BLANK_LINES.match(self.text)
        start = blank.end() if blank else 0
        while start < len(self.text):
            cut = self._cut(start)
            chunk = self._assemble(start, cut)
            if chunk.strip():
                yield chunk
            start = self._next_start(cut)

    def _is_worth_keeping(self, block: Block) -> bool:
        """Tell whether there is code, and room for it between the fences; if not, the block is cut like prose."""
        return block.body < len(self.text) and self.measure(f"{block.opening}\n\n{block.closing}") * 2 <= self.limit

    def _merged_atoms(self) -> list[tuple[int, int]]:
        edges = [0, *(edge for block in self.blocks for edge in (block.start, block.stop)), len(self.text)]
        found = sorted(
            atom
            for start, end in zip(edges[::2], edges[1::2], strict=True)
            for atom in _atoms(self.text, start, end)
            if self._fits_alone(*atom)
        )
        merged: list[tuple[int, int]] = []
        for start, end in found:
            if merged and start < merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return merged

    def _fits_alone(self, start: int, end: int) -> bool:
        size = end - start
        if size * 8 <= self.limit:  # no formatting makes text eight times as long
            return True
        return size <= self.limit * _STRETCH and self.measure(self.text[start:end]) <= self.limit

    def _block_near(self, at: int) -> Block | None:
        """Find the block whose lines hold this place."""
        index = bisect_right(self.block_starts, at) - 1
        if index >= 0 and at <= self.blocks[index].stop:
            return self.blocks[index]
        return None

    def _code_at(self, at: int) -> Block | None:
        """Find the block that a cut here would part."""
        block = self._block_near(at)
        return block if block and block.body < at < block.end else None

    def _left_open(self, cut: int) -> Block | None:
        """Find the block that needs closing when the chunk ends here."""
        last = self.blocks[-1] if self.blocks else None
        return last if last and cut == len(self.text) == last.end else self._code_at(cut)

    def _snap(self, cut: int) -> int:
        """Move a cut off the lines of a fence: before an opening one, behind a closing one."""
        block = self._block_near(cut)
        if block and block.start < cut <= block.body:
            return block.start
        if block and block.end <= cut <= block.stop:
            return block.stop
        return cut

    def _assemble(self, start: int, cut: int) -> str:
        body = self.text[start:cut]
        if code := self._left_open(cut):
            body += ("" if body.endswith("\n") else "\n") + code.closing
        else:
            body = body.rstrip()
        opened = self._code_at(start)
        return f"{opened.opening}\n{body}" if opened else body

    def _next_start(self, cut: int) -> int:
        if self._code_at(cut):
            return cut
        space = _SPACE.match(self.text, cut)
        return space.end() if space else cut

    def _fits(self, start: int, cut: int) -> bool:
        cut = self._snap(cut)
        return cut <= start or self.measure(self._assemble(start, cut)) <= self.limit

    def _reach(self, start: int) -> int:
        """Find about the furthest cut that fits."""
        furthest = min(start + self.limit * _STRETCH, len(self.text))
        low, high = start, min(start + self.limit, furthest)
        while self._fits(start, high):
            if high == furthest:
                return self._snap(high)
            low, high = high, min(start + 2 * (high - start), furthest)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._fits(start, middle) else (low, middle)
        return self._snap(low)

    def _cut(self, start: int) -> int:
        top = self._reach(start)
        if top >= len(self.text):
            return len(self.text)
        if top <= start:
            return start + 1
        for cut in islice(self._good_cuts(start, top), _TRIES):
            if self._fits(start, cut):
                return cut
        return self._hard_cut(start, top)

    def _good_cuts(self, start: int, top: int) -> Iterator[int]:
        """Give the places to cut, best first; a good one is preferred only if it leaves the chunk a third full."""
        full = start + (top - start) // 3
        yield from self._places(_PARAGRAPH, full, top, self._block_edges(start, top))
        yield from self._places(_LINE, full, top)
        yield from self._places(_SENTENCE, full, top)
        yield from self._places(_WORD, start, top)
        yield from self._places(_LINE, start, top)

    def _block_edges(self, start: int, top: int) -> list[int]:
        first = max(bisect_left(self.block_starts, start) - 1, 0)
        last = bisect_right(self.block_starts, top)
        return [edge for block in self.blocks[first:last] for edge in (block.start, block.stop)]

    def _places(self, pattern: re.Pattern[str], low: int, top: int, more: list[int] | None = None) -> Iterator[int]:
        found = [place for match in pattern.finditer(self.text, low, top + _LOOK_BACK) if (place := self._place(match))]
        for cut in sorted(found + (more or []), reverse=True):
            if low < cut <= top and self._is_legal(cut):
                yield cut

    def _place(self, match: re.Match[str]) -> int | None:
        """Put a cut before the whitespace found in prose, behind the line end found in code; at no word of code."""
        if self._code_at(match.start()) or self._code_at(match.end()):
            return match.end() if match.re in (_LINE, _PARAGRAPH) else None
        return match.end() if match.re is _SENTENCE else match.start()

    def _is_legal(self, cut: int) -> bool:
        whole = self._before_atom(cut) == cut and self._snap(cut) == cut
        return whole and not _parts_character(self.text, cut)

    def _before_atom(self, cut: int) -> int:
        index = bisect_left(self.atom_starts, cut) - 1
        if index >= 0 and cut < self.atoms[index][1]:
            return self.atoms[index][0]
        return cut

    def _hard_cut(self, start: int, top: int) -> int:
        cut = top
        for _ in range(_LOOK_BACK):
            cut = self._before_atom(cut)
            if cut <= start or self._is_legal(cut):
                break
            cut -= 1
        cut = cut if cut > start else top
        while cut > start + 1 and not self._fits(start, cut):
            cut = start + (cut - start) // 2
        return cut
