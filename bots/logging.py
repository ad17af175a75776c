"""The log: ids only, on standard error, with every secret taken out."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from pydantic import SecretStr

from config.section import Section
from config.settings import Settings

HIDDEN = "[hidden]"
_SECRETS = re.compile(
    r"(?<!\d)\d{5,}:[A-Za-z0-9_-]{30,}"  # Telegram
    r"|\bsk-[A-Za-z0-9_-]{8,}"  # OpenAI and its likes
    r"|\b[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,}"  # Discord
    r"|(?<=/webhooks/)\d+/[A-Za-z0-9_-]{30,}|(?<=/interactions/)\d+/[A-Za-z0-9_-]{30,}"  # what Discord answers by
    r"|(?<=://)[^/\s:@]*:\S{1,200}(?=@)"  # the password in an address, which may hold any of its marks
    r"|(?<=[Bb]earer )\S+"
)
_BREAKS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_TALKATIVE = (
    *("httpx", "httpx2", "httpcore", "httpcore2", "openai", "telegram", "discord", "alembic", "apscheduler"),
    "aiohttp",  # what strangers send to a port that is no HTTP
    "asyncio",  # what a library's task met, which it writes with the words that were in it
)
_STANDARD = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}


def set_up_logging(settings: Settings, default: str = "INFO") -> None:
    """Send the log to standard error at the level that is set, `default` where none is."""
    level = settings.log.level or default
    handler = logging.StreamHandler()
    if logging.getLevelName(level) != logging.DEBUG:
        handler.addFilter(without_library_tracebacks)
    handler.addFilter(Redaction(secrets(settings)))
    handler.setFormatter(Json() if settings.log.format == "json" else Lines("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLogger().level))


def without_library_tracebacks(record: logging.LogRecord) -> bool:
    """Name what a library met instead of showing where, and let the record pass: an outage costs it a line."""
    if record.exc_info and record.name.partition(".")[0] in _TALKATIVE:
        kind = record.exc_info[0]
        first_line = record.getMessage().partition("\n")[0]
        record.msg, record.args = f"{first_line}: {kind.__name__ if kind else ''}", None
        record.exc_info = record.exc_text = None
    return True


def secrets(settings: Settings) -> set[str]:
    """Gather what must never be shown, from every section."""
    sections = [section for _, section in settings if isinstance(section, Section)]
    values = [value for section in sections for _, value in section]
    known = {value.get_secret_value() for value in values if isinstance(value, SecretStr)}
    if "://" not in settings.storage.url:
        known.discard(settings.storage.url)  # the path of a file
    return known | {part for one in known for part in _passwords(one)}


def _passwords(secret: str) -> Iterable[str]:
    """Give the password of an address as it is written there, and as what connects is given it."""
    user, at, _ = secret.partition("://")[2].rpartition("@")
    password = user.partition(":")[2] if at else ""
    return {password, unquote(password)} - {""}


class Redaction(logging.Filter):
    """Takes secrets out of a record: out of its text, its extras and its traceback."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        super().__init__()
        self._known = sorted((word for word in known if len(word) >= 4), key=len, reverse=True)

    def filter(self, record: logging.LogRecord) -> bool:
        """Clean a record in place, and let it pass."""
        record.msg, record.args = in_one_line(self.clean(record.getMessage())), None
        if record.exc_info:
            record.exc_text = self.clean(logging.Formatter().formatException(record.exc_info))
        for name, value in extras(record).items():
            setattr(record, name, in_one_line(self.clean(str(value))))
        return True

    def clean(self, text: str) -> str:
        """Hide what is known to be, or looks like, a secret."""
        for word in self._known:
            text = text.replace(word, HIDDEN)
        return _SECRETS.sub(HIDDEN, text)


def in_one_line(text: str) -> str:
    """Write what would break a line, or could not be written, as an escape: so nobody can forge an entry."""
    return _BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}" if found[0] != "\n" else "\\n", text)


def extras(record: logging.LogRecord) -> dict[str, Any]:
    """Give what was logged with `extra=`."""
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}


class Lines(logging.Formatter):
    """A line a record, extras at its end."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # logging's own name
        """Put `name=value` for each extra behind the message."""
        return " ".join([super().formatMessage(record), *(f"{k}={v}" for k, v in extras(record).items())])


class Json(logging.Formatter):
    """A JSON object a record."""

    def format(self, record: logging.LogRecord) -> str:
        """Write time, level, logger, message, extras and traceback."""
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **extras(record),
        }
        return json.dumps(entry | ({"traceback": record.exc_text} if record.exc_text else {}), ensure_ascii=False)
