"""Builds the library's client, with its own retries off."""

import httpx2
import openai

from core.errors import ConfigError

OPENAI = "https://api.openai.com/v1"


def to_client(api_key: str, base_url: str | None, http_client: httpx2.AsyncClient | None) -> openai.AsyncOpenAI:
    """Return a client; it touches no network yet. Raises ConfigError for a key that can't stand in a header."""
    key = api_key.strip()
    if not (key.isascii() and (key.isprintable() or not key)) or " " in key:
        raise ConfigError("OPENAI_API_KEY holds characters that no key has; copy it again.")
    if http_client is None and _is_near(base_url):
        http_client = _direct()
    address = base_url or OPENAI  # else the library takes OPENAI_BASE_URL from the environment, blank as well
    return openai.AsyncOpenAI(api_key=key or "none", base_url=address, max_retries=0, http_client=http_client)


def safe_url(url: httpx2.URL) -> str:
    """Return an address as it may stand in a log: without user, password and query."""
    return str(url.copy_with(userinfo=b"", query=None, fragment=None)).rstrip("/")


def _is_near(base_url: str | None) -> bool:
    return httpx2.URL(base_url or "").host in ("localhost", "127.0.0.1", "::1")


def _direct() -> httpx2.AsyncClient:
    """Return a client that asks no proxy, which could not reach a server on this machine."""
    return openai.DefaultAsyncHttpxClient(trust_env=False)
