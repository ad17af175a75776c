"""What is sent beside the words: found in a message, checked for size, fetched, read."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from telegram import Bot, Message, PhotoSize
from telegram.error import BadRequest, TelegramError

from adapters.telegram import sentences
from adapters.telegram.trouble import says
from core.errors import KeepmindError, LLMRejected, LLMUnavailable
from core.messages import Attachment

logger = logging.getLogger("keepmind.telegram")
Transcribe = Callable[[str, str, bytes], Awaitable[str]]
"""Writes down a recording, given its name, media type and bytes.

Raises LLMUnavailable when it may work later, LLMRejected when it can't, another KeepmindError of a bad recording.
"""
MEGABYTE = 2**20
MOST_IMAGE = 10 * MEGABYTE
MOST_FILE = 20 * MEGABYTE
"""What a bot may fetch: https://core.telegram.org/bots/api#getfile."""
_PAUSES = (0.5, 2.0)
_IMAGES = {"image/jpeg", "image/png", "image/webp", "image/gif"}


class Documents(Protocol):
    """What reads documents; it may take its time, since it runs in a thread."""

    def is_readable(self, name: str, media_type: str) -> bool:
        """Tell whether a document of this name and type can be read."""
        ...

    def read(self, name: str, media_type: str, data: bytes) -> str:
        """Give a document's text. Raises KeepmindError."""
        ...


@dataclass(frozen=True, slots=True)
class Readers:
    """What reads files, each in at most so many seconds; without one its kind of file is not read."""

    documents: Documents | None = None
    transcribe: Transcribe | None = None
    seconds: float = 120


class Unread(Exception):
    """A file that is not read: a marked sentence for the person, with its values."""

    def __init__(self, sentence: str, **values: object) -> None:
        super().__init__(sentence.format(**values))
        self.sentence, self.values = sentence, values


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file that may be read, as a message announces it."""

    kind: Literal["image", "audio", "file"]
    id: str
    name: str
    media_type: str
    size: int

    @property
    def unread(self) -> Attachment:
        """The attachment before it is fetched."""
        return Attachment(self.kind, self.name, self.media_type)


def wanted(message: Message) -> Wanted | None:
    """Find the file of a message that could be read, by its kind."""
    if message.photo:
        photo = _best(message.photo)
        return Wanted("image", photo.file_id, "", "image/jpeg", photo.file_size or 0)
    if voice := message.voice:
        return Wanted("audio", voice.file_id, "voice.ogg", voice.mime_type or "audio/ogg", voice.file_size or 0)
    if audio := message.audio:
        name = audio.file_name or "audio.mp3"
        return Wanted("audio", audio.file_id, name, audio.mime_type or "audio/mpeg", audio.file_size or 0)
    if (file := message.document) and not message.animation:
        kind: Literal["image", "file"] = "image" if file.mime_type in _IMAGES else "file"
        return Wanted(kind, file.file_id, file.file_name or "", file.mime_type or "", file.file_size or 0)
    return None


def _best(sizes: tuple[PhotoSize, ...]) -> PhotoSize:
    """Choose the largest picture that may be fetched."""
    fitting = [size for size in sizes if (size.file_size or 0) <= MOST_IMAGE]
    return max(fitting or sizes[:1], key=lambda size: size.width * size.height)


def is_unreadable(message: Message) -> bool:
    """Tell whether somebody sent something that can't be read at all: a sticker, a poll, a video."""
    return bool(message.effective_attachment or message.story or message.checklist) and wanted(message) is None


class Files:
    """Fetches and reads files."""

    def __init__(self, bot: Bot, readers: Readers) -> None:
        self._bot, self._readers = bot, readers

    async def read(self, file: Wanted) -> Attachment:
        """Fetch a file and read it. Raises Unread."""
        self._check(file)
        try:
            async with asyncio.timeout(self._readers.seconds):
                return await self._read(file)
        except TimeoutError:
            raise Unread(sentences.UNFETCHED) from None

    async def _read(self, file: Wanted) -> Attachment:
        data = await self._fetch(file)
        if file.kind == "image":
            return Attachment("image", file.name, file.media_type, data=data)
        text = await (self._heard(file, data) if file.kind == "audio" else self._written(file, data))
        return Attachment(file.kind, file.name, file.media_type, text=text)

    def _check(self, file: Wanted) -> None:
        most = MOST_IMAGE if file.kind == "image" else MOST_FILE
        documents = self._readers.documents
        if file.kind == "audio" and self._readers.transcribe is None:
            raise Unread(sentences.NO_EARS)
        if file.kind == "file" and not (documents and documents.is_readable(file.name, file.media_type)):
            raise Unread(sentences.UNSUPPORTED)
        if file.size > most:
            raise Unread(sentences.TOO_LARGE, megabytes=most // MEGABYTE)

    async def _fetch(self, file: Wanted) -> bytes:
        for pause in (*_PAUSES, 0.0):
            try:
                return bytes(await (await self._bot.get_file(file.id)).download_as_bytearray())
            except BadRequest as error:
                if says(error, "too big"):
                    raise Unread(sentences.TOO_LARGE, megabytes=MOST_FILE // MEGABYTE) from error
                raise Unread(sentences.UNFETCHED) from error
            except TelegramError:
                await asyncio.sleep(pause)
        raise Unread(sentences.UNFETCHED)

    async def _heard(self, file: Wanted, data: bytes) -> str:
        assert self._readers.transcribe is not None
        try:
            text = await self._readers.transcribe(file.name, file.media_type, data)
        except KeepmindError as error:
            logger.warning("a recording was not written down: %s", error)
            raise Unread(_deaf(error)) from error
        if not text.strip():
            raise Unread(sentences.UNHEARD)
        return text

    async def _written(self, file: Wanted, data: bytes) -> str:
        assert self._readers.documents is not None
        try:
            return await asyncio.to_thread(self._readers.documents.read, file.name, file.media_type, data)
        except KeepmindError as error:
            raise Unread(sentences.BROKEN) from error


def _deaf(error: KeepmindError) -> str:
    """Say why a recording was not written down."""
    if isinstance(error, LLMRejected):
        return sentences.NO_EARS
    return sentences.DEAF_NOW if isinstance(error, LLMUnavailable) else sentences.UNHEARD
