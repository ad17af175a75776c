"""Writes down recordings, through the transcriptions of an OpenAI-compatible server."""

from __future__ import annotations

import asyncio
import random
import time

import httpx2
import openai

from adapters.openai.client import safe_url, to_client
from adapters.openai.trouble import LIBRARY_ERRORS, Server, Trouble, UnknownModel, to_trouble
from adapters.openai.waits import Patience, Sleep
from core.errors import KeepmindError, LLMRejected, LLMUnavailable

MEGABYTE = 2**20
MOST_BYTES = 25 * MEGABYTE
"""https://platform.openai.com/docs/guides/speech-to-text."""
_RECORDINGS_FAULT = (400, 413, 415, 422)
_NO_EARS = (404, 405, 501)
_FORMATS: dict[str, tuple[int, bytes]] = {
    "ogg oga": (0, b"OggS"),
    "mp3 mpga mpeg": (0, b"ID3"),
    "m4a mp4": (4, b"ftyp"),
    "wav": (8, b"WAVE"),
    "flac": (0, b"fLaC"),
    "webm": (0, b"\x1a\x45\xdf\xa3"),
}
"""The names of each format, and where its mark stands."""


class Transcriber:
    """Writes down one recording a call: `await transcriber(name, media_type, data)`.

    A call takes at most `seconds`, tries that fail in passing included, and `most_bytes` of recording.
    Raises ConfigError for a key that can't stand in a header.
    """

    def __init__(
        self,
        api_key: str,
        base_url: str | None,
        model: str = "whisper-1",
        *,
        seconds: float = 90.0,
        most_bytes: int = MOST_BYTES,
        retries: int = 2,
        http_client: httpx2.AsyncClient | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._model, self._seconds, self._most_bytes = model, seconds, most_bytes
        self._retries, self._sleep = retries, sleep
        self._client = to_client(api_key, base_url, http_client)
        self._server = Server(safe_url(self._client.base_url), api_key.strip())

    async def __call__(self, name: str, media_type: str, data: bytes) -> str:
        """Give the words of a recording, never none.

        Raises LLMUnavailable when it may work later, LLMRejected when the operator has to do something, and another
        KeepmindError when nothing can be made of the recording.
        """
        if len(data) > self._most_bytes:
            raise KeepmindError(f"A recording may have at most {self._most_bytes // MEGABYTE} MB.")
        if not data:
            raise KeepmindError("The recording is empty.")
        try:
            async with asyncio.timeout(self._seconds):
                text = await self._persist((recording_name(name, data), data, media_type or "application/octet-stream"))
        except TimeoutError:
            raise LLMUnavailable(f"The server at {self._server.url} took too long with a recording.") from None
        if not text:
            raise KeepmindError("No words were heard in the recording.")
        return text

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _persist(self, file: tuple[str, bytes, str]) -> str:
        patience = Patience(self._retries, self._seconds, time.monotonic, self._sleep, random.random)
        while True:
            try:
                return await self._ask(file)
            except Trouble as trouble:
                if not (trouble.again and await patience.wait(trouble.wait)):
                    raise trouble.error from None

    async def _ask(self, file: tuple[str, bytes, str]) -> str:
        try:
            heard: object = await self._client.audio.transcriptions.create(
                file=file, model=self._model, timeout=self._seconds
            )
        except openai.APIStatusError as error:
            raise self._refusal(error) from None
        except LIBRARY_ERRORS as error:
            raise to_trouble(error, self._model, self._server) from None
        text = getattr(heard, "text", None)
        if not isinstance(text, str):
            raise self._no_ears()
        return text.strip()

    def _refusal(self, error: openai.APIStatusError) -> Exception:
        trouble = to_trouble(error, self._model, self._server)
        if isinstance(trouble.error, UnknownModel) or error.status_code in _NO_EARS:
            return self._no_ears()
        return KeepmindError(str(trouble.error)) if error.status_code in _RECORDINGS_FAULT else trouble

    def _no_ears(self) -> LLMRejected:
        return LLMRejected(
            f"The server at {self._server.url} does not write down recordings with the model '{self._model}'; "
            "set KEEPMIND_MODEL__TRANSCRIPTION to one that does, or to off."
        )


def recording_name(name: str, data: bytes) -> str:
    """Name a recording after what is in it: servers go by the name, and apps often give a wrong one."""
    names = next((names for names, (at, mark) in _FORMATS.items() if data.startswith(mark, at)), _untagged(data))
    stem, _, suffix = name.rpartition(".")
    if not names or suffix.lower() in names.split():
        return name or "recording"
    return f"{stem or suffix or 'recording'}.{names.split()[0]}"


def _untagged(data: bytes) -> str:
    """Know MPEG audio without a tag by the eleven bits that each frame begins with."""
    return "mp3 mpga mpeg" if len(data) > 1 and data[0] == 0xFF and data[1] >= 0xE0 else ""
