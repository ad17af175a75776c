"""What a person said and what the bot says back, the same for every platform."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from urllib.parse import quote, unquote


def _escape(part: str) -> str:
    return quote(part, safe="@+-_.~ ", errors="surrogatepass")


def _unescape(part: str) -> str:
    return unquote(part, errors="surrogatepass")


@dataclass(frozen=True, slots=True)
class ChatKey:
    """Whose conversation a memory is: platform, chat id, and topic or thread id where there is one.

    Ids are strings, so no 64-bit id is ever cut. Written `telegram:-1001502049385/17`.
    """

    platform: str
    chat: str
    topic: str | None = None

    def __str__(self) -> str:
        return self.scope if self.topic is None else f"{self.scope}/{_escape(self.topic)}"

    @property
    def scope(self) -> str:
        """The chat without its topic: what facts learned in a group are kept under."""
        return f"{self.platform}:{_escape(self.chat)}"

    @property
    def places(self) -> Sequence[str]:
        """The names of where it is, the nearest first: the topic, the chat, the platform."""
        chat = (self.scope, self.platform)
        return chat if self.topic is None else (str(self), *chat)

    @classmethod
    def parse(cls, text: str) -> ChatKey:
        """Read back what `str` wrote. Raises ValueError when it is not `platform:chat` or `platform:chat/topic`."""
        platform, colon, rest = text.partition(":")
        chat, slash, topic = rest.partition("/")
        if not (platform and colon and chat) or (slash and not topic):
            raise ValueError(f"{text!r} is not a chat; write it as platform:chat or platform:chat/topic")
        return cls(platform, _unescape(chat), _unescape(topic) if slash else None)


@dataclass(frozen=True, slots=True)
class Person:
    """Who said it, on one platform. Written `telegram:5000000000`."""

    platform: str
    user: str

    def __str__(self) -> str:
        return f"{self.platform}:{_escape(self.user)}"

    @classmethod
    def parse(cls, text: str) -> Person:
        """Read back what `str` wrote. Raises ValueError when it is not `platform:user`."""
        platform, _, user = text.partition(":")
        if not (platform and user):
            raise ValueError(f"{text!r} is not a person; write it as platform:user")
        return cls(platform, _unescape(user))


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something sent beside the text.

    `text` is what could be read of it; `data` are the bytes of an image, kept until it is answered.
    """

    kind: Literal["image", "audio", "file"]
    name: str = ""
    media_type: str = ""
    text: str = ""
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Quote:
    """The earlier message a person replied to. `own` says that the bot had said it."""

    author: str
    text: str
    own: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """What one person said, normalised from any platform.

    `id` is the platform's own, unique in the chat. `sent_at` is aware UTC. `addressed` is false for
    a group's talk that needs no answer. `forwarded` names the origin of a forwarded message, whose text
    is then not the sender's own. `anonymous` marks a sender that stands for nobody (an anonymous group
    admin, a channel): no profile is kept for it. `pressed` is the platform's id of the message whose button said this.
    `incognito` says that nothing of it is kept once it is answered. `server` is the id of what the chat is a part of,
    where there is such a thing: whom all of it lets in may speak.
    """

    id: str
    chat: ChatKey
    sender: Person
    text: str
    sent_at: datetime
    name: str = ""
    private: bool = True
    addressed: bool = True
    anonymous: bool = False
    language: str = ""
    attachments: tuple[Attachment, ...] = ()
    quote: Quote | None = None
    forwarded: str = ""
    pressed: str = ""
    incognito: bool = False
    server: str = ""

    @property
    def scope(self) -> str:
        """Where what is learned from this message may be used: `private`, or this group."""
        return PRIVATE if self.private else self.chat.scope

    @property
    def asker(self) -> Person | None:
        """Whom the reply's choices are for; None when the sender stands for nobody."""
        return None if self.anonymous else self.sender

    @property
    def own_words(self) -> str:
        """What the sender said themselves; empty for a forwarded message."""
        return "" if self.forwarded else self.text


PRIVATE = "private"


@dataclass(frozen=True, slots=True)
class Choice:
    """A button: its label, and the command that pressing it runs for the person it was shown to.

    What the text beside it names already is `minor`: a platform without buttons need not write it out. Choices of one
    `menu`, whose name it is, stand together in a list where the platform has lists. One that `asks` lets the person
    write what goes behind the command, where the platform has forms.
    """

    label: str
    command: str
    minor: bool = False
    menu: str = ""
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What the bot says back.

    `private` replies are shown to the asker alone. `turn` is the stored turn the reply answers, if any.
    `file` is sent along. One that `replaces` takes the place of the message whose button asked for it. `failed` says
    that it is an apology for a turn without an answer.
    """

    text: str
    choices: tuple[Choice, ...] = ()
    private: bool = False
    file: Attachment | None = None
    replaces: bool = False
    turn: int | None = field(default=None, compare=False)
    failed: bool = field(default=False, compare=False)
