"""How the Bot API says no."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


class Refusal(Exception):
    """An error answer: its code, its description, and its parameters."""

    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code, self.description, self.parameters = code, description, parameters

    def body(self) -> Json:
        """Write the answer as the Bot API does."""
        body: Json = {"ok": False, "error_code": self.code, "description": self.description}
        return body | ({"parameters": self.parameters} if self.parameters else {})


def bad_request(reason: str, **parameters: int) -> Refusal:
    """Refuse with 400."""
    return Refusal(400, f"Bad Request: {reason}", **parameters)


def forbidden(reason: str) -> Refusal:
    """Refuse with 403."""
    return Refusal(403, f"Forbidden: {reason}")


def conflict(reason: str) -> Refusal:
    """Refuse with 409."""
    return Refusal(409, f"Conflict: {reason}")


def too_many(seconds: int) -> Refusal:
    """Refuse with 429."""
    return Refusal(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)


def upgraded(chat_id: int) -> Refusal:
    """Refuse because the group has become the supergroup of this id."""
    return bad_request("group chat was upgraded to a supergroup chat", migrate_to_chat_id=chat_id)
