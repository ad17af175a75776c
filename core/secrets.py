"""Recognises what must never be stored as a fact: passwords, keys, tokens, card numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_END = r"(?![^\W_])"
_PASSWORD = (
    r"pass(?:word|wd|wort|phrase|code)s?|passord|kennw[oö]rt(?:er)?|zugangscode|mots?[ _]de[ _]passe|"
    r"contrase(?:ñ|n)as?|clave[ _](?:secreta|de[ _]acceso)|senhas?|palavra[ _-]passe|wachtwoord(?:en)?|"
    r"parola[ _](?:d.?[ _]?ordine|chiave)|heslo|lozink[au]|geslo|l[öo]senord|adgangskode|salasana|jelsz[óo]|"
    rf"slapta[žz]odis|has[łl]o{_END}|[şs]ifre(?:m|si)?{_END}|"
    r"парол(?:ь|я|ю|ем|і)|лозинк[аи]|пин[ _-]?код|пін[ _-]?код|κωδικ(?:ό[ςσ]|ού)[ _]πρόσβασης|סיסמ[הא]|"
    r"كلمة[ _](?:المرور|السر)|رمز[ _]عبور|गुप्त[ _]?शब्द|पासवर्ड|পাসওয়ার্ড|รหัสผ่าน|mật[ _]khẩu|kata[ _]sandi|"
    r"密[码碼]|口令|パスワード|暗証番号|비밀번호|패스워드"
)
_KEYLIKE = (
    r"api[ _-]?keys?|(?:secret|private|access|ssh|encryption)[ _-]keys?|secret[ _-](?:code|word|token)|"
    r"(?:access|api|auth|bot|bearer|login|refresh)[ _-]tokens?|pin[ _-](?:code|number)|seed[ _-]phrase|"
    rf"recovery[ _-]code|c[vc][vc]2?{_END}|credit[ _-]?card|card[ _-]number|security[ _-]code|kreditkarte|"
    r"carte[ _]bancaire|n[uú]mero[ _]de[ _](?:la[ _])?tarjeta|номер[ _]карты|密钥|令牌|卡号"
)
_SECRET_KEYS = re.compile(
    rf"{_PASSWORD}|{_KEYLIKE}|(?:^|_)(?:secrets?|tokens?|pin|iban|parola|clave|암호)(?:_\d+)?$", re.IGNORECASE
)
_IS = (
    r"(?:\s*(?:=|:|—|–|->|=>)|\s+(?:is|was|are|ist|war|lautet|est|es|è|é|er|är|on|jest|je|to|это|-)(?=\s)"
    r"|\s*[是为為はがは는은])"
)
_MY = r"(?:my|our|the|meine?|mon|notre|mi|minha|meu|(?:il|la)\s+mi[oa])"
_STATED = (
    re.compile(r"\b(?:pass|pwd|pw)\s*[:=]\s*(\S+)", re.IGNORECASE),
    re.compile(rf"(?:{_PASSWORD}|{_KEYLIKE}|\bpin\b)[^.!?\n:=]{{0,40}}?{_IS}\s*[«\"'“]?(\S+)", re.IGNORECASE),
    re.compile(rf"(?:{_PASSWORD}|{_KEYLIKE}|\bpin\b)[^.!?\n]{{0,40}}?[\s:=]((?=\S{{0,60}}\d)\S{{4,}})", re.IGNORECASE),
    re.compile(
        rf"(?<!\S)(\S+)\s+(?:is|ist|est|es|è|é)\s+{_MY}\s+(?:\w+\s+)?(?:{_PASSWORD}|{_KEYLIKE}|pin\b)", re.IGNORECASE
    ),
)
_SECRET_VALUES = re.compile(
    r"\b[srp]k[-_][A-Za-z0-9_-]{16,}"  # OpenAI, Anthropic, Stripe and their likes
    r"|\b\d{6,}:[A-Za-z0-9_-]{30,}"  # Telegram bot token
    r"|\b(?:ghp|gho|ghs|ghu|github_pat|glpat|xox[abeprs]|npm|hf)[-_][A-Za-z0-9_-]{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|\bAIza[0-9A-Za-z_-]{30,}"  # Google
    r"|(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"  # JSON web token
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|\b[MNO][A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",  # Discord bot token
    re.IGNORECASE,
)
_DIGITS = re.compile(r"(?:\d[ .\-]?){12,18}\d")


def looks_secret(key: str, value: str) -> bool:
    """Say whether a fact of this normalised key and value is a secret that must not be stored."""
    return bool(_SECRET_KEYS.search(key)) or holds_secret(value)


def holds_secret(text: str) -> bool:
    """Say whether a text holds a secret."""
    text = unicodedata.normalize("NFKC", text)
    return bool(_SECRET_VALUES.search(text)) or _has_card_number(text) or any(_stated(text))


def stated_as_secret(value: str, words: str) -> bool:
    """Say whether words give this value as a password, key, pin or card number."""
    wanted = unicodedata.normalize("NFKC", value).casefold()
    told = (secret.casefold() for secret in _stated(unicodedata.normalize("NFKC", words)))
    return any(_are_one(secret, wanted) for secret in told)


def _are_one(secret: str, wanted: str) -> bool:
    inside = len(secret) > 3 and secret in wanted.split()
    return secret == wanted or inside or (len(wanted) > 3 and wanted in secret)


def _stated(text: str) -> Iterator[str]:
    """The secrets a text states in so many words, without the punctuation around them."""
    for pattern in _STATED:
        yield from filter(None, (match.group(1).strip(".,;!?«»\"'“”()") for match in pattern.finditer(text)))


def _has_card_number(value: str) -> bool:
    return any(_luhn(re.sub(r"\D", "", match.group())) for match in _DIGITS.finditer(value))


def _luhn(digits: str) -> bool:
    """Check the last digit of a payment card number (ISO/IEC 7812-1)."""
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [int(d) * (2 if i % 2 else 1) for i, d in enumerate(reversed(digits))]
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0
