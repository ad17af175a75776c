"""Markdown made into what Telegram shows: plain text with entities."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from telegram import MessageEntity
from telegramify_markdown import convert
from telegramify_markdown.config import RenderConfig

from adapters.telegram.literal import literal
from core.sentences import BLANK
from core.text.letters import is_blank
from core.text.splitting import utf16_length
from core.translation import spoken

LIMIT = 4096
"""Most UTF-16 units of one message: https://core.telegram.org/bots/api#sendmessage."""
CAPTION = 1024
"""Most UTF-16 units under a file."""
MOST_ENTITIES = 100
"""Telegram drops the formatting after so many: https://core.telegram.org/api/entities."""
MOST_MARKS = 800
"""With more marks that formatting looks long at, a text is shown as it is written: nobody writes so many in earnest."""
_MARKS = re.compile(r"[$<]|\\[(\[]|\]:|^[ \t]{0,3}(?:~~~|```|#)|\|\|", re.MULTILINE)
_UNSHOWN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_LONE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Formatted:
    """A text as it is shown, and what is formatted in it."""

    text: str
    entities: tuple[MessageEntity, ...] = ()


def _plain_marks() -> RenderConfig:
    """Leave out the pictures that the library puts before headings; a rule is no longer than what was written."""
    config = RenderConfig.isolated()
    symbol = config.markdown_symbol
    symbol.heading_level_1 = symbol.heading_level_2 = symbol.heading_level_3 = symbol.heading_level_4 = ""
    symbol.horizontal_rule, symbol.unordered_list_item = "———", "•"
    return config


_CONFIG = _plain_marks()


def clean(text: str) -> str:
    """Take out what Telegram refuses or doesn't show; never gives a blank text."""
    shown = _LONE.sub("\ufffd", _UNSHOWN.sub(" ", text))
    return spoken(BLANK) if is_blank(shown) else shown


def formatted(markdown: str) -> Formatted:
    """Format Markdown, however broken; where nothing would be left of it, the text itself is given."""
    source = clean(markdown)
    return Formatted(source) if _is_a_bomb(source) else _formatted(source)


def _is_a_bomb(source: str) -> bool:
    return len(source) > MOST_MARKS and next(islice(_MARKS.finditer(source), MOST_MARKS, None), None) is not None


@lru_cache(maxsize=64)
def _formatted(source: str) -> Formatted:
    try:
        text, entities = convert(literal(source), config=_CONFIG)
    except Exception:  # whatever a parser trips over, the words arrive
        return Formatted(source)
    if is_blank(text):
        return Formatted(source)
    return Formatted(text, tuple(MessageEntity(**entity.to_dict()) for entity in entities))


def measure(markdown: str) -> int:
    """Measure what would be sent, in UTF-16 units; more entities than Telegram keeps count as too long a text."""
    shown = formatted(markdown)
    return max(utf16_length(shown.text), len(shown.entities) * LIMIT // MOST_ENTITIES)


def clipped(text: str, most: int = LIMIT) -> str:
    """Cut a plain text to so many UTF-16 units, for a preview."""
    text = clean(text)
    if utf16_length(text) <= most:
        return text
    return text.encode("utf-16-le")[: (most - 1) * 2].decode("utf-16-le", "ignore") + "…"
