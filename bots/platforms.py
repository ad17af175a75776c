"""Which platforms a running bot serves."""

from __future__ import annotations

from collections.abc import Sequence

from config.settings import Settings
from core.errors import ConfigError

TOKENS = {"telegram": "TELEGRAM_BOT_TOKEN", "discord": "DISCORD_BOT_TOKEN"}


def chosen(settings: Settings, wanted: Sequence[str]) -> Sequence[str]:
    """Name the platforms to serve: those wanted, else all with a token. Raises ConfigError naming what is missing."""
    ready = [name for name in TOKENS if getattr(settings, name).token]
    missing = [TOKENS[name] for name in wanted if name not in ready]
    if missing:
        raise ConfigError(f"{' and '.join(missing)} must be set to the token of the bot")
    if not ready:
        raise ConfigError(f"no bot is configured; set {' or '.join(TOKENS.values())} to the token of the bot")
    return wanted or ready


async def serve(names: Sequence[str]) -> None:
    """Serve platforms until the process is told to stop."""
    raise ConfigError(f"{' and '.join(names)} can't be served by this version; keepmind chat can be talked to")
