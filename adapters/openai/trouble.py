"""What a failing server means: which of our errors it is, whether to ask again and when, and what it refused."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx2
import openai

from adapters.openai.overflow import overflows, told_size
from adapters.openai.waits import asked_wait
from core.errors import ContextOverflow, LLMError, LLMRejected, LLMUnavailable

logger = logging.getLogger("keepmind.model")

LIBRARY_ERRORS = (
    openai.OpenAIError,
    httpx2.HTTPError,
    httpx2.StreamError,
    json.JSONDecodeError,
    UnicodeDecodeError,
    RecursionError,
)

_DEEPEST, _LONGEST = 9, 20_000
"""How deep, and how many characters, of a server's complaint are looked at."""

_NO_MONEY = re.compile(r"insufficient[_ ](quota|balance|funds|credit)|billing|credit balance|payment required", re.I)
_UNKNOWN_MODEL = re.compile(
    r"model_not_found|(model|endpoints?)\b.{0,120}(not found|not exist|does ?n.t exist|not a valid|unknown|no access|"
    r"not have access|not available)|(invalid|unknown|unsupported|no such) model|"
    r"not a valid model|no endpoints found for",
    re.I | re.S,
)
_REFUSED_BY_BUG = re.compile(r"support|require|implement|alternate|at the beginning", re.I)
_KEYS = re.compile(r"(?:sk|key|pk|gsk|xai|AIza)[-_]?[A-Za-z0-9*_\-]{8,}|Bearer\s+\S+", re.I)


class UnknownModel(LLMRejected):
    """The server does not know the model."""


@dataclass(frozen=True, slots=True)
class Server:
    """Whom the errors speak of; the key is here only to be kept out of them."""

    url: str
    key: str = field(repr=False)

    def redact(self, text: str) -> str:
        """Return what of a server's own words may stand in a log: one short line without keys or people's words."""
        words = re.split(r"['\"]?input['\"]?\s{0,9}:", text[:_LONGEST])[0]
        return _KEYS.sub("[key]", words.replace(self.key, "[key]") if self.key else words).strip()[:200]


class Trouble(Exception):
    """A try that failed. `refusal` and `param` are what to adapt to; `size` is the context the server told."""

    def __init__(
        self, error: LLMError, *, status: int | None = None, again: bool = False, wait: float | None = None
    ) -> None:
        super().__init__(str(error))
        self.error, self.status, self.again, self.wait = error, status, again, wait
        self.refusal = ""
        self.param = ""
        self.size: int | None = None


def cut_short(server: Server) -> Trouble:
    """Return the trouble with a stream that ended before its end."""
    return Trouble(LLMUnavailable(f"The model server at {server.url} broke off its answer."), again=True)


def endless(server: Server) -> Trouble:
    """Return the trouble with an answer that takes too long, although the server is not silent."""
    return Trouble(LLMUnavailable(f"The model server at {server.url} did not come to an end with its answer."))


def not_the_protocol(server: Server) -> Trouble:
    """Return the trouble with a server that sends something else than chat completions."""
    return Trouble(
        LLMRejected(
            f"The server at {server.url} does not answer like a chat-completions server; "
            "check OPENAI_BASE_URL, which usually ends in /v1."
        )
    )


def unasked_stream(server: Server) -> Trouble:
    """Return the trouble with a server that streams whatever it is asked for; the dialect can adapt to it."""
    trouble = not_the_protocol(server)
    trouble.refusal = "only streaming is supported"
    return trouble


def to_trouble(error: Exception, model: str, server: Server) -> Trouble:
    """Return what an error of the library means."""
    if isinstance(error, openai.APIStatusError):
        return _judge(error.status_code, error.body, error.response.headers, model, server)
    if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
        return Trouble(LLMUnavailable(f"The model server at {server.url} was silent for too long."), again=True)
    if isinstance(error, openai.APIConnectionError | httpx2.HTTPError):
        return _unreachable(server)
    if isinstance(error, openai.APIError) and error.body is not None:
        return from_body(error.body, model, server)
    return cut_short(server)


