"""Recognises what must never be stored as a fact: passwords, keys, tokens, card numbers."""

from __future__ import annotations

import re

_SECRET_KEYS = re.compile(
    r"password|passwd|passphrase|passcode|secret|api_?key|private_?key|token|pin_?(code|number)|^pin$|cvv|cvc|"
    r"credit_?card|card_?number|iban|seed_?phrase|пароль|пин_?код|номер_?карты|密码|口令|密钥|令牌|卡号"
)
_SECRET_VALUES = re.compile(
    r"\bsk-[A-Za-z0-9_-]{16,}"  # OpenAI and its likes
    r"|\b\d{6,}:[A-Za-z0-9_-]{30,}"  # Telegram bot token
    r"|\b(?:ghp|gho|ghs|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_-]{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"  # JSON web token
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|\b[MNO][A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"  # Discord bot token
    r"|\b(?:password|passwd|passphrase|pin code|пароль)\s*(?:is|=|:|—|-)\s*\S+"
    r"|密码\s*(?:是|为|:|：)\s*\S+",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"(?:\d[ -]?){12,18}\d")


def looks_secret(key: str, value: str) -> bool:
    """Say whether a fact of this normalised key and value is a secret that must not be stored."""
    return bool(_SECRET_KEYS.search(key) or _SECRET_VALUES.search(value) or _has_card_number(value))


def _has_card_number(value: str) -> bool:
    return any(_luhn(re.sub(r"\D", "", match.group())) for match in _DIGITS.finditer(value))


def _luhn(digits: str) -> bool:
    """Check the last digit of a payment card number (ISO/IEC 7812-1)."""
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [int(d) * (2 if i % 2 else 1) for i, d in enumerate(reversed(digits))]
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0
