"""Recordings written down by a server (cases M06 and M07)."""

from __future__ import annotations

import asyncio
import re

import httpx2
import pytest

from adapters.openai.transcription import Transcriber, recording_name
from core.errors import KeepmindError, LLMError, LLMRejected, LLMUnavailable
from tests.adapters.openai.scripted import KEY, Scripted, refused

OGG = b"OggS rest"


def heard(text: object) -> httpx2.Response:
    return httpx2.Response(200, json={"text": text})


class Ears:
    """A transcriber whose server gives scripted answers in turn, the last for ever."""

    def __init__(self, *answers: Scripted, **settings: float) -> None:
        self.answers = list(answers)
        self.asked: list[bytes] = []
        self.naps: list[float] = []
        client = httpx2.AsyncClient(transport=httpx2.MockTransport(self._answer))
        self.transcriber = Transcriber(
            KEY,
            "http://model.test/v1",
            http_client=client,
            sleep=self._sleep,
            **settings,  # type: ignore[arg-type]
        )

    async def hear(self, name: str = "voice.ogg", data: bytes = OGG) -> str:
        return await self.transcriber(name, "audio/ogg", data)

    async def _sleep(self, seconds: float) -> None:
        self.naps.append(seconds)

    async def _answer(self, request: httpx2.Request) -> httpx2.Response:
        assert request.url.path == "/v1/audio/transcriptions"
        self.asked.append(await request.aread())
        await asyncio.sleep(0)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx2.Response(answer.status_code, headers=answer.headers, content=answer.content)


async def test_a_recording_is_sent_whole_and_its_words_come_back() -> None:
    ears = Ears(heard(" Hello there. "))
    assert await ears.hear() == "Hello there."
    [body] = ears.asked
    assert b'filename="voice.ogg"' in body
    assert OGG in body
    assert b"whisper-1" in body


@pytest.mark.parametrize(
    ("name", "data", "sent"),
    [
        ("song.mp3", b"\0\0\0\x20ftypM4A ", "song.m4a"),
        ("voice.oga", OGG, "voice.oga"),
        ("memo.m4a", b"ID3\x04", "memo.mp3"),
        ("memo.aac", b"\xff\xfb\x90", "memo.mp3"),
        ("a.b.ogg", b"RIFF\0\0\0\0WAVEfmt ", "a.b.wav"),
        ("", b"fLaC", "recording.flac"),
        ("nameless", OGG, "nameless.ogg"),
        ("odd.xyz", b"odd", "odd.xyz"),
        ("", b"odd", "recording"),
    ],
)
def test_m07_a_recording_with_a_wrong_name_gets_the_right_one(name: str, data: bytes, sent: str) -> None:
    assert recording_name(name, data) == sent


@pytest.mark.parametrize(
    "answer", [heard(""), heard("  \n"), refused(400, "Invalid file format."), refused(413, "big")]
)
async def test_m07_a_recording_of_which_nothing_can_be_made_is_one_sentence_and_asked_once(answer: Scripted) -> None:
    ears = Ears(answer)
    with pytest.raises(KeepmindError, match=r"^[A-Z].*\.$") as caught:
        await ears.hear()
    assert not isinstance(caught.value, LLMError)
    assert len(ears.asked) == 1


@pytest.mark.parametrize("data", [b"", OGG + b"x" * 2**20])
async def test_m06_a_recording_too_large_or_empty_is_not_sent(data: bytes) -> None:
    ears = Ears(heard("no"), most_bytes=2**20)
    with pytest.raises(KeepmindError, match=r"at most 1 MB|is empty"):
        await ears.hear(data=data)
    assert not ears.asked


@pytest.mark.parametrize(
    "answer",
    [refused(404, "Not Found"), refused(400, "invalid model: whisper-1"), heard(None), httpx2.Response(200, text="hi")],
)
async def test_a_server_without_ears_names_the_setting(answer: Scripted) -> None:
    with pytest.raises(LLMRejected, match="KEEPMIND_MODEL__TRANSCRIPTION"):
        await Ears(answer).hear()


async def test_a_refused_key_is_not_shown() -> None:
    with pytest.raises(LLMRejected, match="OPENAI_API_KEY") as caught:
        await Ears(refused(401, f"Incorrect API key provided: {KEY}")).hear()
    assert KEY not in str(caught.value)


async def test_a_failure_in_passing_is_tried_again_as_the_server_asks() -> None:
    ears = Ears(refused(429, "slow down", {"retry-after": "3"}), httpx2.ConnectError("no"), heard("Hello"))
    assert await ears.hear() == "Hello"
    assert len(ears.naps) == 2
    assert ears.naps[0] >= 3


async def test_a_failure_that_stays_may_work_later() -> None:
    ears = Ears(refused(503, "overloaded"))
    with pytest.raises(LLMUnavailable):
        await ears.hear()
    assert len(ears.asked) == 3


async def test_a_recording_takes_only_so_long() -> None:
    transcriber = Transcriber(KEY, "http://model.test/v1", seconds=0.05, http_client=_silent())
    with pytest.raises(LLMUnavailable, match=re.escape("http://model.test/v1 took too long")):
        await transcriber("voice.ogg", "audio/ogg", OGG)


def _silent() -> httpx2.AsyncClient:
    async def never(request: httpx2.Request) -> httpx2.Response:
        await asyncio.Event().wait()
        raise AssertionError

    return httpx2.AsyncClient(transport=httpx2.MockTransport(never))
