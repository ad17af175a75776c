"""Writes turns as excerpts: short, with their date and who said what, in the order they were said."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from core.conversation import Turn
from core.llm import TokenCounter
from core.messages import Message
from core.rendering import attached, neutral, speaker
from core.text.letters import words_of

SAID, REPLIED = 220, 140
"""Most characters of what was said, and of the answer; half of them in scripts that say more with each."""
LEAD = 60
"""Characters shown before the first word that was looked for."""


def excerpts(turns: Sequence[Turn], text: str, counter: TokenCounter, tokens: int, zone: tzinfo) -> list[str]:
    """Give a line for each turn that is shown, in the order they were said."""
    lines = shown(turns, text, counter, tokens, zone)
    return [lines[turn] for turn in sorted(lines)]


def shown(turns: Sequence[Turn], text: str, counter: TokenCounter, tokens: int, zone: tzinfo) -> dict[int, str]:
    """Give a line for each turn, best first as they are given; what would make them cost over `tokens` is left out."""
    chosen: dict[int, str] = {}
    words = [word for word in words_of(text.casefold()) if len(word) > 2]
    for turn in turns:
        line = excerpt(turn, words, zone)
        cost = counter.count(line) + 1
        if cost <= tokens:
            tokens -= cost
            chosen[turn.id] = line
    return chosen


def excerpt(turn: Turn, words: Sequence[str], zone: tzinfo, bot: str = "you") -> str:
    """Write one turn around the words that were looked for; `bot` is how the bot is called."""
    said = " ".join(_said(message) for message in turn.messages)
    line = f"{turn.at.astimezone(zone):%Y-%m-%d} {_name(turn.message)}: {passage(said, words, SAID)}"
    answer = turn.answer.text if turn.answer else ""
    return neutral(f"{line} – {bot}: {passage(answer, words, REPLIED)}" if answer.strip() else line)


def _name(message: Message) -> str:
    return speaker(message.name) if message.name else "person"


def _said(message: Message) -> str:
    parts = [f"(forwarded) {message.text}" if message.forwarded else message.text]
    return " ".join([*parts, *map(attached, message.attachments)])


def passage(text: str, words: Sequence[str], most: int) -> str:
    """Give the part of a text that holds the first word that is looked for, on one line."""
    line = " ".join(text.split())
    most = most if line[:most].isascii() else most * 2 // 3
    if len(line) <= most:
        return line
    folded = line.casefold()
    found = [at for word in words if (at := folded.find(word[: max(4, len(word) - 3)])) >= 0]
    start = max(0, min(found, default=0) - LEAD)
    start = 0 if start + most < len(line) and start < LEAD // 2 else min(start, len(line) - most)
    cut = line[start : start + most].strip()
    return ("…" if start else "") + cut + ("…" if start + most < len(line) else "")
