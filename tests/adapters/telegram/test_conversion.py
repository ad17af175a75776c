"""What a Telegram message is to us."""

from datetime import UTC, datetime
from typing import Any

import pytest
from telegram import Message, Update, User

from adapters.telegram import server as world
from adapters.telegram.conversion import to_message, to_press, words
from adapters.telegram.groups import Groups, calls
from adapters.telegram.media import is_unreadable, wanted
from adapters.telegram.server import TelegramServer
from core import messages
from core.messages import ChatKey, Person, Quote
from core.modes import Hearing

AT = datetime(2026, 3, 1, tzinfo=UTC)
ME = User(123456789, "Keepmind", is_bot=True, username="keepmind_bot")


@pytest.fixture
def bob(server: TelegramServer) -> world.User:
    return server.person("Bob")


def last(server: TelegramServer) -> Message:
    message = Update.de_json(server.api.updates.log[-1]).effective_message
    assert message
    return message


def converted(server: TelegramServer) -> messages.Message:
    return to_message(last(server), ME)


def test_a_private_message(server: TelegramServer, ann: world.User) -> None:
    said = server.say(ann, ann, "hi 😀")
    ours = converted(server)
    assert ours.id == str(said.id)
    assert ours.chat == ChatKey("telegram", str(ann.id))
    assert ours.sender == Person("telegram", str(ann.id))
    assert (ours.text, ours.name, ours.language, ours.private) == ("hi 😀", "Ann", "en", True)
    assert not ours.anonymous
    assert ours.sent_at.utcoffset() is not None
    assert ann.id > 2**32, "ids are whole"


def test_a_reply_carries_what_it_answers(server: TelegramServer, ann: world.User, bob: world.User) -> None:
    group = server.supergroup("Club", [ann, bob])
    said = server.say(bob, group, "one two three")
    server.say(ann, group, "why?", reply_to=said)
    assert converted(server).quote == Quote("Bob", "one two three")
    server.say(ann, group, "why?", reply_to=said, quote="two")
    assert converted(server).quote == Quote("Bob", "two")
    own = server.api.world.write(group, server.bot, {"text": "mine"})
    server.say(ann, group, "expand", reply_to=own)
    assert converted(server).quote == Quote("Keepmind", "mine", own=True)
    server.say(ann, group, "who is it?", reply_to=server.photo(bob, group))
    assert converted(server).quote == Quote("Bob", "(a photo)")


def test_forwards_name_their_origin(server: TelegramServer, ann: world.User, bob: world.User) -> None:
    group, channel = server.supergroup("Club", [ann]), server.channel("News")
    for origin, name in ((bob, "Bob"), ("Somebody hidden", "Somebody hidden"), (channel, "News"), (group, "Club")):
        server.say(ann, ann, "look", forward_from=origin)
        ours = converted(server)
        assert (ours.forwarded, ours.own_words) == (name, "")


def test_a_topic_is_its_own_chat_and_general_is_none(server: TelegramServer, ann: world.User) -> None:
    forum = server.supergroup("Club", [ann], forum=True)
    topic = server.topic(forum, "Books", ann)
    server.say(ann, forum, "in it", topic=topic)
    ours = converted(server)
    assert ours.chat == ChatKey("telegram", str(forum.id), str(topic))
    assert ours.quote is None, "what opens a topic is no quote"
    server.say(ann, forum, "reply in general", reply_to=server.say(ann, forum, "in general"))
    assert last(server).message_thread_id
    assert converted(server).chat == ChatKey("telegram", str(forum.id))


def test_who_stands_for_nobody(server: TelegramServer, ann: world.User) -> None:
    group = server.supergroup("Club", [ann])
    channel = server.channel("News", discussion=group)
    server.say(group, group, "the admin")
    assert (converted(server).anonymous, converted(server).name) == (True, "Club")
    assert converted(server).sender == Person("telegram", str(group.id))
    server.say(channel, group, "as the channel")
    assert (converted(server).anonymous, converted(server).name) == (True, "News")
    server.say(ann, group, "myself")
    assert not converted(server).anonymous


def test_the_copy_of_a_post_in_its_discussion_is_no_talk(server: TelegramServer, ann: world.User) -> None:
    group = server.supergroup("Club", [ann])
    server.post(server.channel("News", discussion=group), "news!")
    assert last(server).is_automatic_forward
    assert Groups("open").hearing(last(server), ME) is Hearing.NOTHING


def test_what_another_bot_says_is_not_heard(server: TelegramServer, ann: world.User) -> None:
    group = server.supergroup("Club", [ann])
    other = world.User(6_000_000_001, "Other", username="other_bot", is_bot=True)
    server.say(other, group, "@keepmind_bot hi")
    assert Groups("open").hearing(last(server), ME) is Hearing.NOTHING


def test_a_post_of_a_channel_is_anonymous(server: TelegramServer) -> None:
    channel = server.channel("News", bot=True)
    server.post(channel, "news!")
    ours = converted(server)
    assert (ours.anonymous, ours.private, ours.name) == (True, False, "News")


