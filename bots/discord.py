"""The bot on Discord, as the settings describe it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from adapters import documents
from adapters.discord.adapter import DiscordAdapter, Options
from adapters.discord.away import Absence
from adapters.discord.client import API_URL, GATEWAY_URL
from adapters.discord.groups import Groups
from adapters.imagesize import look
from bots.hearing import Transcribe, open_transcriber
from config.section import pairs
from config.settings import Settings
from core.reading import Readers


@asynccontextmanager
async def open_discord(settings: Settings) -> AsyncIterator[DiscordAdapter]:
    """Give the adapter of a bot whose token is set, until the block ends."""
    async with open_transcriber(settings) as transcribe, discord(settings, transcribe) as adapter:
        yield adapter


def discord(settings: Settings, transcribe: Transcribe | None = None) -> DiscordAdapter:
    """Make the adapter of a bot whose token is set."""
    chosen = settings.discord
    assert chosen.token is not None
    options = Options(
        api_url=chosen.api_url or API_URL,
        gateway_url=chosen.gateway_url or GATEWAY_URL,
        content=chosen.message_content,
        guild=chosen.guild,
        groups=Groups(chosen.channel_mode, pairs(chosen.channel_modes), chosen.bots),
        absence=Absence(chosen.away_hours * 3600, chosen.away_messages),
        threads=chosen.threads,
        longest_code=chosen.code_file,
        quiet=settings.engine.quiet_seconds,
        pace=chosen.edit_seconds,
    )
    return DiscordAdapter(chosen.token.get_secret_value(), options, Readers(documents, transcribe, look))
