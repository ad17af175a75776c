"""The progressive summary: the old summary and the new lines become the new summary, in one request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.llm import LLM, PromptMessage, Request, TokenCounter
from core.memory import summary

_SHIPPED = Path(__file__).parent / "forms"
_PLACE = re.compile(r"\{(summary|new_lines|words)\}")


@dataclass(frozen=True)
class Form:
    """How the model is asked: a text with `{summary}` and `{new_lines}` in it, and `{words}` where it likes.

    What was said is put in as data, whatever the text around it says. Raises ValueError when a place is missing.
    """

    text: str

    def __post_init__(self) -> None:
        missing = {"summary", "new_lines"} - set(_PLACE.findall(self.text))
        if missing:
            raise ValueError(f"it lacks {' and '.join(f'{{{name}}}' for name in sorted(missing))}")

    def filled(self, earlier: str, new_lines: str, words: int) -> str:
        """Fill in an old summary and new lines, each quoted as data; nothing that stands in them is filled in again."""
        given = {
            "summary": f"<summary_so_far>\n{summary.quoted(earlier)}\n</summary_so_far>",
            "new_lines": f"<conversation>\n{summary.quoted(new_lines)}\n</conversation>",
            "words": str(words),
        }
        return _PLACE.sub(lambda place: given[place[1]], self.text)


def shipped() -> Sequence[str]:
    """Name the languages of the forms that are shipped."""
    return sorted(path.stem for path in _SHIPPED.glob("*.txt"))


def shipped_form(language: str = "en") -> Form:
    """Give the form in one of these languages."""
    return Form((_SHIPPED / f"{language}.txt").read_text(encoding="utf-8"))


async def progress(
    form: Form, earlier: str, lines: Sequence[str], llm: LLM, counter: TokenCounter, *, tokens: int
) -> str:
    """Ask for the summary of an old summary and new lines, at most `tokens` long.

    Lines that are more than the model's context go in pieces. Raises LLMError when the model fails, gives nothing, or
    is cut short.
    """
    for piece in summary.pieces(lines, counter, room(form, llm, counter, tokens)):
        asked = form.filled(earlier, piece, summary.words_for(tokens))
        request = Request((PromptMessage("user", asked),), max_tokens=2 * tokens, purpose="summary")
        earlier = summary.usable(await llm.complete(request), counter, tokens)
    return earlier


def room(form: Form, llm: LLM, counter: TokenCounter, tokens: int) -> int:
    """How many tokens of new lines fit into one request beside the form, the old summary and the answer."""
    return max(llm.context - counter.count(form.text) - 200 - 4 * tokens, llm.context // 4)