def test_places_and_contacts_are_words(server: TelegramServer, ann: world.User) -> None:
    server.location(ann, ann, 50.45, 30.52)
    assert converted(server).text == "(a location: 50.450000, 30.520000)"
    server.contact(ann, ann, "+380441234567", "Bob")
    assert converted(server).text == "(a contact: Bob, +380441234567)"
    venue = {"location": {"latitude": 1, "longitude": 2}, "title": "Café", "address": "Street 1"}
    server.send(ann, ann, {"venue": venue, "location": venue["location"]})
    assert converted(server).text == "(a place: Café, Street 1, at 1.000000, 2.000000)"


def test_which_files_are_wanted(server: TelegramServer, ann: world.User) -> None:
    server.photo(ann, ann, b"12345", caption="me")
    photo = wanted(last(server))
    assert photo
    assert (photo.kind, photo.size, words(last(server))) == ("image", 5, "me")
    server.document(ann, ann, "a.png", b"png", "image/png")
    assert (found := wanted(last(server)))
    assert found.kind == "image"
    server.document(ann, ann, "a.csv", b"1,2", "text/csv")
    assert (found := wanted(last(server)))
    assert (found.kind, found.name) == ("file", "a.csv")
    server.voice(ann, ann, b"ogg")
    assert (found := wanted(last(server)))
    assert found.kind == "audio"
    server.sticker(ann, ann)
    assert wanted(last(server)) is None
    assert is_unreadable(last(server))
    server.say(ann, ann, "text")
    assert not is_unreadable(last(server))


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("just talk", False),
        ("@keepmind_bot hi", True),
        ("😀😀 hello @KeepMind_Bot, are you there?", True),
        ("@keepmind_bot_two hi", False),
        ("@other_bot hi", False),
        ("mail me at x@keepmind_bot.example", False),
        ("/help", True),
        ("not /help", False),
    ],
)
def test_what_calls_the_bot(server: TelegramServer, ann: world.User, text: str, called: bool) -> None:
    server.say(ann, server.supergroup("Club", [ann]), text)
    assert calls(last(server), ME) is called


def test_a_mention_without_a_username_and_a_reply_call_it_too(server: TelegramServer, ann: world.User) -> None:
    group = server.supergroup("Club", [ann], forum=True)
    entity: dict[str, Any] = {"type": "text_mention", "offset": 3, "length": 4, "user": server.bot.shape()}
    server.say(ann, group, "😀 Keep!", entities=[entity])
    assert calls(last(server), ME)
    server.say(ann, group, "why?", reply_to=server.api.world.write(group, server.bot, {"text": "mine"}))
    assert calls(last(server), ME)
    topic = server.topic(group, "By the bot", server.bot)
    server.say(ann, group, "talk", topic=topic)
    assert not calls(last(server), ME), "being in a topic the bot opened is no reply to it"
    server.photo(ann, group, caption="@keepmind_bot who is it?")
    assert calls(last(server), ME)


@pytest.mark.parametrize(
    ("mode", "talk", "called"),
    [
        ("mention", Hearing.NOTHING, Hearing.ADDRESSED),
        ("listen", Hearing.TALK, Hearing.ADDRESSED),
        ("open", Hearing.ADDRESSED, Hearing.ADDRESSED),
        ("off", Hearing.NOTHING, Hearing.NOTHING),
    ],
)
def test_the_modes_of_a_group(
    server: TelegramServer, ann: world.User, mode: str, talk: Hearing, called: Hearing
) -> None:
    group = server.supergroup("Club", [ann])
    server.say(ann, group, "just talk")
    assert Groups(mode).hearing(last(server), ME) is talk
    assert Groups("open" if mode == "off" else "off", {str(group.id): mode}).hearing(last(server), ME) is talk
    server.say(ann, group, "@keepmind_bot hi")
    assert Groups(mode).hearing(last(server), ME) is called
    server.say(ann, ann, "in private")
    assert Groups(mode).hearing(last(server), ME) is Hearing.ADDRESSED


def test_a_topic_may_have_a_mode_of_its_own(server: TelegramServer, ann: world.User) -> None:
    forum = server.supergroup("Club", [ann], forum=True)
    topic = server.topic(forum, "Books", ann)
    groups = Groups("mention", {f"{forum.id}/{topic}": "open"})
    server.say(ann, forum, "talk", topic=topic)
    assert groups.hearing(last(server), ME) is Hearing.ADDRESSED
    server.say(ann, forum, "talk")
    assert groups.hearing(last(server), ME) is Hearing.NOTHING


def test_the_parts_of_an_album_go_with_the_one_that_calls(server: TelegramServer, ann: world.User) -> None:
    group, groups = server.supergroup("Club", [ann]), Groups()
    server.album(ann, group, [b"1", b"2", b"3"], caption="@keepmind_bot look")
    updates = [Update.de_json(update).effective_message for update in server.api.updates.log]
    assert [groups.hearing(message, ME) for message in updates if message] == [Hearing.ADDRESSED] * 3


async def test_a_press_is_the_command_of_the_one_who_pressed(server: TelegramServer, ann: world.User) -> None:
    message = server.api.world.write(server.chat(ann), server.bot, {"text": "sure?"})
    query = server.press_data(ann, message, f"{ann.id} /forget me yes")
    update = Update.de_json(server.api.updates.log[-1])
    assert update.callback_query
    ours = to_press(update.callback_query, "/forget me yes", AT)
    assert ours
    assert (ours.id, ours.text, ours.sent_at) == (f"press {query}", "/forget me yes", AT)
    assert ours.sender == Person("telegram", str(ann.id))
