"""Whether the bot of these settings runs on this machine."""

from __future__ import annotations

import aiohttp

from config.settings import Settings

_SECONDS = 3.0


async def is_running(settings: Settings) -> bool:
    """Ask the bot whether it is alive; where its measures are not served, that can't be known."""
    port = settings.metrics.port
    if not port:
        return False
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.metrics.host, settings.metrics.host)
    limit = aiohttp.ClientTimeout(total=_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=limit) as session,
            session.get(f"http://{f'[{host}]' if ':' in host else host}:{port}/healthz") as response,
        ):
            return response.status == 200 and await response.text() == "alive\n"
    except (aiohttp.ClientError, OSError, ValueError):
        return False
