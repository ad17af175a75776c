"""How Discord's API says no: https://docs.discord.com/developers/topics/opcodes-and-status-codes."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


class Refusal(Exception):
    """An error answer: its HTTP status, Discord's own code, its message, and what more the body and headers say."""

    def __init__(self, status: int, code: int, message: str, headers: dict[str, str] | None = None, **more: Any):
        super().__init__(message)
        self.status, self.code, self.message, self.headers, self.more = status, code, message, headers or {}, more

    def body(self) -> Json:
        """Write the answer as Discord does."""
        return {"message": self.message} | ({} if self.status == 429 else {"code": self.code}) | self.more


def form(path: str, code: str, reason: str) -> Refusal:
    """Refuse a body because of what stands at a path in it, such as `embeds.0.title`."""
    errors: Json = {"_errors": [{"code": code, "message": reason}]}
    for key in reversed(path.split(".") if path else []):
        errors = {key: errors}
    return Refusal(400, 50035, "Invalid Form Body", errors=errors)


def too_long(path: str, most: int) -> Refusal:
    """Refuse a text for its length."""
    return form(path, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")


def bad_length(path: str, least: int, most: int) -> Refusal:
    """Refuse a text or a list for its length."""
    return form(path, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")


def required(path: str) -> Refusal:
    """Refuse a body for what it lacks."""
    return form(path, "BASE_TYPE_REQUIRED", "This field is required")


def bad_choice(path: str, choices: str) -> Refusal:
    """Refuse a value that is none of those there are."""
    return form(path, "BASE_TYPE_CHOICES", f"Value must be one of {{{choices}}}.")


def unknown(what: str, code: int) -> Refusal:
    """Refuse with 404 what isn't there."""
    return Refusal(404, code, f"Unknown {what}")


def missing_access() -> Refusal:
    """Refuse a channel that the bot can't see."""
    return Refusal(403, 50001, "Missing Access")


def missing_permissions() -> Refusal:
    """Refuse what the bot isn't allowed."""
    return Refusal(403, 50013, "Missing Permissions")


def too_many(seconds: float, scope: str = "user") -> Refusal:
    """Refuse with 429; the scope is `user`, `global` or `shared`."""
    headers = {"Retry-After": str(int(seconds) + 1), "X-RateLimit-Scope": scope, "Via": "1.1 google"}
    if scope == "global":
        headers["X-RateLimit-Global"] = "true"
    more = {"retry_after": round(seconds, 3), "global": scope == "global"}
    return Refusal(429, 0, "You are being rate limited.", headers, **more)