def from_body(body: object, model: str, server: Server) -> Trouble:
    """Return what an error sent within a good response means."""
    code = str(body.get("code") or body.get("status") or "") if isinstance(body, Mapping) else ""
    status = int(code) if code.isdecimal() and len(code) == 3 else 500
    return _judge(status, body, {}, model, server)


def _unreachable(server: Server) -> Trouble:
    text = f"The model server at {server.url} can't be reached; start it or check OPENAI_BASE_URL."
    return Trouble(LLMUnavailable(text), again=True)


def _judge(status: int, body: object, headers: Mapping[str, str], model: str, server: Server) -> Trouble:
    message, everything = _message(body), _everything(body)
    trouble = _verdict(status, everything, server.redact(message), model, server)
    trouble.status = status
    if trouble.again:
        trouble.wait = asked_wait(headers, everything)
    if isinstance(trouble.error, ContextOverflow):
        trouble.size = told_size(everything)
    elif _may_adapt(status, everything) and not isinstance(trouble.error, UnknownModel):
        trouble.refusal, trouble.param = everything, _field(body, "param")
    return trouble


def _verdict(status: int, everything: str, message: str, model: str, server: Server) -> Trouble:
    if status == 402 or (status in (400, 403, 429) and _NO_MONEY.search(everything) and not _asks_to_wait(everything)):
        return Trouble(LLMRejected("The account at the model server has no quota left; check its plan and billing."))
    if status == 401:
        return Trouble(LLMRejected("The model server refused the API key; check OPENAI_API_KEY."))
    if overflows(status, everything):
        return Trouble(ContextOverflow(f"The request is larger than the context of the model '{model}'."))
    if status == 429 or status >= 500:
        return Trouble(LLMUnavailable(_busy(status, server)), again=True)
    if status in (400, 403, 404, 422) and _UNKNOWN_MODEL.search(everything):
        return Trouble(_unknown_model(model, server))
    if status == 403:
        logger.debug("the model server's words: %s", message)
        text = "The model server denies access; check OPENAI_API_KEY (the log at DEBUG has its words)."
        return Trouble(LLMRejected(text))
    if status == 404:
        return not_the_protocol(server)
    if status == 408:
        return Trouble(LLMUnavailable(_busy(status, server)))
    logger.debug("the model server's words: %s", message)  # they may quote what a person said
    return Trouble(LLMRejected(f"The model server refused the request ({status}); the log at DEBUG has its words."))


def _unknown_model(model: str, server: Server) -> UnknownModel:
    return UnknownModel(f"The model '{model}' is unknown to the server at {server.url}; set KEEPMIND_MODEL.")


def _busy(status: int, server: Server) -> str:
    if status == 429:
        return f"The model server at {server.url} takes no more requests for now (429)."
    return f"The model server at {server.url} fails ({status})."


def _asks_to_wait(text: str) -> bool:
    """Tell a rate limit from an empty account: Gemini speaks of billing in both."""
    return "insufficient_quota" not in text and asked_wait({}, text) is not None


def _may_adapt(status: int, text: str) -> bool:
    if status >= 500:
        return _REFUSED_BY_BUG.search(text) is not None
    return status in (400, 404, 422)


def _field(body: object, name: str) -> str:
    return str(body.get(name) or "") if isinstance(body, Mapping) else ""


def _message(body: object) -> str:
    """Return the human part of an error body, in any of the shapes servers give it."""
    for _ in range(_DEEPEST):
        if isinstance(body, list):
            body = body[0] if body else ""
        elif isinstance(body, Mapping):
            body = body.get("error") or body.get("message") or body.get("detail") or ""
        else:
            return str(body or "")
    return ""


def _everything(body: object) -> str:
    """Return the words of an error body: its message with codes, types and nested details."""
    try:
        text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, default=str)
    except RecursionError:
        return ""
    return text[:_LONGEST]
