"""The console: a chat in the terminal, or line by line through a pipe."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import threading
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TextIO
from uuid import uuid4

from core.adapter import Outgoing
from core.errors import KeepmindError, Refused, Unreachable
from core.messages import Attachment, ChatKey, Message, Person, Reply
from core.reading import MOST_FILE

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

PLATFORM = "console"
HISTORY = "console_history"
_CHUNK = 1 << 16
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Command(Protocol):
    """What the terminal completes: a name such as `memory why`, and what it does."""

    @property
    def name(self) -> str:
        """The command without its slash."""
        ...

    @property
    def summary(self) -> str:
        """What it does, in a few words."""
        ...


class Engine(Protocol):
    """What the console talks to."""

    @property
    def commands(self) -> Iterable[Command]:
        """The commands a person may type."""
        ...

    def handle(self, message: Message) -> Coroutine[None, None, Reply | None]:
        """Answer a message; done once the answer was delivered. None for a message seen before."""
        ...

    async def idle(self) -> None:
        """Wait until nothing is in progress."""
        ...


def place(chat: str = "", who: str = "") -> tuple[ChatKey, Person]:
    """Name the chat and the person of `--chat` and `--as`; alone in a chat, the person is the chat itself.

    Raises ValueError when the chat is not `KEY` or `KEY/TOPIC`.
    """
    key = ChatKey.parse(f"{PLATFORM}:{(chat or who or 'default').removeprefix(PLATFORM + ':')}")
    return key, Person(PLATFORM, who or key.chat)


class ConsoleAdapter:
    """One chat of one person at this terminal.

    With a terminal on both sides it prompts and streams; otherwise it reads a line a message and prints each reply
    whole, and nothing else. `history` is the file that the terminal's lines are kept in.
    """

    platform = PLATFORM

    def __init__(
        self,
        chat: ChatKey,
        person: Person,
        *,
        private: bool = True,
        source: TextIO | None = None,
        sink: TextIO | None = None,
        history: Path | None = None,
    ) -> None:
        self.chat, self.person, self.private = chat, person, private
        self._source = source or sys.stdin
        self._screen = Screen(sink)
        self._history = history
        self._lines: AsyncIterator[str] | None = None
        self._first = ""
        self.failed = False
        self.interactive = self._source.isatty() and self._screen.live
        self.quiet = 0.05 if self.interactive else 0.0
        self.pace: float | None = 0.0 if self.interactive else None

    async def run(self, engine: Engine) -> int:
        """Hold the conversation until the input ends, or its reader is gone; how many lines were said."""
        said = 0
        async for line in self._terminal(engine) if self.interactive else self._piped():
            if line.strip():
                await self._say(engine, line)
                said += 1
            if self._screen.gone:
                break
        return said

    async def has_words(self) -> bool:
        """Say whether a pipe brings any words at all; a terminal may always."""
        if self.interactive:
            return True
        self._lines = lines(self._source.fileno())
        self._first = await anext((line async for line in self._lines if line.strip()), "")
        return bool(self._first)

    async def _piped(self) -> AsyncIterator[str]:
        if self._first:
            yield self._first
        async for line in self._lines or lines(self._source.fileno()):
            yield line

    async def _say(self, engine: Engine, text: str) -> None:
        try:
            with self._stopping(engine):
                reply = await engine.handle(self.to_message(text))
                if self.interactive:  # a command may have led to an answer, of which the prompt would wipe parts
                    await engine.idle()
            self.failed |= reply is not None and reply.failed
        except KeepmindError as error:
            if not self.interactive:
                raise
            print(error, file=sys.stderr)
        if text.lstrip().startswith("/forget"):
            forget_lines(self._history)

    @contextmanager
    def _stopping(self, engine: Engine) -> Iterator[None]:
        """Let Ctrl-C at a terminal stop the answer in progress, as `/stop` does."""
        loop = asyncio.get_running_loop()
        stops: set[asyncio.Task[Reply | None]] = set()
        if self.interactive:
            loop.add_signal_handler(
                signal.SIGINT, lambda: stops.add(loop.create_task(engine.handle(self.to_message("/stop"))))
            )
        try:
            yield
        finally:
            if self.interactive:
                loop.remove_signal_handler(signal.SIGINT)

    def to_message(self, text: str) -> Message:
        """Make a message of a line; its id is unique for ever. A file that a command names is sent with it."""
        return Message(
            id=uuid4().hex,
            chat=self.chat,
            sender=self.person,
            text=text,
            sent_at=datetime.now(UTC),
            name="" if self.private and self.person.user == self.chat.chat else self.person.user,
            private=self.private,
            attachments=_named_in(text),
        )

    def serves(self, chat: ChatKey) -> bool:
        """Say whether a chat is the one at this terminal."""
        return chat == self.chat

    def split(self, text: str) -> Sequence[str]:
        """Leave the answer whole: a terminal takes any length."""
        return [text]

    async def typing(self, chat: ChatKey) -> None:
        """Do nothing: the cursor waits where the answer will be."""

    async def send(self, out: Outgoing) -> str:
        """Print a message. Raises Unreachable for a chat that is not at this terminal, or with its reader gone."""
        message_id = uuid4().hex
        await self.edit(message_id, out)
        return message_id

    async def edit(self, message_id: str, out: Outgoing) -> None:
        """Print what is new of a message; raises as `send` does."""
        if not self.serves(out.chat):
            raise Unreachable(f"{out.chat} is not the chat of this terminal")
        saved = _save(out.file) if out.file else None
        try:
            self._screen.show(message_id, _with_extras(out, saved), final=out.final)
        except (OSError, ValueError):
            raise Unreachable("nobody reads what the console prints") from None

    async def _terminal(self, engine: Engine) -> AsyncIterator[str]:
        from prompt_toolkit.patch_stdout import patch_stdout

        print("Ctrl-D quits, /help lists the commands.", file=sys.stderr)
        session = _session(engine.commands, self._history)
        while True:
            try:
                with patch_stdout():
                    line = await session.prompt_async("> ")
            except (EOFError, KeyboardInterrupt):
                return
            yield line
            if self._history and not self._history.exists():
                session = _session(engine.commands, self._history)


class Screen:
    """Prints messages as they grow, one after the other; a message whose beginning changed is printed anew."""

    def __init__(self, sink: TextIO | None = None) -> None:
        self._sink = sink
        self._message = ""
        self._shown = ""
        self.gone = False

    @property
    def live(self) -> bool:
        """Whether a person watches, so that previews are worth printing."""
        return self._out.isatty()

    @property
    def _out(self) -> TextIO:
        return self._sink or sys.stdout

    def show(self, message_id: str, text: str, *, final: bool) -> None:
        """Print what is new of a message. Raises OSError or ValueError when it can't be printed."""
        if not (final or self.live):
            return
        self._write(self._news(message_id, _CONTROLS.sub("", text) if self.live else text))
        if final:
            self._write("\n")
            self._message = self._shown = ""

    def _news(self, message_id: str, text: str) -> str:
        shown, self._shown = self._shown, text
        same, self._message = self._message == message_id, message_id
        if same and text.startswith(shown):
            return text[len(shown) :]
        if same and text == shown.rstrip():
            return ""
        return f"\n{text}" if shown else text

    def _write(self, text: str) -> None:
        try:
            self._out.write(text)
            self._out.flush()
        except (OSError, ValueError):
            self.gone = True
            raise


