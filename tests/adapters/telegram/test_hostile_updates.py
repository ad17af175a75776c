"""Updates as no Telegram gives them: whatever comes, nothing stops, and the next person is answered."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from telegram import Bot, Update, User

from adapters import documents
from adapters.telegram.buttons import Buttons
from adapters.telegram.groups import Groups
from adapters.telegram.intake import Intake
from adapters.telegram.media import Files
from adapters.telegram.moves import Moves
from adapters.telegram.receiving import Receiver
from adapters.telegram.request import Asking
from core.messages import ChatKey
from core.reading import Readers
from tests.fakes import FakeAdapter, World
from tests.spoilt import ODD, places, spoil, spoilt

ANN = {"id": 42, "is_bot": False, "first_name": "Ann", "username": "ann", "language_code": "en"}
HOME = {"id": 42, "type": "private", "first_name": "Ann"}
CLUB = {"id": -1001, "type": "supergroup", "title": "Club", "is_forum": True}
DATE = 1_772_366_400
BOT = {"id": 7, "is_bot": True, "first_name": "Bot", "username": "a_bot"}


def _message(**more: Any) -> dict[str, Any]:
    return {"message_id": 5, "date": DATE, "chat": HOME, "from": ANN, **more}


FILE = {"file_id": "s", "file_unique_id": "t", "is_animated": False, "is_video": False}
SHOWN = _message(**{"from": BOT, "text": "Sure?", "chat": HOME})
UPDATES: list[dict[str, Any]] = [
    {"update_id": 1, "message": _message(text="hello")},
    {
        "update_id": 2,
        "message": _message(
            text="/memory@a_bot why age",
            chat=CLUB,
            message_thread_id=9,
            is_topic_message=True,
            entities=[{"type": "bot_command", "offset": 0, "length": 13}],
            reply_to_message=_message(text="earlier", chat=CLUB),
        ),
    },
    {
        "update_id": 3,
        "message": _message(
            caption="look",
            photo=[{"file_id": "f", "file_unique_id": "u", "width": 9, "height": 9, "file_size": 10}],
            media_group_id="g",
            forward_origin={"type": "user", "date": DATE, "sender_user": ANN},
            quote={"text": "words", "position": 0},
        ),
    },
    {
        "update_id": 4,
        "message": _message(
            document={"file_id": "d", "file_unique_id": "v", "file_name": "a.txt", "mime_type": "text/plain"},
            location={"latitude": 1.0, "longitude": 2.0},
            contact={"phone_number": "1", "first_name": "C"},
        ),
    },
    {"update_id": 5, "edited_message": _message(text="hello again", edit_date=DATE)},
    {"update_id": 6, "channel_post": _message(text="post", sender_chat=CLUB, chat=CLUB, author_signature="Sir")},
    {
        "update_id": 7,
        "callback_query": {"id": "1", "from": ANN, "chat_instance": "1", "data": "42 /memory", "message": SHOWN},
    },
    {"update_id": 8, "callback_query": {"id": "2", "from": ANN, "chat_instance": "1", "data": "#12", "message": SHOWN}},
    {
        "update_id": 9,
        "my_chat_member": {
            "chat": CLUB,
            "from": ANN,
            "date": DATE,
            "old_chat_member": {"status": "left", "user": BOT},
            "new_chat_member": {"status": "member", "user": BOT},
        },
    },
    {"update_id": 10, "message": _message(chat=CLUB, migrate_from_chat_id=-5)},
    {
        "update_id": 11,
        "message": _message(
            chat=CLUB,
            text="@a_bot so?",
            entities=[{"type": "mention", "offset": 0, "length": 6}],
            external_reply={"origin": {"type": "hidden_user", "date": DATE, "sender_user_name": "H"}, "chat": HOME},
            via_bot=BOT,
            sender_chat=CLUB,
        ),
    },
    {"update_id": 12, "message": _message(voice={"file_id": "o", "file_unique_id": "p", "duration": 3})},
    {"update_id": 13, "message": _message(sticker=FILE | {"width": 1, "height": 1, "type": "regular", "emoji": "x"})},
    {
        "update_id": 14,
        "message": _message(
            poll={
                "id": "1",
                "question": "?",
                "options": [{"text": "a", "voter_count": 0, "persistent_id": "1"}],
                "type": "quiz",
            },
            story={"chat": HOME, "id": 1},
        ),
    },
    {
        "update_id": 15,
        "message": _message(
            chat=CLUB,
            new_chat_members=[BOT, ANN],
            left_chat_member=BOT,
            pinned_message=SHOWN,
            forum_topic_created={"name": "T"},
        ),
    },
    {"update_id": 16, "edited_channel_post": _message(chat=CLUB, sender_chat=CLUB, text="a", edit_date=DATE)},
    {
        "update_id": 17,
        "message_reaction": {
            "chat": CLUB,
            "message_id": 5,
            "user": ANN,
            "date": DATE,
            "old_reaction": [],
            "new_reaction": [{"type": "emoji", "emoji": "👍"}],
        },
    },
    {"update_id": 18, "inline_query": {"id": "1", "from": ANN, "query": "q", "offset": ""}},
    {"update_id": 19, "poll_answer": {"poll_id": "1", "user": ANN, "option_ids": [0], "option_persistent_ids": ["1"]}},
    {"update_id": 20, "chat_join_request": {"chat": CLUB, "from": ANN, "user_chat_id": 42, "date": DATE}},
    {"update_id": 21, "business_message": _message(business_connection_id="b", text="hi")},
    {"update_id": 22, "of_later_days": {"id": 1}},
]


def _answer(request: httpx.Request) -> httpx.Response:
    if request.url.path.endswith("/getFile"):
        return httpx.Response(400, json={"ok": False, "error_code": 400, "description": "Bad Request: no such file"})
    return httpx.Response(200, json={"ok": True, "result": True})


class Line:
    """The way of updates from an answer of Telegram's to the engine."""

    def __init__(self) -> None:
        self.world = World(adapter=FakeAdapter("telegram"), allowed=("telegram:*",))
        self.bot = Bot("1:token", request=Asking({"transport": httpx.MockTransport(_answer)}))
        groups = Groups()
        moves, me = Moves(groups), User(7, "Bot", True, username="a_bot")
        moves.attach(self.world.engine, {})
        files = Files(self.bot, Readers(documents))
        self.receiver = Receiver(self.bot, me, self.world.engine, groups, files, moves, Buttons())
        self.intake = Intake(self.receiver.take)

    async def take(self, updates: Sequence[Any]) -> None:
        given = Asking.parse_json_payload(json.dumps({"ok": True, "result": updates}).encode("utf-8", "surrogatepass"))
        found = Update.de_list(given["result"], self.bot)
        await asyncio.gather(*(self.intake.put(update) for update in found))
        await self.world.engine.idle()
        await self.receiver.aclose()

    async def is_open(self) -> bool:
        """Tell whether somebody else is answered in private and in the group."""
        self.world.adapter.shown.clear()
        bob = ANN | {"id": 43, "first_name": "Bob"}
        asked = {"text": "@a_bot still there?", "entities": [{"type": "mention", "offset": 0, "length": 6}]}
        group = CLUB | {"is_forum": False}
        await self.take(
            [
                {"update_id": 98, "message": _message(message_id=98, text="still there?")},
                {"update_id": 99, "message": _message(message_id=99, chat=group, **asked) | {"from": bob}},
            ]
        )
        texts = self.world.adapter.texts
        there = texts(ChatKey("telegram", "-1001"))
        return "You said: still there?" in texts(ChatKey("telegram", "42")) and "still there?" in "".join(there)


