"""The console: what goes in as lines comes out as replies."""

from __future__ import annotations

import asyncio
import io
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.application.current import get_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from adapters.console import Command, ConsoleAdapter, Screen, place
from core.adapter import Outgoing
from core.errors import CommandError, KeepmindError, Refused, StoreError, Unreachable
from core.importing import read
from core.messages import Attachment, ChatKey, Choice, Message, Person, Reply

DEMO = ChatKey("console", "demo")


@dataclass
class Echo:
    """An engine that streams back what it hears, through the adapter, as the real one does."""

    adapter: ConsoleAdapter
    heard: list[Message] = field(default_factory=list)
    commands: Sequence[Command] = ()

    async def handle(self, message: Message) -> Reply | None:
        await asyncio.sleep(0)
        self.heard.append(message)
        text = f"You said: {message.text}"
        preview = await self.adapter.send(Outgoing(message.chat, text[:3], final=False))
        await self.adapter.edit(preview, Outgoing(message.chat, text[:9], final=False))
        await self.adapter.edit(preview, Outgoing(message.chat, text))
        return Reply(text)

    async def idle(self) -> None:
        await asyncio.sleep(0)


async def hold(data: bytes, chat: str = "demo", who: str = "", private: bool = True) -> tuple[str, list[Message]]:
    """Hold a whole conversation through pipes: what was printed, what was heard."""
    source, feed = os.pipe()
    out, sink = os.pipe()
    key, person = place(chat, who)
    with _reader(source) as reader, _writer(sink) as writer, _reader(out) as printed:
        adapter = ConsoleAdapter(key, person, private=private, source=reader, sink=writer)
        engine = Echo(adapter)
        said, *_ = await asyncio.gather(
            asyncio.to_thread(printed.read), _run(adapter, engine, writer), asyncio.to_thread(_feed, feed, data)
        )
    return said, engine.heard


async def _run(adapter: ConsoleAdapter, engine: Echo, writer: TextIO) -> None:
    try:
        await adapter.run(engine)
    finally:
        writer.close()


def _reader(descriptor: int) -> TextIO:
    return open(descriptor, encoding="utf-8", newline="")


def _writer(descriptor: int) -> TextIO:
    return open(descriptor, "w", encoding="utf-8", errors="replace")


def _feed(descriptor: int, data: bytes) -> None:
    with open(descriptor, "wb") as stream:
        stream.write(data)


async def test_a_line_is_a_message_and_each_reply_is_printed_whole() -> None:
    said, heard = await hold(b"My name is Anna\nWho am I?\n")
    assert said == "You said: My name is Anna\nYou said: Who am I?\n"
    assert [message.text for message in heard] == ["My name is Anna", "Who am I?"]


async def test_no_input_is_no_conversation() -> None:
    assert await hold(b"") == ("", [])


async def test_blank_lines_are_no_messages_and_the_last_line_needs_no_end() -> None:
    said, _ = await hold(b"\n  \r\nhello\r\n\nbye")
    assert said == "You said: hello\nYou said: bye\n"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("héllo 👩‍👩‍👧 你好".encode(), "héllo 👩‍👩‍👧 你好"),
        (b"a\0b", "a\0b"),
        (b"\xff\xfe broken", "\ufffd\ufffd broken"),
        (b"\xed\xa0\x80 surrogate", "\ufffd\ufffd\ufffd surrogate"),
        (b"<|endoftext|>", "<|endoftext|>"),
        (b"x" * 1_000_000, "x" * 1_000_000),
        ("é".encode() * 70_000, "é" * 70_000),
    ],
)
async def test_any_bytes_go_through(line: bytes, text: str) -> None:
    said, heard = await hold(line + b"\n")
    assert [message.text for message in heard] == [text]
    assert said == f"You said: {text}\n"


async def test_a_lone_surrogate_in_an_answer_is_printed_as_something() -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="replace")
    await ConsoleAdapter(DEMO, Person("console", "demo"), sink=out).send(Outgoing(DEMO, "a\ud800b"))
    assert out.buffer.getvalue() == b"a?b\n"


async def test_message_ids_are_never_the_same() -> None:
    _, heard = await hold(b"again\n" * 20)
    assert len({message.id for message in heard}) == 20


@pytest.mark.parametrize(
    ("chat", "who", "key", "person"),
    [
        ("", "", "console:default", "console:default"),
        ("demo", "", "console:demo", "console:demo"),
        ("console:demo", "", "console:demo", "console:demo"),
        ("", "anna", "console:anna", "console:anna"),
        ("demo", "anna", "console:demo", "console:anna"),
        ("forum/17", "anna", "console:forum/17", "console:anna"),
        ("Ünï", "", "console:%C3%9Cn%C3%AF", "console:%C3%9Cn%C3%AF"),
    ],
)
def test_who_talks_where(chat: str, who: str, key: str, person: str) -> None:
    assert tuple(map(str, place(chat, who))) == (key, person)


def test_a_chat_that_is_no_chat_is_refused() -> None:
    with pytest.raises(ValueError, match="is not a chat"):
        place("demo/")


