"""The small pieces of the adapter, each alone."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace

import pytest
from pydantic import SecretStr
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from adapters.inmemory import InMemoryStore
from adapters.telegram.adapter import Options, TelegramAdapter
from adapters.telegram.buttons import Buttons
from adapters.telegram.commands import Names, telegram_name
from adapters.telegram.delivery import place_of
from adapters.telegram.media import Files, wanted
from adapters.telegram.server import TelegramServer, User
from adapters.telegram.trouble import trouble
from bots.telegram import telegram
from config.settings import Settings, load_settings
from core import sentences
from core.adapter import Outgoing
from core.buttons import Press
from core.commands.person import PERSON_COMMANDS
from core.errors import Ambiguous, ConfigError, DeliveryError, Refused, RetryLater, Unreachable
from core.messages import ChatKey, Choice, Person
from core.reading import Readers, Unread
from tests.adapters.telegram.test_conversion import last

TOKEN = "123456789:AAtest-token-for-the-local-server-0"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (Forbidden("Forbidden: bot was blocked by the user"), Unreachable),
        (Forbidden("Forbidden: bot was kicked from the group chat"), Unreachable),
        (BadRequest("Chat not found"), Unreachable),
        (BadRequest("Message thread not found"), Unreachable),
        (BadRequest("TOPIC_CLOSED"), Unreachable),
        (BadRequest("Not enough rights to send text messages to the chat"), Unreachable),
        (BadRequest("Can't parse entities"), Refused),
        (BadRequest("Message to edit not found"), Refused),
        (InvalidToken("Not Found"), Refused),
        (ChatMigrated(-1001), Refused),
        (NetworkError("Request Entity Too Large"), Refused),
        (NetworkError("Bad Gateway"), Ambiguous),
        (TimedOut(), Ambiguous),
        (TelegramError("Invalid server response"), Ambiguous),
    ],
)
def test_each_trouble_has_its_end(error: TelegramError, kind: type[DeliveryError]) -> None:
    assert type(trouble(error)) is kind


def test_a_wait_is_as_long_as_telegram_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTB_TIMEDELTA", "true")
    found = trouble(RetryAfter(33))
    assert isinstance(found, RetryLater)
    assert found.seconds == 33


async def test_what_was_never_sent_is_sent_later() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    async with TelegramAdapter(TOKEN, Options(api_url=url, http={"verify": False})) as adapter:
        with pytest.raises(RetryLater):
            await adapter.send(Outgoing(ChatKey("telegram", "42"), "hi"))


def test_commands_have_names_that_telegram_takes() -> None:
    assert telegram_name("memory why") == "memory_why"
    assert telegram_name("Ünïcode-" + "x" * 40) == "_n_code_" + "x" * 24


@pytest.mark.parametrize(
    ("text", "private", "read"),
    [
        ("/memory_why age", False, "/memory why age"),
        ("/memory why age", False, "/memory why age"),
        ("/MEMORY_WHY@Keepmind_Bot  age", False, "/memory why age"),
        ("/memory_why@other_bot age", False, None),
        ("/unknown", False, None),
        ("/unknown@keepmind_bot", False, "/unknown"),
        ("/unknown words\nand lines", True, "/unknown words\nand lines"),
    ],
)
def test_commands_are_read_as_the_engine_writes_them(text: str, private: bool, read: str | None) -> None:
    assert Names(PERSON_COMMANDS, "keepmind_bot").read(text, private=private) == read


async def pressed(made: Buttons, out: Outgoing, by: int, shown_in: int = 42) -> list[Press | None]:
    markup = await made.keyboard(out, shown_in)
    assert markup
    return [await made.pressed(str(b.callback_data), by) for row in markup.inline_keyboard for b in row]


async def test_a_button_says_whose_it_is() -> None:
    made, chat, ann = Buttons(), ChatKey("telegram", "42"), Person("telegram", "42")
    out = Outgoing(
        chat, "Sure?", choices=(Choice("Yes", "/forget me yes"), Choice("Long", "/x " + "é" * 40)), asker=ann
    )
    assert await pressed(made, out, 42) == [Press("/forget me yes")]
    assert await pressed(made, out, 43) == [None]
    assert await made.pressed("anything", 42) is None
    assert await made.keyboard(replace(out, asker=None), 42) is None


async def test_a_button_that_says_much_or_elsewhere_is_kept() -> None:
    made, group, ann = Buttons(), ChatKey("telegram", "-100", "17"), Person("telegram", "42")
    made.keeper = InMemoryStore()
    long = "/forget " + "é" * 40
    here = Outgoing(ChatKey("telegram", "42"), "Sure?", choices=(Choice("Yes", long),), asker=ann)
    assert await pressed(made, here, 42) == [Press(long)]
    assert await pressed(made, here, 43) == [None]
    elsewhere = Outgoing(group, "Sure?", choices=(Choice("Yes", "/memory"),), asker=ann)
    assert await pressed(made, elsewhere, 42) == [Press("/memory", group)]
    assert [await made.pressed(data, 42) for data in ("#", "#0", "#x", "#99", "#" + "9" * 40)] == [None] * 5


async def test_short_buttons_stand_side_by_side() -> None:
    choices = tuple(Choice(label, "/x") for label in ("Back", "Next", "a rather long label", "Undo", "Pin"))
    out = Outgoing(ChatKey("telegram", "42"), "Card", choices=choices, asker=Person("telegram", "42"))
    markup = await Buttons().keyboard(out, 42)
    assert markup
    assert [[b.text for b in row] for row in markup.inline_keyboard] == [
        ["Back", "Next"],
        ["a rather long label", "Undo"],
        ["Pin"],
    ]


def test_places() -> None:
    place = place_of(ChatKey("telegram", "-1001502049385", "17"), "press 4")
    assert (place.chat, place.topic, place.reply_to, place.private) == (-1001502049385, 17, None, False)
    assert place_of(ChatKey("telegram", "5000000001"), "7").reply_to == 7


async def test_a_file_that_takes_too_long_is_given_up(server: TelegramServer, ann: User) -> None:
    async def transcribe(name: str, media_type: str, data: bytes) -> str:
        await asyncio.Event().wait()
        return ""

    server.voice(ann, ann, b"ogg")
    file = wanted(last(server))
    assert file
    async with TelegramAdapter(server.token, Options(api_url=server.url, http={"verify": False})) as adapter:
        with pytest.raises(Unread, match=sentences.UNFETCHED):
            await Files(adapter.bot, Readers(transcribe=transcribe, seconds=0.2)).read(file)


async def test_the_settings_make_the_adapter() -> None:
    settings = Settings.model_validate(
        {
            "telegram": {
                "token": SecretStr(TOKEN),
                "webhook_url": "https://bot.example.org/telegram",
                "webhook_secret": "s3cret",
                "group_modes": "-1001=open, -1001/17=off",
            },
            "access": {"admins": "telegram:42,discord:7"},
        }
    )
    adapter = telegram(settings)
    options = adapter._options
    assert options.webhook
    assert (options.webhook.path, options.webhook.port) == ("/telegram", 8080)
    assert options.groups.modes == {"-1001": "open", "-1001/17": "off"}
    assert options.admins == [42]
    assert not any(secret in repr(options) for secret in (TOKEN, "s3cret"))
    await adapter.aclose()


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"TELEGRAM_WEBHOOK_URL": "https://bot.example.org"}, "TELEGRAM_WEBHOOK_SECRET must be set with TELEGRAM_WEBH"),
        ({"TELEGRAM_WEBHOOK_SECRET": "no spaces please"}, "TELEGRAM_WEBHOOK_SECRET: it must be 1 to 256 letters"),
        ({"TELEGRAM_WEBHOOK_PORT": "70000"}, "TELEGRAM_WEBHOOK_PORT is '70000'; it must be a whole number from 1 to"),
        ({"KEEPMIND_TELEGRAM__GROUP_MODE": "loud"}, "it must be one of mention, listen, open, off"),
        ({"KEEPMIND_TELEGRAM__GROUP_MODES": "club=open"}, "'club=open' must be written CHAT=MODE"),
    ],
)
def test_a_bad_setting_is_named(environ: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(environ)
    assert said in str(caught.value)