async def lines(descriptor: int) -> AsyncIterator[str]:
    """Read lines of any length and any bytes; what is not UTF-8 becomes U+FFFD."""
    rest: list[bytes] = []
    while chunk := await _read(descriptor):
        *ended, last = chunk.split(b"\n")
        for part in ended:
            yield _text(b"".join([*rest, part]))
            rest = []
        rest.append(last)
    yield _text(b"".join(rest))


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode(errors="replace")


async def _read(descriptor: int) -> bytes:
    """Read in a thread that does not keep the process alive, as one of an executor would."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[bytes] = loop.create_future()
    threading.Thread(target=_read_into, args=(descriptor, loop, done), daemon=True).start()
    return await done


def _read_into(descriptor: int, loop: asyncio.AbstractEventLoop, done: asyncio.Future[bytes]) -> None:
    try:
        chunk = os.read(descriptor, _CHUNK)
    except OSError:
        chunk = b""
    if not loop.is_closed():
        loop.call_soon_threadsafe(_settle, done, chunk)


def _settle(done: asyncio.Future[bytes], chunk: bytes) -> None:
    if not done.done():
        done.set_result(chunk)


def _with_extras(out: Outgoing, saved: Path | None) -> str:
    choices = [f"{choice.label}: {choice.command}" for choice in out.choices if not choice.minor]
    return "\n".join([*([out.text] if out.text else []), *choices, *([f"Saved as {saved}"] if saved else [])])


def _named_in(text: str) -> tuple[Attachment, ...]:
    """Give the file whose path stands behind a command, as `/import export.json`."""
    command, _, words = text.partition(" ")
    if not (command.startswith("/") and words.strip()):
        return ()
    try:
        path = Path(words.strip()).expanduser()
        if not path.is_file():
            return ()
        with path.open("rb") as file:
            data = file.read(MOST_FILE + 1)  # one byte too many shows that it is too large
    except (OSError, ValueError, RuntimeError):
        return ()
    return (Attachment("file", path.name, text=data.decode("utf-8", "replace"), data=data),)


def _save(file: Attachment) -> Path:
    """Write a file that only its owner can read into the working directory, under a name not taken yet."""
    wanted = Path(Path(file.name.replace("\\", "/")).name or "file")
    try:
        return _write_new(wanted, file.data or file.text.encode(errors="replace"))
    except (OSError, ValueError) as error:
        raise Refused(f"the file can't be written: {error}") from None


def _write_new(wanted: Path, data: bytes) -> Path:
    for number in range(1, 10_000):
        path = wanted if number == 1 else wanted.with_stem(f"{wanted.stem}-{number}")
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        with open(descriptor, "wb") as stream:
            stream.write(data)
        return path
    raise ValueError(f"{wanted} is taken")


def forget_lines(history: Path | None) -> None:
    """Erase the lines typed so far, since they hold what a person said."""
    if history:
        history.unlink(missing_ok=True)


def _session(commands: Iterable[Command], history: Path | None) -> PromptSession[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    summaries = {f"/{command.name}": command.summary for command in commands}
    if history:
        history.parent.mkdir(parents=True, exist_ok=True)
        history.touch(mode=0o600)
    return PromptSession(
        completer=WordCompleter(list(summaries), meta_dict=summaries, sentence=True),
        complete_while_typing=False,
        history=FileHistory(history) if history else InMemoryHistory(),
    )