async def test_a_group_is_not_private_and_names_its_speaker() -> None:
    _, [message] = await hold(b"hi\n", "club", "anna", private=False)
    assert (message.private, message.name, message.addressed) == (False, "anna", True)


async def test_alone_in_a_chat_nobody_is_named() -> None:
    _, [message] = await hold(b"hi\n")
    assert (message.private, message.name, message.sender) == (True, "", Person("console", "demo"))


async def test_nothing_of_another_chat_is_printed() -> None:
    out = io.StringIO()
    adapter = ConsoleAdapter(DEMO, Person("console", "demo"), sink=out)
    with pytest.raises(Unreachable):
        await adapter.send(Outgoing(ChatKey("console", "other"), "for somebody else"))
    assert out.getvalue() == ""


class Terminal(io.StringIO):
    """A sink a person watches."""

    def isatty(self) -> bool:
        return True


def show(*steps: tuple[str, str, bool]) -> str:
    out = Terminal()
    screen = Screen(out)
    for message, text, final in steps:
        screen.show(message, text, final=final)
    return out.getvalue()


def test_a_growing_preview_is_printed_once() -> None:
    assert show(("1", "Hel", False), ("1", "Hello", False), ("1", "Hello!", True)) == "Hello!\n"


def test_an_answer_that_begins_otherwise_is_printed_anew() -> None:
    assert show(("1", "Let me se", False), ("1", "You are Anna.", True)) == "Let me se\nYou are Anna.\n"


def test_space_at_the_end_of_a_preview_may_go() -> None:
    assert show(("1", "Hello \n", False), ("1", "Hello", True)) == "Hello \n\n"


def test_a_message_between_a_preview_and_its_end_stands_on_its_own_line() -> None:
    assert show(("1", "Hel", False), ("2", "Reminder", True), ("1", "Hello", True)) == "Hel\nReminder\nHello\n"


def test_an_answer_can_not_steer_the_terminal() -> None:
    assert show(("1", "a\x1b[2Jb\x07\r\tc\n", True)) == "a[2Jb\tc\n\n"


async def test_choices_are_told_as_the_commands_to_type() -> None:
    out = io.StringIO()
    adapter = ConsoleAdapter(DEMO, Person("console", "demo"), sink=out)
    await adapter.send(
        Outgoing(
            DEMO,
            "Erase all?",
            choices=(Choice("Yes", "/forget me yes"), Choice("No", "/help"), Choice("x", "/x", minor=True)),
        )
    )
    assert out.getvalue() == "Erase all?\nYes: /forget me yes\nNo: /help\n"


async def test_a_file_is_saved_beside_and_never_over_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    out = io.StringIO()
    adapter = ConsoleAdapter(DEMO, Person("console", "demo"), sink=out)
    for data in (b"one", b"two"):
        await adapter.send(Outgoing(DEMO, "Here.", file=Attachment("file", "../a/export.json", data=data)))
    assert out.getvalue() == "Here.\nSaved as export.json\nHere.\nSaved as export-2.json\n"
    assert [(tmp_path / name).read_bytes() for name in ("export.json", "export-2.json")] == [b"one", b"two"]
    assert stat.S_IMODE((tmp_path / "export.json").stat().st_mode) == 0o600


async def test_a_file_that_can_not_be_saved_is_refused() -> None:
    adapter = ConsoleAdapter(DEMO, Person("console", "demo"), sink=io.StringIO())
    with pytest.raises(Refused, match="can't be written"):
        await adapter.send(Outgoing(DEMO, "Here.", file=Attachment("file", "a\0b", data=b"x")))


async def test_the_conversation_ends_when_nobody_reads() -> None:
    out, sink = os.pipe()
    os.close(out)
    source, feed = os.pipe()
    os.write(feed, b"one\ntwo\n")
    with _reader(source) as reader, _writer(sink) as writer:
        adapter = ConsoleAdapter(DEMO, Person("console", "demo"), source=reader, sink=writer)
        engine = Tolerant(adapter)
        await asyncio.wait_for(adapter.run(engine), 5)
        assert [message.text for message in engine.heard] == ["one"]
        os.close(feed)
        with pytest.raises(BrokenPipeError):
            writer.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), sink)


class Tolerant(Echo):
    """An engine that takes a lost reader as the real one does: the answer stays stored."""

    async def handle(self, message: Message) -> Reply | None:
        try:
            return await super().handle(message)
        except Unreachable:
            return Reply("stored")


class Failing(Echo):
    """An engine whose database is full."""

    async def handle(self, message: Message) -> Reply | None:
        await asyncio.sleep(0)
        raise StoreError("the disk is full")


class Retrying(Echo):
    """An engine whose command is done before the answer that it led to."""

    later: asyncio.Task[Reply | None] | None = None

    async def handle(self, message: Message) -> Reply | None:
        self.later = asyncio.create_task(super().handle(message))
        return Reply("I answer that anew.")

    async def idle(self) -> None:
        assert self.later is not None
        await self.later


