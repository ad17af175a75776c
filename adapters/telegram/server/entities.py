"""Message entities: found in text as Telegram finds them, and checked as it checks them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from adapters.telegram.server.refusals import Json, bad_request
from core.text.splitting import utf16_length

KINDS = frozenset(
    [
        "mention",
        "hashtag",
        "cashtag",
        "bot_command",
        "url",
        "email",
        "phone_number",
        "bold",
        "italic",
        "underline",
        "strikethrough",
        "spoiler",
        "blockquote",
        "expandable_blockquote",
        "code",
        "pre",
        "text_link",
        "text_mention",
        "custom_emoji",
        "date_time",
    ]
)
MOST = 100
_FOUND = {
    "bot_command": re.compile(r"(?<![\w/@<>])/[a-zA-Z0-9_]{1,64}(?:@[a-zA-Z0-9_]{3,32})?(?![\w/])"),
    "mention": re.compile(r"(?<![\w/@.])@[a-zA-Z0-9_]{3,32}(?!\w)"),
    "url": re.compile(r"(?<!\w)https?://[^\s<>\"]*[^\s<>\".,;:!?)]"),
    "hashtag": re.compile(r"(?<![\w&])#[^\W\d]\w*"),
    "email": re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+\.[a-zA-Z]{2,}(?!\w)"),
}
_OPAQUE = {"code", "pre", "text_link", "text_mention", "url", "email", "bot_command", "mention", "hashtag"}
_URL = re.compile(r"^(?:(?:https?|tg|ton)://)?[^\s/@]+(?:\.[^\s/.]+|//[^\s]+|:\d+)?(?:[/?#]\S*)?$|^tg://\S+$")


def with_found(text: str, entities: Iterable[Json]) -> list[Json]:
    """Add what Telegram finds by itself: commands, mentions, links, hashtags, addresses."""
    result = list(entities)
    for kind, pattern in _FOUND.items():
        for match in pattern.finditer(text):
            entity = {"type": kind, "offset": utf16_length(text[: match.start()]), "length": utf16_length(match[0])}
            if not any(other["type"] in _OPAQUE and _overlap(entity, other) for other in result):
                result.append(entity)
    return in_order(result)


def in_order(entities: Iterable[Json]) -> list[Json]:
    """Sort by place, the longer first."""
    return sorted(entities, key=lambda entity: (entity["offset"], -entity["length"]))


def checked(text: str, entities: object) -> list[Json]:
    """Check entities that a bot gave, and keep as many as Telegram keeps. Raises Refusal."""
    if not isinstance(entities, list):
        raise bad_request("can't parse entities: expected an Array of MessageEntity")
    kept = [_checked(text, entity) for entity in entities]
    return in_order(entity for entity in kept if entity and entity["length"] > 0)[:MOST]


def _checked(text: str, entity: object) -> Json | None:
    if not isinstance(entity, dict):
        raise bad_request("can't parse entities: expected an Object")
    offset, length = entity.get("offset"), entity.get("length")
    if entity.get("type") not in KINDS:
        raise bad_request("can't parse MessageEntity: unsupported type specified")
    if not isinstance(offset, int) or not isinstance(length, int) or offset < 0 or length < 0:
        raise bad_request("can't parse MessageEntity: offset or length is invalid")
    _check_bounds(text, offset, offset + length)
    if entity["type"] == "text_link" and not _URL.match(str(entity.get("url", ""))):
        return None
    return entity


def _check_bounds(text: str, start: int, end: int) -> None:
    units = text.encode("utf-16-le", "surrogatepass")
    if end * 2 > len(units):
        raise bad_request(
            f"entity beginning at UTF-16 offset {start} ends after the end of the text at UTF-16 offset {end}"
        )
    if any(_is_in_a_pair(units, place) for place in (start, end)):
        raise bad_request(f"entity beginning at UTF-16 offset {start} begins or ends in a middle of a UTF-16 symbol")


def _is_in_a_pair(units: bytes, place: int) -> bool:
    return 0 < place * 2 < len(units) and units[place * 2 + 1] & 0xFC == 0xDC and units[place * 2 - 1] & 0xFC == 0xD8


def _overlap(one: Json, other: Json) -> bool:
    return bool(one["offset"] < other["offset"] + other["length"] and other["offset"] < one["offset"] + one["length"])


def shifted(entities: Iterable[Json], by: int, length: int) -> Iterator[Json]:
    """Move entities by so many units to the left, cut to a text of so many units."""
    for entity in entities:
        start = max(entity["offset"] - by, 0)
        end = min(entity["offset"] + entity["length"] - by, length)
        if start < end:
            yield entity | {"offset": start, "length": end - start}
