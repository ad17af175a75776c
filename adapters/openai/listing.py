"""Asking a server which models it has; some do not tell."""

from __future__ import annotations

from collections.abc import Sequence

import httpx2
import openai

from adapters.openai import trouble as troubles
from adapters.openai.client import safe_url, to_client
from adapters.openai.trouble import Server
from core.errors import LLMError

_MISSING = (404, 405, 501)


async def models(api_key: str, base_url: str | None = None, seconds: float = 15.0) -> Sequence[str]:
    """Give the names of a server's models, none when it keeps no list. Raises LLMError as any model does."""
    client = to_client(api_key, base_url, None)
    try:
        page = await client.models.list(timeout=httpx2.Timeout(seconds))
        return [str(model.id) for model in page.data or ()]
    except openai.APIStatusError as error:
        if error.status_code in _MISSING:
            return ()
        raise _explained(error, client, api_key) from None
    except troubles.LIBRARY_ERRORS as error:
        raise _explained(error, client, api_key) from None
    except (AttributeError, TypeError):  # a list of another form
        return ()
    finally:
        await client.close()


def _explained(error: Exception, client: openai.AsyncOpenAI, key: str) -> LLMError:
    return troubles.to_trouble(error, "", Server(safe_url(client.base_url), key.strip())).error
