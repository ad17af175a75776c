"""The people, chats, messages and files that the test server knows: what a person would see now."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from adapters.telegram.server.refusals import Json
from adapters.wire.signals import Signal

TELEGRAM = 777000
CHANNEL_BOT = 136817688
ANONYMOUS_ADMIN = 1087968824


@dataclass(eq=False, slots=True)
class User:
    """A person or a bot."""

    id: int
    first_name: str
    last_name: str = ""
    username: str = ""
    language: str = ""
    is_bot: bool = False
    started: bool = False
    blocked: bool = False
    deactivated: bool = False

    def shape(self) -> Json:
        """Write it as the Bot API does."""
        body: Json = {"id": self.id, "is_bot": self.is_bot, "first_name": self.first_name}
        more = {"last_name": self.last_name, "username": self.username, "language_code": self.language}
        return body | {name: value for name, value in more.items() if value}


@dataclass(frozen=True, slots=True)
class Draft:
    """A message being streamed: shown in the private chat until the message itself is sent."""

    id: int
    text: str
    at: float


@dataclass(eq=False, slots=True)
class Chat:
    """A private chat, group, supergroup (perhaps with topics) or channel, with what is seen in it."""

    id: int
    type: str
    title: str = ""
    username: str = ""
    user: User | None = None
    is_forum: bool = False
    members: dict[int, str] = field(default_factory=dict)
    topics: dict[int, Message] = field(default_factory=dict)
    closed_topics: set[int] = field(default_factory=set)
    linked: Chat | None = None
    migrated_to: int | None = None
    draft: Draft | None = None
    drafts: list[Draft] = field(default_factory=list)
    by_id: dict[int, Message] = field(default_factory=dict)
    last_id: int = 0

    @property
    def messages(self) -> list[Message]:
        """What a person would see now, oldest first."""
        return list(self.by_id.values())

    @property
    def from_bot(self) -> list[Message]:
        """What the bot said here."""
        return [message for message in self.by_id.values() if message.by_bot]

    @property
    def is_private(self) -> bool:
        """Tell whether it is the chat of one person with the bot."""
        return self.type == "private"

    def shape(self) -> Json:
        """Write it as the Bot API does."""
        if self.user:
            user = self.user.shape()
            return {name: user[name] for name in ("id", "first_name", "last_name", "username") if name in user} | {
                "type": "private"
            }
        body: Json = {"id": self.id, "title": self.title, "type": self.type}
        return (
            body
            | ({"username": self.username} if self.username else {})
            | ({"is_forum": True} if self.is_forum else {})
        )


@dataclass(eq=False, slots=True)
class Message:
    """A message as it is seen now; `data` is what the Bot API shows of it, `versions` its texts from the first on."""

    chat: Chat
    id: int
    data: Json
    by_bot: bool
    at: float
    versions: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text, or the caption of a file."""
        return str(self.data.get("text", self.data.get("caption", "")))

    @property
    def entities(self) -> list[Json]:
        """What is formatted in the text."""
        found: list[Json] = self.data.get("entities") or self.data.get("caption_entities") or []
        return found

    @property
    def buttons(self) -> list[Json]:
        """The buttons under it, row by row."""
        return [button for row in self.data.get("reply_markup", {}).get("inline_keyboard", []) for button in row]

    @property
    def topic(self) -> int | None:
        """The forum topic it is in."""
        return self.data["message_thread_id"] if self.data.get("is_topic_message") else None

    @property
    def reply_to(self) -> int | None:
        """The id of the message it replies to."""
        replied: Json | None = self.data.get("reply_to_message")
        return None if replied is None or "forum_topic_created" in replied else replied["message_id"]


@dataclass(frozen=True, slots=True)
class File:
    """A file that the bot may fetch; `size` is what Telegram says, whatever is in it."""

    id: str
    name: str
    media_type: str
    data: bytes
    size: int

    def shape(self) -> Json:
        """Write it as the Bot API does."""
        return {"file_id": self.id, "file_unique_id": f"u{self.id}", "file_size": self.size}


