"""What is sent beside the words: checked for size, fetched, read."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from core import sentences
from core.errors import KeepmindError, LLMRejected, LLMUnavailable
from core.messages import Attachment, Message

logger = logging.getLogger("keepmind.reading")
Transcribe = Callable[[str, str, bytes], Awaitable[str]]
"""Writes down a recording, given its name, media type and bytes.

Raises LLMUnavailable when it may work later, LLMRejected when it can't, another KeepmindError of a bad recording.
"""
_AT_ONCE = 2
"""How many documents are read at one time, so that files that take long leave the machine to others."""
MEGABYTE = 2**20
MOST_IMAGE = 10 * MEGABYTE
MOST_FILE = 20 * MEGABYTE
"""What a bot may fetch: https://core.telegram.org/bots/api#getfile. It is enough elsewhere too."""
MOST_PIXELS = 64_000_000
"""What a camera makes; what is more would take a model's server hundreds of megabytes to unpack."""
IMAGES = {"image/jpeg", "image/png", "image/webp", "image/gif"}
"""The pictures that models see."""


class Documents(Protocol):
    """What reads documents; it may take its time, since it runs in a thread."""

    def is_readable(self, name: str, media_type: str) -> bool:
        """Tell whether a document of this name and type can be read."""
        ...

    def read(self, name: str, media_type: str, data: bytes) -> str:
        """Give a document's text. Raises KeepmindError."""
        ...


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture's media type, and its width and height in pixels."""

    media_type: str
    width: int
    height: int

    @property
    def is_too_large(self) -> bool:
        """Whether unpacking it would take too much."""
        return self.width * self.height > MOST_PIXELS


Look = Callable[[bytes], Picture | None]
"""Looks what a picture is by its bytes, without unpacking it; None for what is no picture that models see."""


@dataclass(frozen=True, slots=True)
class Readers:
    """What reads files, each in at most so many seconds; without one its kind of file is not read."""

    documents: Documents | None = None
    transcribe: Transcribe | None = None
    look: Look | None = None
    seconds: float = 120


class Unread(Exception):
    """A file that is not read: a marked sentence for the person, with its values."""

    def __init__(self, sentence: str, **values: object) -> None:
        super().__init__(sentence.format(**values))
        self.sentence, self.values = sentence, values


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file that may be read, as a message announces it. `id` is what it is fetched by."""

    kind: Literal["image", "audio", "file"]
    id: str
    name: str
    media_type: str
    size: int

    @property
    def unread(self) -> Attachment:
        """The attachment before it is fetched."""
        return Attachment(self.kind, self.name, self.media_type)


Fetch = Callable[[Wanted], Awaitable[bytes]]
"""Fetches a file. Raises Unread."""


class Files:
    """Fetches and reads files."""

    def __init__(self, readers: Readers, fetch: Fetch) -> None:
        self._readers, self._fetch = readers, fetch
        self._few = asyncio.Semaphore(_AT_ONCE)

    async def read(self, file: Wanted) -> Attachment:
        """Fetch a file and read it. Raises Unread."""
        self._check(file)
        try:
            async with asyncio.timeout(self._readers.seconds):
                return await self._read(file)
        except TimeoutError:
            raise Unread(sentences.UNFETCHED) from None

    async def whole(self, file: Wanted) -> Attachment:
        """Fetch a file as it is, for a command that takes it, read as far as it can be. Raises Unread."""
        check_size(file.size, MOST_FILE)
        try:
            async with asyncio.timeout(self._readers.seconds):
                data = await self._whole(file, MOST_FILE)
                return Attachment(file.kind, file.name, file.media_type, await self._text_of(file, data), data)
        except TimeoutError:
            raise Unread(sentences.UNFETCHED) from None

    async def _text_of(self, file: Wanted, data: bytes) -> str:
        documents = self._readers.documents
        if documents is None or not documents.is_readable(file.name, file.media_type):
            return ""
        with suppress(Unread):
            return await self._written(file, data)
        return ""

    async def _read(self, file: Wanted) -> Attachment:
        data = await self._whole(file, _most(file))
        if file.kind == "image":
            return Attachment("image", file.name, (await self._seen(data)).media_type, data=data)
        text = await (self._heard(file, data) if file.kind == "audio" else self._written(file, data))
        return Attachment(file.kind, file.name, file.media_type, text=text)

    async def _whole(self, file: Wanted, most: int) -> bytes:
        """Fetch a file, which may be larger than it was announced to be."""
        data = await self._fetch(file)
        check_size(len(data), most)
        return data

    def _check(self, file: Wanted) -> None:
        documents = self._readers.documents
        if file.kind == "image" and self._readers.look is None:
            raise Unread(sentences.UNSUPPORTED)
        if file.kind == "audio" and self._readers.transcribe is None:
            raise Unread(sentences.NO_EARS)
        if file.kind == "file" and not (documents and documents.is_readable(file.name, file.media_type)):
            raise Unread(sentences.UNSUPPORTED)
        check_size(file.size, _most(file))

    async def _seen(self, data: bytes) -> Picture:
        """Look what a picture is by its bytes, since a model's server trusts what it is told. Raises Unread."""
        assert self._readers.look is not None
        picture = await asyncio.to_thread(self._readers.look, data)
        if picture is None:
            raise Unread(sentences.BROKEN)
        if picture.is_too_large:
            raise Unread(sentences.TOO_MANY_PIXELS, megapixels=MOST_PIXELS // 1_000_000)
        return picture

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
            async with self._few:
                return await asyncio.to_thread(self._readers.documents.read, file.name, file.media_type, data)
        except KeepmindError as error:
            raise Unread(sentences.BROKEN) from error


def _most(file: Wanted) -> int:
    return MOST_IMAGE if file.kind == "image" else MOST_FILE


def check_size(size: int, most: int) -> None:
    """Raise Unread for a file of more bytes than are read."""
    if size > most:
        raise Unread(sentences.TOO_LARGE, megabytes=most // MEGABYTE)


def _deaf(error: KeepmindError) -> str:
    """Say why a recording was not written down."""
    if isinstance(error, LLMRejected):
        return sentences.NO_EARS
    return sentences.DEAF_NOW if isinstance(error, LLMUnavailable) else sentences.UNHEARD


async def with_files(message: Message, wanted: Sequence[Wanted], files: Files) -> tuple[Message, Unread | None]:
    """Add what was sent beside the words; or tell why it is nothing the bot could answer.

    What can't be read is named to the model, which can say so; only where nothing else was said the person is told.
    """
    read = [await _tried(file, files) for file in wanted]
    problems = [problem for _, problem in read if problem is not None]
    if wanted and len(problems) == len(wanted) and not message.text:
        return message, problems[0]
    return replace(message, attachments=tuple(attachment for attachment, _ in read)), None


async def _tried(file: Wanted, files: Files) -> tuple[Attachment, Unread | None]:
    try:
        return await files.read(file), None
    except Unread as problem:
        return unread(file.unread, problem), problem


def unread(attachment: Attachment, problem: Unread) -> Attachment:
    """Name to the model what is not read; nobody but it tells the person."""
    return replace(attachment, text=f"(not read; tell the person: {problem})")
