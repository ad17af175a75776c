"""What the lines typed in the terminal do on the Telegram test server."""

from __future__ import annotations

import mimetypes
import zlib

from adapters.telegram.server import Chat, Message, TelegramServer, User
from bots.dev import hands
from bots.dev.hands import Verb, file_of, given, number_of, save
from bots.dev.telegram_eyes import Eyes

HELP = """\
A line is a message. What begins with a colon does something else:
:as NAME              speak as another person
:reply TEXT           answer the bot's last message
:edit TEXT            change your last message
:delete               take your last message away
:press NUMBER         press a button of the bot's last message with buttons
:photo FILE [WORDS]   send a picture; :file and :voice likewise
:forward NAME TEXT    forward what somebody said
:save [FILE]          keep the bot's last file
:menu                 show the commands as Telegram lists them
:help                 show this
::TEXT                say something that begins with a colon"""
_FIRST_ID = 5_000_000_001


class Hands(hands.Hands[User, Message]):
    """Does what one person after the other types, in their private chats or in one group."""

    help = HELP

    def __init__(self, server: TelegramServer, eyes: Eyes, who: str, *, group: bool = False) -> None:
        self._server, self._eyes = server, eyes
        super().__init__(who)
        self._group = server.supergroup("Group", [self.me]) if group else None

    def verbs(self) -> dict[str, Verb]:
        """Give what else can be done, by the words for it."""
        return {
            "as": self._come_as,
            "reply": self._reply,
            "edit": self._edit,
            "delete": self._delete,
            "press": self._press,
            "photo": self._photo,
            "file": self._file,
            "voice": self._voice,
            "forward": self._forward,
            "save": self._save,
            "menu": self._menu,
        }

    @property
    def place(self) -> Chat:
        """Where the person speaks."""
        return self._group or self._server.private(self.me)

    def join(self) -> None:
        """Let the person bring the bot into the group."""
        if self._group is not None:
            self._group.members[self._server.bot.id] = "left"
            self._server.add_bot(self._group, self.me)

    def come(self, name: str) -> User:
        """Let somebody be there; the same name is the same person at the next start."""
        return self._server.person(name, id=_FIRST_ID + zlib.crc32(name.encode()))

    def say(self, text: str) -> Message:
        """Say something."""
        return self._server.say(self.me, self.place, text)

    def _come_as(self, name: str) -> str:
        told = self._as(name)
        if self._group is not None:
            self._group.members.setdefault(self.me.id, "member")
        return told

    def _reply(self, text: str) -> None:
        if not self.place.from_bot:
            raise LookupError("the bot has said nothing here yet")
        self._keep(self._server.say(self.me, self.place, given(text, "words"), reply_to=self.place.from_bot[-1]))

    def _edit(self, text: str) -> None:
        self._server.edit(self.mine(), given(text, "words"))

    def _delete(self, _: str) -> None:
        self._server.delete(self.take_back())

    def _press(self, number: str) -> None:
        message = self._eyes.with_buttons()
        button = message.buttons[number_of(number, len(message.buttons)) - 1]
        if "url" in button:
            raise ValueError(f"it opens {button['url']}")
        self._server.press(self.me, message, button["text"])

    def _photo(self, told: str) -> None:
        path, caption = file_of(told)
        self._keep(self._server.photo(self.me, self.place, path.read_bytes(), caption))

    def _file(self, told: str) -> None:
        path, caption = file_of(told)
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        self._keep(self._server.document(self.me, self.place, path.name, path.read_bytes(), kind, caption))

    def _voice(self, told: str) -> None:
        path, _ = file_of(told)
        self._keep(self._server.voice(self.me, self.place, path.read_bytes()))

    def _forward(self, told: str) -> None:
        name, _, text = told.partition(" ")
        origin = self._person(given(name, "a name"))
        self._keep(self._server.say(self.me, self.place, given(text, "words"), forward_from=origin))

    def _save(self, told: str) -> str:
        file = self._eyes.file()
        return save(file.data, file.name, told)

    def _menu(self, _: str) -> str:
        commands = self._server.menu(self.me, self.place)
        return "\n".join(f"/{one['command']} – {one['description']}" for one in commands)