class World:
    """Everything there is."""

    def __init__(
        self, bot: User, clock: Callable[[], float] = time.time, privacy: bool = False, first: int = 1
    ) -> None:
        self.bot, self.clock, self.privacy, self.changed = bot, clock, privacy, Signal()
        self._first = first
        self.users: dict[int, User] = {bot.id: bot}
        self.chats: dict[int, Chat] = {}
        self.files: dict[str, File] = {}
        self.actions: list[tuple[Chat, str, int | None]] = []
        self.queries: dict[str, Json | None] = {}
        self.commands: dict[tuple[str, str], list[Json]] = {}
        self.texts: dict[tuple[str, str], str] = {}
        self._next: dict[str, int] = {
            "user": 5_000_000_001,
            "group": 685_960_703,
            "supergroup": 1001_502_049_385,
            "channel": 1001_700_000_001,
            "message": first,
            "file": 1,
        }

    def number(self, kind: str) -> int:
        """Count on: the next id of a kind."""
        number = self._next[kind]
        self._next[kind] += 1
        return number

    def add_user(self, user: User) -> Chat:
        """Let a person be there, with a private chat that waits for them to start it."""
        self.users[user.id] = user
        return self.add_chat(Chat(user.id, "private", user=user, username=user.username))

    def add_chat(self, chat: Chat) -> Chat:
        """Let a chat be there."""
        chat.last_id = max(chat.last_id, self._first - 1)
        self.chats[chat.id] = chat
        return chat

    def add_file(self, name: str, media_type: str, data: bytes, size: int | None = None) -> File:
        """Keep a file."""
        number = self.number("file")
        file = File(f"AgACAgIAAx{number:06}", name, media_type, data, len(data) if size is None else size)
        self.files[file.id] = file
        return file

    def find_chat(self, name: int | str | None) -> Chat | None:
        """Find a chat by its id or @name."""
        if isinstance(name, str):
            name = name.removeprefix("@").lower()
            return next((chat for chat in self.chats.values() if chat.username.lower() == name), None)
        return self.chats.get(name) if name is not None else None

    def write(
        self,
        chat: Chat,
        sender: User | Chat | None,
        content: Json,
        reply_to: Message | None = None,
        topic: int | None = None,
    ) -> Message:
        """Put a message into a chat. A chat as the sender speaks in its own name."""
        if topic is None and reply_to is not None:
            topic = reply_to.topic
        data: Json = {"message_id": self._message_id(chat)} | _sender(chat, sender)
        data |= {"chat": chat.shape(), "date": int(self.clock())}
        data |= _thread(chat, reply_to, topic) | content
        message = Message(chat, data["message_id"], data, sender is self.bot, self.clock())
        message.versions.append(message.text)
        chat.by_id[message.id] = message
        if message.by_bot:
            chat.draft = None
        self.changed.ring()
        return message

    def rewrite(self, message: Message, content: Json, drop: Iterable[str] = ()) -> None:
        """Put other content into a message, which then shows that it was edited."""
        message.data = {name: value for name, value in message.data.items() if name not in set(drop)} | content
        message.data["edit_date"] = int(self.clock())
        message.versions.append(message.text)
        self.changed.ring()

    def _message_id(self, chat: Chat) -> int:
        """Number a message: by the chat in supergroups and channels, through all chats of the bot elsewhere."""
        chat.last_id = chat.last_id + 1 if chat.type in ("supergroup", "channel") else self.number("message")
        return chat.last_id


def _sender(chat: Chat, sender: User | Chat | None) -> Json:
    if isinstance(sender, User):
        return {"from": sender.shape()}
    if sender is None or chat.type == "channel":
        return {"sender_chat": chat.shape()}
    stands_in = (
        User(ANONYMOUS_ADMIN, "Group", username="GroupAnonymousBot", is_bot=True)
        if sender is chat
        else User(CHANNEL_BOT, "Channel", username="Channel_Bot", is_bot=True)
    )
    return {"from": stands_in.shape(), "sender_chat": sender.shape()}


def _thread(chat: Chat, reply_to: Message | None, topic: int | None) -> Json:
    data: Json = {}
    if topic is not None and topic in chat.topics:
        data |= {"message_thread_id": topic, "is_topic_message": True, "reply_to_message": _quoted(chat.topics[topic])}
    elif topic is not None:
        data["message_thread_id"] = topic
    if reply_to is not None:
        data["reply_to_message"] = _quoted(reply_to)
        if topic is None and chat.type == "supergroup":
            data["message_thread_id"] = reply_to.data.get("message_thread_id", reply_to.id)
    return data


def _quoted(message: Message) -> Json:
    return {name: value for name, value in message.data.items() if name != "reply_to_message"}
