"""What is sent beside the words: found in a message, and fetched."""

from __future__ import annotations

import asyncio
from typing import Literal

from telegram import Bot, Message, PhotoSize
from telegram.error import BadRequest, TelegramError

from adapters.telegram.trouble import says
from core import reading, sentences
from core.messages import Attachment
from core.reading import IMAGES, MEGABYTE, MOST_FILE, MOST_IMAGE, Readers, Unread, Wanted, check_size, unread

_PAUSES = (0.5, 2.0)
_UNREADABLE = ("animation", "video", "paid_media", "live_photo")


def wanted(message: Message) -> Wanted | None:
    """Find the file of a message that could be read, by its kind."""
    if message.photo:
        photo = _best(message.photo)
        return Wanted("image", photo.file_id, "", "image/jpeg", photo.file_size or 0)
    if voice := message.voice:
        return Wanted("audio", voice.file_id, "voice.ogg", str(voice.mime_type or "audio/ogg"), voice.file_size or 0)
    if audio := message.audio:
        name = str(audio.file_name or "audio.mp3")
        return Wanted("audio", audio.file_id, name, str(audio.mime_type or "audio/mpeg"), audio.file_size or 0)
    if (file := message.document) and not message.animation:
        media_type = str(file.mime_type or "")
        kind: Literal["image", "file"] = "image" if media_type in IMAGES else "file"
        return Wanted(kind, file.file_id, str(file.file_name or ""), media_type, file.file_size or 0)
    return None


def _best(sizes: tuple[PhotoSize, ...]) -> PhotoSize:
    """Choose the largest picture that may be fetched."""
    fitting = [size for size in sizes if (size.file_size or 0) <= MOST_IMAGE]
    return max(fitting or sizes[:1], key=lambda size: size.width * size.height)


def is_unreadable(message: Message) -> bool:
    """Tell whether somebody sent something that can't be read at all: a sticker, a poll, a video."""
    return bool(message.effective_attachment or message.story or message.checklist) and wanted(message) is None


def unreadable(message: Message) -> Attachment:
    """Name to the model what came with words and can't be read."""
    kind = next((kind for kind in _UNREADABLE if getattr(message, kind)), "")
    return unread(Attachment("file", kind.replace("_", " ")), Unread(sentences.UNREADABLE))


class Files(reading.Files):
    """Fetches and reads files."""

    def __init__(self, bot: Bot, readers: Readers) -> None:
        super().__init__(readers, self._fetched)
        self._bot = bot

    async def _fetched(self, file: Wanted) -> bytes:
        for pause in (*_PAUSES, 0.0):
            try:
                found = await self._bot.get_file(file.id)
                check_size(found.file_size or 0, MOST_FILE)  # a server of one's own gives files of any size
                return bytes(await found.download_as_bytearray())
            except BadRequest as error:
                if says(error, "too big"):
                    raise Unread(sentences.TOO_LARGE, megabytes=MOST_FILE // MEGABYTE) from error
                raise Unread(sentences.UNFETCHED) from error
            except TelegramError:
                await asyncio.sleep(pause)
        raise Unread(sentences.UNFETCHED)