async def test_at_a_terminal_the_answer_that_a_command_led_to_comes_before_the_next_prompt() -> None:
    with terminal() as (echo, out, type_in):
        engine = Retrying(echo.adapter)
        type_in("/retry\r\x04")
        await asyncio.wait_for(engine.adapter.run(engine), 10)
    assert out.getvalue() == "You said: /retry\n"


async def test_a_failure_ends_a_script() -> None:
    source, feed = os.pipe()
    _feed(feed, b"hello\n")
    with _reader(source) as reader:
        adapter = ConsoleAdapter(DEMO, Person("console", "demo"), source=reader, sink=io.StringIO())
        with pytest.raises(KeepmindError, match="the disk is full"):
            await adapter.run(Failing(adapter))


async def test_forgetting_erases_the_lines_typed_before(tmp_path: Path) -> None:
    history = tmp_path / "console_history"
    history.write_text("+My name is Anna\n")
    source, feed = os.pipe()
    _feed(feed, b"/forget me\n")
    with _reader(source) as reader:
        adapter = ConsoleAdapter(DEMO, Person("console", "demo"), source=reader, sink=io.StringIO(), history=history)
        await adapter.run(Echo(adapter))
    assert not history.exists()


async def test_the_console_is_an_adapter() -> None:
    adapter = ConsoleAdapter(DEMO, Person("console", "demo"), sink=io.StringIO())
    await adapter.typing(DEMO)
    assert (adapter.platform, adapter.quiet, adapter.pace) == ("console", 0, None), "a pipe is not streamed to"
    assert list(adapter.split("any\ntext" * 10_000)) == ["any\ntext" * 10_000]


@contextmanager
def terminal(history: Path | None = None) -> Iterator[tuple[Echo, Terminal, Callable[[str], None]]]:
    """A conversation at a terminal, typed through the input that prompt_toolkit gives for tests."""
    out = Terminal()
    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
        adapter = ConsoleAdapter(DEMO, Person("console", "demo"), source=Terminal(), sink=out, history=history)
        yield Echo(adapter, commands=[Named("memory why", "Say where a fact is from")]), out, keyboard.send_text


@dataclass(frozen=True)
class Named:
    name: str
    summary: str


@pytest.mark.parametrize("end", ["\x04", "\x03"])
async def test_at_a_terminal_a_line_is_a_message_until_control_d_or_c(end: str) -> None:
    with terminal() as (engine, out, type_in):
        type_in(f"hello\r\r{end}")
        await asyncio.wait_for(engine.adapter.run(engine), 10)
    assert [message.text for message in engine.heard] == ["hello"]
    assert out.getvalue() == "You said: hello\n"


async def _typed(text: str) -> None:
    """Wait until a line stands at the prompt: completing runs beside the typing."""
    async with asyncio.timeout(10):
        while (app := get_app_session().app) is None or app.current_buffer.text != text:  # noqa: ASYNC110 -- no bell
            await asyncio.sleep(0.01)


async def test_the_terminal_completes_commands() -> None:
    with terminal() as (engine, _, type_in):
        talk = asyncio.create_task(engine.adapter.run(engine))
        type_in("/mem\t")
        await _typed("/memory why")
        type_in(" age\r\x04")
        await asyncio.wait_for(talk, 10)
    assert [message.text for message in engine.heard] == ["/memory why age"]


async def test_the_terminal_remembers_its_lines_until_one_forgets(tmp_path: Path) -> None:
    history = tmp_path / "new" / "console_history"
    with terminal(history) as (engine, _, type_in):
        type_in("hello\r\x04")
        await asyncio.wait_for(engine.adapter.run(engine), 10)
    assert "+hello" in history.read_text()
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    with terminal(history) as (engine, _, type_in):
        type_in("\x1b[A\r/forget me\r\x1b[A\x1b[A\r\x04")
        await asyncio.wait_for(engine.adapter.run(engine), 10)
    assert [message.text for message in engine.heard] == ["hello", "/forget me"]
    assert "hello" not in history.read_text()


async def test_a_failure_at_a_terminal_is_said_and_the_talk_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    with terminal() as (echo, _, type_in):
        type_in("hello\r\x04")
        await asyncio.wait_for(echo.adapter.run(Failing(echo.adapter)), 10)
    assert "the disk is full" in capsys.readouterr().err


async def test_a_file_that_a_command_names_is_sent_with_it(tmp_path: Path) -> None:
    (tmp_path / "an export.json").write_text('{"a": 1}')
    _, heard = await hold(
        f"/import {tmp_path}/an export.json\n/import {tmp_path}/none\nsay {tmp_path}\n/import\n".encode()
    )
    (file,) = heard[0].attachments
    assert (file.name, file.data, file.text) == ("an export.json", b'{"a": 1}', '{"a": 1}')
    assert [message.attachments for message in heard[1:]] == [(), (), ()]


async def test_a_file_too_large_is_sent_as_one_so_that_it_is_said(tmp_path: Path) -> None:
    with (tmp_path / "big.json").open("wb") as file:
        file.truncate(200 * 2**20)
    _, heard = await hold(f"/import {tmp_path}/big.json\n".encode())
    with pytest.raises(CommandError, match="too large to import: I take up to 20 MB"):
        read(heard[0].attachments[0].data)
