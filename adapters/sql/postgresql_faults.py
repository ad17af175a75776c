"""What the operator is told when a PostgreSQL database can't be used: one sentence each, with what to do."""

from __future__ import annotations

import psycopg

from adapters.sql.faults import ELSEWHERE
from core.errors import StoreError

_PASSING = {"40001", "40P01", "53300", "57P01", "57P02", "57P03"}
"""Serialization failure, deadlock, too many connections, and a server that stops or starts: trying again may help."""
_LOST = {"57P01", "57P02", "57P03", "25P03", "57P05"}

_SETTING = "in KEEPMIND_DATABASE_URL"
_REFUSALS = (
    ("too many", "has no connection left for the bot; raise max_connections, or stop another program."),
    ("connection slots", "has no connection left for the bot; raise max_connections, or stop another program."),
    ("password", f"refuses the user or the password {_SETTING}; correct them."),
    ("pg_hba.conf", f"refuses the user {_SETTING} from this machine; let it in by the server's pg_hba.conf."),
    ("not currently accepting", "takes no connections just now; let its server take them, or try again later."),
    ("role ", f"refuses the user {_SETTING}, which does not exist; create it or {ELSEWHERE}."),
    ("database ", f"does not exist on its server; create it (createdb) or {ELSEWHERE}."),
    ("resolve host", f"can't be reached, because its host is not known; correct the host {_SETTING}."),
    ("translate host name", f"can't be reached, because its host is not known; correct the host {_SETTING}."),
    ("starting up", "is still starting; try again in a moment."),
    ("shutting down", "is being stopped; start it, or try again later."),
    ("SSL", f"can't agree with the bot on encryption; correct sslmode {_SETTING}."),
)
_UNREACHABLE = f"can't be reached; check that its server runs, and the host and the port {_SETTING}."
_SENTENCES = {
    "53100": "can't grow because its disk is full; free some space.",
    "53200": "has no memory left; give its server more.",
    "25006": f"is read-only (a replica?); {ELSEWHERE}.",
    "42501": "does not let its user make or change its tables; make the user its owner.",
    "55P03": "is held by another program; stop that program, or try again later.",
    "XX001": "is damaged and was left as it is; bring back a copy of it.",
    "XX002": "is damaged and was left as it is; bring back a copy of it.",
    "54000": "can't take a text this large.",
}


def is_lost(error: Exception) -> bool:
    """Say whether an error means that the connection is no longer there."""
    if not isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        return False
    return error.sqlstate is None or error.sqlstate[:2] == "08" or error.sqlstate in _LOST


def may_pass(error: Exception) -> bool:
    """Say whether the same work may succeed when it is tried again, nothing of it having been kept."""
    return is_lost(error) or getattr(error, "sqlstate", None) in _PASSING


def store_error(error: psycopg.Error, where: str) -> StoreError:
    """Put an error of PostgreSQL into a sentence; neither the password nor what was stored is in it."""
    name = type(error).__name__
    known = _SENTENCES.get(error.sqlstate or "", f"refused an operation ({name}).")
    return StoreError(f"The database {where} " + (_refusal(str(error)) if is_lost(error) else known))


def _refusal(said: str) -> str:
    about = said.partition("FATAL:")[2] or said
    return next((sentence for words, sentence in _REFUSALS if words in about), _UNREACHABLE)
