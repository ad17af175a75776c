"""What Telegram checks in the texts, buttons and commands that a bot sends."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from typing import Any
from urllib.parse import urlsplit

from adapters.telegram.server import entities as entities_
from adapters.telegram.server.arguments import Arguments
from adapters.telegram.server.markup import parse
from adapters.telegram.server.refusals import Json, bad_request
from core.text.letters import is_blank
from core.text.splitting import utf16_length

MOST_TEXT = 4096
MOST_CAPTION = 1024
MOST_DATA = 64
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_COMMAND = re.compile(r"[a-z0-9_]{1,32}")


def text_of(arguments: Arguments, field: str = "text", most: int = MOST_TEXT) -> tuple[str, list[Json]]:
    """Read a text with its entities as Telegram would show it. Raises Refusal where Telegram refuses."""
    text, given = arguments.text(field), arguments.json(f"{'caption_' if field == 'caption' else ''}entities")
    if not text and field == "text":
        raise bad_request("message text is empty")
    _check_encoding(text)
    if given is None and arguments.text("parse_mode"):
        text, found = parse(text, arguments.text("parse_mode"))
    else:
        found = entities_.checked(text, given or [])
    text, found = _trimmed(*_without_returns(_CONTROL.sub(" ", text), found))
    if is_blank(text) and field == "text":
        raise bad_request("text must be non-empty")
    if utf16_length(text) > most:
        raise bad_request("message is too long" if field == "text" else "message caption is too long")
    return text, entities_.with_found(text, found)[: entities_.MOST]


def _check_encoding(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise bad_request("strings must be encoded in UTF-8") from None


def _without_returns(text: str, found: list[Json]) -> tuple[str, list[Json]]:
    places = [utf16_length(text[: match.start()]) for match in re.finditer("\r", text)]
    moved = []
    for entity in found:
        offset, end = (place - bisect_left(places, place) for place in (entity["offset"], _end(entity)))
        moved.append(entity | {"offset": offset, "length": end - offset})
    return text.replace("\r", ""), moved


def _end(entity: Json) -> int:
    return int(entity["offset"] + entity["length"])


def _trimmed(text: str, found: list[Json]) -> tuple[str, list[Json]]:
    begun = text.lstrip()
    lead = utf16_length(text[: len(text) - len(begun)])
    trimmed = begun.rstrip()
    return trimmed, list(entities_.shifted(found, lead, utf16_length(trimmed)))


def keyboard_of(arguments: Arguments) -> Json | None:
    """Read the buttons under a message. Raises Refusal."""
    markup = arguments.json("reply_markup")
    if markup is None:
        return None
    if not isinstance(markup, dict):
        raise bad_request("object expected as reply markup")
    rows = markup.get("inline_keyboard")
    if rows is None:
        return None  # a reply keyboard lives in the person's app, not under the message
    for button in (button for row in rows for button in row):
        _check_button(button)
    return {"inline_keyboard": rows} if any(rows) else None


def _check_button(button: Json) -> None:
    if not button.get("text"):
        raise bad_request('can\'t parse inline keyboard button: field "text" must be of type String')
    if "url" in button and not urlsplit(button["url"]).netloc:
        raise bad_request(f"inline keyboard button URL '{button['url']}' is invalid: wrong HTTP URL")
    kinds = {"url", "callback_data", "web_app", "login_url", "switch_inline_query", "copy_text"}
    if not kinds & button.keys():
        raise bad_request("can't parse inline keyboard button: text buttons are unallowed in the inline keyboard")
    if "callback_data" in button and not 1 <= len(button["callback_data"].encode()) <= MOST_DATA:
        raise bad_request("BUTTON_DATA_INVALID")


def commands_of(arguments: Arguments) -> list[Json]:
    """Read the commands of a menu. Raises Refusal."""
    commands = arguments.json("commands")
    if not isinstance(commands, list):
        raise bad_request("expected an Array of BotCommand")
    if len(commands) > 100:
        raise bad_request("BOT_COMMANDS_TOO_MUCH")
    for command in commands:
        if not _COMMAND.fullmatch(str(command.get("command", ""))):
            raise bad_request("BOT_COMMAND_INVALID")
        if not 1 <= len(str(command.get("description", ""))) <= 256:
            raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")
    return commands


def scope_of(arguments: Arguments) -> str:
    """Read the scope of a menu, as a key. Raises Refusal."""
    scope: Any = arguments.json("scope") or {"type": "default"}
    needs = {"chat": ["chat_id"], "chat_administrators": ["chat_id"], "chat_member": ["chat_id", "user_id"]}
    kinds = {"default", "all_private_chats", "all_group_chats", "all_chat_administrators", *needs}
    if not isinstance(scope, dict) or scope.get("type") not in kinds:
        raise bad_request("can't parse BotCommandScope: unsupported type specified")
    values = [scope.get(name) for name in needs.get(scope["type"], [])]
    if None in values:
        raise bad_request("can't parse BotCommandScope: chat_id must be specified")
    return json.dumps([scope["type"], *(int(value) for value in values if value is not None)])


def language_of(arguments: Arguments) -> str:
    """Read the language of a menu or description: two letters, or none. Raises Refusal."""
    code = arguments.text("language_code")
    if code and not re.fullmatch(r"[a-z]{2}", code):
        raise bad_request("invalid language code specified")
    return code
