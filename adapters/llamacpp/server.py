"""Serves the small model over the protocol of OpenAI's chat completions, in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path
from types import TracebackType
from typing import Self

from core.errors import ConfigError

ANSWER_EXTRA = {"repeat_penalty": 1.1, "dry_multiplier": 0.8, "dry_allowed_length": 8}
"""What to send with requests for answers to people, against loops and answers that copy the one before.

Not for extraction: it bends repeated facts.
"""

_CHILD = Path(__file__).with_name("child.py")
_LOADING = 60.0
_ENDING = 2.0


def _half_the_cores() -> int:
    """Return as many threads as there are real cores: more of them wait for one another on a busy machine."""
    return max(1, min(8, (os.cpu_count() or 2) // 2))


class EmbeddedServer:
    """Serves a GGUF file on a free port of this machine while it is entered; `base_url` is its address.

    It runs in a process of its own: llama.cpp holds Python's lock while it loads, and never ends when it is
    stopped within an answer. That process ends when this one does, however it ends; a Ctrl-C is not for it.
    `context` is in tokens. Raises ConfigError when the package or the file is missing or can't be used.
    """

    def __init__(self, model: Path, *, context: int = 4096, threads: int | None = None) -> None:
        self._model, self.context = model, context
        self._threads = threads or _half_the_cores()
        self._process: Process | None = None
        self.base_url = ""

    async def __aenter__(self) -> Self:
        self._check()
        arguments = (str(self._model), str(self.context), str(self._threads))
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            str(_CHILD),
            *arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            start_new_session=True,
        )
        try:
            self.base_url = f"{await self._address(self._process)}/v1"
        except BaseException:  # cancelled or refused: no process stays
            await self._end()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()

    def _check(self) -> None:
        if importlib.util.find_spec("xllamacpp") is None:
            raise ConfigError(
                'The small model needs the package xllamacpp; install it with: pip install "keepmind[local]"'
            )
        if not self._model.is_file():
            raise ConfigError(f"There is no model at {self._model}; fetch it first.")

    async def _address(self, process: Process) -> str:
        """Return what the process prints once it serves."""
        assert process.stdout is not None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LOADING):
                line = (await process.stdout.readline()).decode().strip()
            if line.startswith("http"):
                return line
        raise ConfigError(f"The model at {self._model} can't be loaded; it may be damaged.")

    async def _end(self) -> None:
        process, self._process, self.base_url = self._process, None, ""
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), _ENDING)
        except TimeoutError:
            process.kill()
            await process.wait()