@given(st.lists(spoilt(*UPDATES), min_size=1, max_size=4))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_after_spoilt_updates_the_next_is_answered(caplog: pytest.LogCaptureFixture, updates: list[Any]) -> None:
    asyncio.run(_hold(caplog, updates))


async def _hold(caplog: pytest.LogCaptureFixture, updates: list[Any]) -> None:
    line = Line()
    with caplog.at_level(logging.INFO):
        await line.take(updates)
        assert await line.is_open()


@pytest.mark.parametrize("odd", [7, 1.5, [7], {"7": 7}])
def test_what_should_be_words_and_is_not_costs_a_group_nothing(caplog: pytest.LogCaptureFixture, odd: object) -> None:
    said = _message(chat=CLUB | {"is_forum": False}, caption="@a_bot hi")
    said |= {"caption_entities": [{"type": "mention", "offset": 0, "length": 6}], "from": ANN | {"first_name": odd}}
    said["forward_origin"] = {"type": "hidden_user", "date": DATE, "sender_user_name": odd}
    said["document"] = FILE | {"file_name": odd, "mime_type": odd}
    press = {"id": "1", "from": ANN | {"language_code": odd}, "chat_instance": "1", "data": "#1", "message": SHOWN}
    asyncio.run(_hold(caplog, [{"update_id": 1, "message": said}, {"update_id": 2, "callback_query": press}]))
    assert "met a bug" not in caplog.text


@pytest.mark.soak
def test_each_value_of_an_update_may_be_anything(caplog: pytest.LogCaptureFixture) -> None:
    for update in UPDATES:
        for path in places(update):
            asyncio.run(_hold(caplog, [spoil(update, path, odd) for odd in ODD]))
