"""The bot on Telegram, as the settings describe it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from adapters import documents
from adapters.imagesize import look
from adapters.telegram.adapter import API_URL, Options, TelegramAdapter
from adapters.telegram.groups import Groups
from adapters.telegram.webhook import Address
from bots.hearing import Transcribe, open_transcriber
from config.section import pairs
from config.settings import Settings
from core.reading import Readers


@asynccontextmanager
async def open_telegram(settings: Settings) -> AsyncIterator[TelegramAdapter]:
    """Give the adapter of a bot whose token is set, until the block ends."""
    async with open_transcriber(settings) as transcribe, telegram(settings, transcribe) as adapter:
        yield adapter


def telegram(settings: Settings, transcribe: Transcribe | None = None) -> TelegramAdapter:
    """Make the adapter of a bot whose token is set."""
    chosen = settings.telegram
    assert chosen.token is not None
    options = Options(
        api_url=chosen.api_url or API_URL,
        webhook=_webhook(settings),
        groups=Groups(chosen.group_mode, pairs(chosen.group_modes)),
        admins=_admins(settings),
        quiet=settings.engine.quiet_seconds,
        private_pace=chosen.private_edit_seconds,
        group_pace=chosen.group_edit_seconds,
        rivalry=chosen.conflict_seconds,
    )
    return TelegramAdapter(chosen.token.get_secret_value(), options, Readers(documents, transcribe, look))


def _webhook(settings: Settings) -> Address | None:
    chosen = settings.telegram
    if chosen.webhook_url is None or chosen.webhook_secret is None:
        return None
    return Address(chosen.webhook_url, chosen.webhook_secret.get_secret_value(), chosen.webhook_port)


def _admins(settings: Settings) -> list[int]:
    names = (name.partition(":") for name in settings.access.admins)
    return [int(who) for platform, _, who in names if platform == "telegram"]
