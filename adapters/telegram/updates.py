"""What Telegram gives as updates, before the library makes them into its own."""

from __future__ import annotations

import logging
from typing import Any

from telegram import Update

logger = logging.getLogger("keepmind.telegram")
Json = dict[str, Any]


def readable(update: Json) -> Json:
    """Give an update as it is; one that the library can't read gives way to one with nothing in it.

    So it counts as taken: given again and again it would hold up all that comes after.
    """
    try:
        hash(lane_of(Update.de_json(update, None)))
    except Exception as error:  # whatever a parser trips over
        logger.warning("update %s can't be read and is passed over: %s", update["update_id"], type(error).__name__)
        return {"update_id": update["update_id"]}
    return update


def lane_of(update: Update) -> object:
    """Name what an update is taken in the order of: its chat, or where it has none itself."""
    chat = update.effective_chat
    return chat.id if chat else update.update_id


def is_update(body: object) -> bool:
    """Tell whether something has what every update has."""
    return isinstance(body, dict) and type(body.get("update_id")) is int
