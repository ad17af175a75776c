"""What is sent beside the words: found in a message, and fetched."""

from __future__ import annotations

import asyncio
from mimetypes import guess_type
from typing import Literal

import discord

from adapters.discord.conversion import is_forward
from adapters.discord.trouble import TROUBLES
from core import reading, sentences
from core.reading import IMAGES, Readers, Unread, Wanted

_PAUSES = (0.5, 2.0)
_GONE = (403, 404)


def wanted(message: discord.Message) -> list[Wanted]:
    """Find the files of a message, or of the one it forwards, that could be read by their kind."""
    shown = message.message_snapshots[0].attachments if is_forward(message) else message.attachments
    return [_wanted(file) for file in shown if _kind(file) is not None]


def is_unreadable(message: discord.Message) -> bool:
    """Tell whether somebody sent something that can't be read at all: a sticker, a poll, a video."""
    return not wanted(message) and bool(message.attachments or message.stickers or message.poll)


def _wanted(file: discord.Attachment) -> Wanted:
    kind = _kind(file)
    assert kind is not None
    return Wanted(kind, file.url, str(file.filename), _media_type(file), file.size)


def _kind(file: discord.Attachment) -> Literal["image", "audio", "file"] | None:
    media_type = _media_type(file)
    if media_type in IMAGES:
        return "image"
    if file.is_voice_message() or media_type.startswith("audio/"):
        return "audio"
    return None if media_type.startswith("video/") else "file"


def _media_type(file: discord.Attachment) -> str:
    return str(file.content_type or _guessed(str(file.filename))).partition(";")[0].strip()


def _guessed(name: str) -> str:
    """Guess a picture or a recording by its name, where Discord does not say; all else is found out by reading it."""
    guessed = guess_type(name)[0] or ""
    return guessed if guessed.startswith(("image/", "audio/")) else ""


class Files(reading.Files):
    """Fetches and reads files."""

    def __init__(self, client: discord.Client, readers: Readers) -> None:
        super().__init__(readers, self._fetched)
        self._client = client

    async def _fetched(self, file: Wanted) -> bytes:
        for pause in (*_PAUSES, 0.0):
            try:
                return await self._client.http.get_from_cdn(file.id)
            except TROUBLES as error:
                if isinstance(error, discord.HTTPException) and error.status in _GONE:
                    break
                await asyncio.sleep(pause)
        raise Unread(sentences.UNFETCHED)
