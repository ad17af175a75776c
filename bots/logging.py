"""The log: ids only, on standard error, with every secret taken out."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from pydantic import SecretStr

from config.section import Section
from config.settings import Settings

HIDDEN = "[hidden]"
_SECRETS = re.compile(
    r"\d{5,}:[A-Za-z0-9_-]{30,}"  # Telegram
    r"|\bsk-[A-Za-z0-9_-]{8,}"  # OpenAI and its likes
    r"|\b[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,}"  # Discord
    r"|(?<=/webhooks/)\d+/[A-Za-z0-9_-]{30,}|(?<=/interactions/)\d+/[A-Za-z0-9_-]{30,}"  # what Discord answers by
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"  # the password in an address
    r"|(?<=Bearer )\S+"
)
_TALKATIVE = ("httpx", "httpx2", "httpcore", "httpcore2", "openai", "telegram", "discord", "alembic", "apscheduler")
_QUOTING = ("pypdf",)  # what it warns of holds pieces of people's files
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
    for name in _QUOTING:
        logging.getLogger(name).setLevel(logging.NOTSET if level == "DEBUG" else logging.CRITICAL + 1)


def without_library_tracebacks(record: logging.LogRecord) -> bool:
    """Name what a library met instead of showing where, and let the record pass: an outage costs it a line."""
    if record.exc_info and record.name.partition(".")[0] in _TALKATIVE:
        kind = record.exc_info[0]
        record.msg, record.args = f"{record.getMessage()}: {kind.__name__ if kind else ''}", None
        record.exc_info = record.exc_text = None
    return True


def secrets(settings: Settings) -> set[str]:
    """Gather what must never be shown, from every section."""
    sections = [section for _, section in settings if isinstance(section, Section)]
    values = [value for section in sections for _, value in section]
    return {value.get_secret_value() for value in values if isinstance(value, SecretStr)}


class Redaction(logging.Filter):
    """Takes secrets out of a record: out of its text, its extras and its traceback."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        super().__init__()
        self._known = sorted((word for word in known if len(word) >= 4), key=len, reverse=True)

    def filter(self, record: logging.LogRecord) -> bool:
        """Clean a record in place, and let it pass."""
        record.msg, record.args = self.clean(record.getMessage()), None
        if record.exc_info:
            record.exc_text = self.clean(logging.Formatter().formatException(record.exc_info))
        for name, value in extras(record).items():
            setattr(record, name, self.clean(str(value)))
        return True

    def clean(self, text: str) -> str:
        """Hide what is known to be, or looks like, a secret."""
        for word in self._known:
            text = text.replace(word, HIDDEN)
        return _SECRETS.sub(HIDDEN, text)


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
