"""Checks of single settings; each raises ValueError with the reason, to be read after the setting's name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel, SecretStr

from config.files import path_of
from core.translation import ENGLISH, known, languages

_KIND = re.compile(r"[a-z][a-z0-9_]*|[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_PLATFORM = re.compile(r"[a-z][a-z0-9_]*(?:$|:)")
_ENTRY = re.compile(r"(?P<platform>[a-z][a-z0-9_]*):(?P<id>\S+)")
_MODE = re.compile(r"-\d+(?:/\d+)?=(?:mention|listen|open|off)")
_CHANNEL_MODE = re.compile(r"\d+=(?:mention|listen|open|off)")
_PRICE = re.compile(r"\S+=\d+(?:\.\d+)?(?:/\d+(?:\.\d+)?){2}")
_NUMBER = re.compile(r"-?\d+")
_NUMERIC = {"telegram", "discord"}


def split(value: Any) -> Any:
    """Read a list written with commas."""
    if not isinstance(value, str):
        return value
    return tuple(part for part in (part.strip() for part in value.split(",")) if part)


def folder(path: Path) -> Path:
    """Take a folder, `~` standing for a home."""
    return path_of(str(path))


def upper(value: Any) -> Any:
    """Take a word in any case."""
    return value.upper() if isinstance(value, str) else value


def kind(name: str) -> str:
    """Take a kind of memory, or a class of one's own."""
    if not _KIND.fullmatch(name):
        raise ValueError(f"{name!r} is no kind of memory; write its name, or package.module:Class for your own")
    return name


def kinds(names: Sequence[str]) -> Sequence[str]:
    """Take kinds of memory."""
    return tuple(kind(name) for name in names)


def chat_kinds(names: Sequence[str]) -> Sequence[str]:
    """Take chats and topics, each with a kind of history."""
    for name in names:
        chat, _, what = name.partition("=")
        if not (_ENTRY.fullmatch(chat) and _KIND.fullmatch(what)) or chat.endswith(":*"):
            raise ValueError(f"{name!r} must be written CHAT=KIND, such as telegram:42=window or discord:9/7=summary")
    return names


def persona_kinds(names: Sequence[str]) -> Sequence[str]:
    """Take personas, each with a kind of history."""
    for name in names:
        persona, _, what = name.rpartition("=")
        if not (persona and _KIND.fullmatch(what)):
            raise ValueError(f"{name!r} must be written PERSONA=KIND, such as small=token_window")
    return names


def places(names: Sequence[str]) -> Sequence[str]:
    """Take platforms, chats and topics, each with a persona."""
    for name in names:
        place, _, persona = name.partition("=")
        if not persona or place.endswith(":*") or not _PLATFORM.match(place):
            raise ValueError(f"{name!r} must be written PLACE=PERSONA, such as telegram=tutor or discord:9/7=tutor")
        if ":" in place:
            _entry(place.partition("/")[0])
    return names


def functions(names: Sequence[str]) -> Sequence[str]:
    """Take functions of one's own."""
    for name in names:
        if not _FUNCTION.fullmatch(name):
            raise ValueError(f"{name!r} must be written package.module:function")
    return names


def time_zone(name: str) -> str:
    """Take a name of the IANA time zone database."""
    try:
        return name if name == "UTC" else ZoneInfo(name).key
    except (ValueError, OSError, LookupError):
        raise ValueError(f"{name!r} is no time zone; write an IANA name such as Europe/Rome") from None


def language(tag: str) -> str:
    """Take a language that the bot's own sentences are translated into."""
    if known(tag) == ENGLISH and not tag.casefold().startswith(ENGLISH):
        raise ValueError(f"{tag!r} is not spoken here; write one of {', '.join(languages())}")
    return known(tag)


def web_address(url: str) -> str:
    """Take an address of a server."""
    if not re.match(r"https?://[^/\s]", url):
        raise ValueError("it must be an address that begins with http:// or https://")
    return url


def gateway_address(url: str) -> str:
    """Take an address of a gateway."""
    if not re.match(r"wss?://[^/\s]", url):
        raise ValueError("it must be an address that begins with ws:// or wss://")
    return url


def database(url: SecretStr) -> SecretStr:
    """Take a SQLAlchemy URL, or the path of a SQLite file."""
    if not re.match(r"[a-z][\w+]*://|[^:]*/[^:]+$|[^:]+\.(db|sqlite3?)$", url.get_secret_value()):
        raise ValueError("it must be the path of a SQLite file, or an address such as postgresql://user@host/name")
    return url


def entries(names: Sequence[str]) -> Sequence[str]:
    """Take people and chats, `*` for all of a platform."""
    for name in names:
        _entry(name)
    return names


def people(names: Sequence[str]) -> Sequence[str]:
    """Take admins: as `entries`, but never everyone of a public platform."""
    for name in entries(names):
        platform, _, who = name.partition(":")
        if who == "*" and platform in _NUMERIC:
            raise ValueError(f"{name!r} would make everyone an admin; write numeric ids")
    return names


def _entry(name: str) -> None:
    match = _ENTRY.fullmatch(name)
    if not match:
        raise ValueError(f"{name!r} must be written platform:id, such as telegram:42, discord:99 or console:*")
    if match["platform"] in _NUMERIC and match["id"] != "*" and not _NUMBER.fullmatch(match["id"]):
        raise ValueError(f"{name!r} must have a numeric id, since names can be taken over by others")


def webhook_secret(secret: SecretStr) -> SecretStr:
    """Take a secret that Telegram can send in a header."""
    if not re.fullmatch(r"[\w-]{1,256}", secret.get_secret_value(), re.ASCII):
        raise ValueError("it must be 1 to 256 letters, digits, - and _")
    return secret


def group_modes(names: Sequence[str]) -> Sequence[str]:
    """Take groups and topics with their modes."""
    for name in names:
        if not _MODE.fullmatch(name):
            raise ValueError(f"{name!r} must be written CHAT=MODE or CHAT/TOPIC=MODE, such as -1001502049385=open")
    return names


def channel_modes(names: Sequence[str]) -> Sequence[str]:
    """Take servers, channels and threads with their modes."""
    for name in names:
        if not _CHANNEL_MODE.fullmatch(name):
            raise ValueError(f"{name!r} must be written ID=MODE, such as 1187301234567890123=open")
    return names


def prices(names: Sequence[str]) -> Sequence[str]:
    """Take models with their prices."""
    for name in names:
        if not _PRICE.fullmatch(name):
            raise ValueError(
                f"{name!r} must be written MODEL=PROMPT/CACHED/COMPLETION, such as gpt-4o-mini=0.15/0.075/0.6"
            )
    return names


def ordered(section: BaseModel, title: str, low: str, high: str) -> None:
    """Refuse a low mark that is not below its high mark."""
    lower, higher = getattr(section, low), getattr(section, high)
    if lower >= higher:
        raise ValueError(f"{title}.{low} is {lower}; it must be less than {title}.{high}, which is {higher}")
